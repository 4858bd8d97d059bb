package ignore

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/engine/problem"
)

// JSONFiles are the places of a project's rewind-checkpoint-ignore.json, weakest first.
var JSONFiles = []string{"rewind-checkpoint-ignore.json", ".agent/rewind-checkpoint-ignore.json"}

// JSONError is a rewind-checkpoint-ignore.json, or a part of one, that could not be used.
type JSONError struct{ File, Reason string }

func (e *JSONError) Error() string { return e.File + ": " + e.Reason }

// ParseJSON reads a rewind-checkpoint-ignore.json: a list of gitignore
// patterns, or an object that has some as "ignore" or "patterns", or, as the older
// program wants it, as "ignorePatterns", "additionalIgnores" and "forceInclude".
// With an error the source holds what could be used, perhaps nothing. Errors: *JSONError.
func ParseJSON(file string, data []byte) (Source, error) {
	s := Source{Name: file, Own: true}
	var bare []any
	var lists [][]any
	included := -1 // among lists: those that bring back
	err := json.Unmarshal(data, &bare)
	if err == nil {
		lists = append(lists, bare)
	} else {
		var object struct{ Ignore, Patterns, IgnorePatterns, AdditionalIgnores, ForceInclude []any }
		if err := json.Unmarshal(data, &object); err != nil {
			return s, &JSONError{file, problem.Text(err)}
		}
		lists = append(lists, object.Ignore, object.Patterns, object.IgnorePatterns, object.AdditionalIgnores, object.ForceInclude)
		included = len(lists) - 1
	}
	var text strings.Builder
	var bad error
	for i, list := range lists {
		for _, v := range list {
			pattern, ok := v.(string)
			if !ok || strings.ContainsAny(pattern, "\n\x00") {
				bad = &JSONError{file, fmt.Sprintf("%q is not a pattern", fmt.Sprint(v))}
				continue
			}
			if i == included {
				text.WriteByte('!')
			}
			text.WriteString(pattern)
			text.WriteByte('\n')
		}
	}
	s.Text = []byte(text.String())
	return s, bad
}
