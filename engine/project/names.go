package project

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/manifest"
)

// FreeName checks that name is a valid name and that no checkpoint has it.
func (p *Project) FreeName(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return p.Query(ctx, func(db *manifest.DB) error { return NameFree(db, name, manifest.CheckpointID{}) })
}

// NameFree reports (*NameTakenError) that a checkpoint other than self has the name.
func NameFree(db *manifest.DB, name string, self manifest.CheckpointID) error {
	c, ok, err := db.ByName(name)
	if err == nil && ok && c.ID != self {
		return &NameTakenError{Name: name, Checkpoint: c.ID.String()[:8]}
	}
	return err
}

// keywords name checkpoints, or the working tree, in their own way. No letter case of them is a name: people would read one for the other.
var keywords = []string{"last", "prev", "now"}

// shownID is how many letters of a checkpoint's id are printed at least.
const shownID = 8

// longestName is how long a name can be, in bytes.
const longestName = 200

// CheckName: [A-Za-z0-9][A-Za-z0-9._-]*, and nothing that names a checkpoint in another way. Short words
// of the letters of ids, such as two or sort, are names: a name is looked for before an id, and no
// id is printed as short as that.
func CheckName(name string) error {
	digits, letters := true, true
	for i := range len(name) {
		b := name[i]
		alnum := b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
		if !alnum && (i == 0 || b != '.' && b != '_' && b != '-') {
			return &BadNameError{Name: name, Reason: "a name has letters, digits, '.', '_' and '-', and begins with a letter or digit"}
		}
		digits = digits && b >= '0' && b <= '9'
		letters = letters && b >= 'k' && b <= 'z'
	}
	switch {
	case name == "":
		return &BadNameError{Name: name, Reason: "it is empty"}
	case len(name) > longestName:
		return &BadNameError{Name: name, Reason: fmt.Sprintf("it is longer than %d characters", longestName)}
	case slices.ContainsFunc(keywords, func(word string) bool { return strings.EqualFold(name, word) }):
		return &BadNameError{Name: name, Reason: "it is a keyword"}
	case strings.Contains(name, ".."):
		return &BadNameError{Name: name, Reason: "two dots stand for a range"}
	case digits:
		return &BadNameError{Name: name, Reason: "a number counts checkpoints"}
	case letters && len(name) >= shownID:
		return &BadNameError{Name: name, Reason: "eight or more letters from k to z look like an id"}
	}
	return nil
}
