package rules

import (
	"bytes"
	"encoding/hex"
	"encoding/json"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// A path that was forgotten is in no checkpoint. The coverage of a checkpoint has a hash of the path instead of its name,
// so that a restore leaves alone what is there now: the checkpoint does not say that there was nothing.

// ForgottenKey is the hash by which a coverage of the store names a path that was forgotten.
func ForgottenKey(p *project.Project, path string) string {
	sum := oid.Sum([]byte("forgotten\x00" + p.Format.Origin + "\x00" + path))
	return hex.EncodeToString(sum[:16])
}

// ForgottenIn gives the hashes of forgotten paths in a coverage; nil for none.
func ForgottenIn(coverage []byte) map[string]bool {
	if !bytes.Contains(coverage, []byte(`"forgotten":"`)) {
		return nil
	}
	keys := map[string]bool{}
	for line := range bytes.Lines(coverage) {
		var l problem.CoverageLine
		if json.Unmarshal(line, &l) == nil && l.Forgotten != "" {
			keys[l.Forgotten] = true
		}
	}
	return keys
}

// Forgotten tells whether a coverage of the store says of a path that it was forgotten; nil if it says so of none.
func Forgotten(p *project.Project, coverage []byte) func(path string) bool {
	keys := ForgottenIn(coverage)
	if keys == nil {
		return nil
	}
	return func(path string) bool { return keys[ForgottenKey(p, path)] }
}
