package maintain

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
)

// A checkpoint that a path was taken out of says nothing of it any more; it does
// not say that the path was not there, so a restore leaves alone what is there now. The
// coverage tells this by a hash of the path, for the name is forgotten too.

// covered is a coverage that was rewritten, and whether it named what was forgotten.
type covered struct {
	id    oid.ID
	named bool
}

// cover gives the new coverage of a checkpoint, in which the forgotten paths are hashes,
// whether it held them, named them or never knew of them. Entries of paths that no checkpoint
// held stay.
func (f *forgetter) cover(coverage oid.ID) (covered, error) {
	if done, ok := f.coverage[coverage]; ok {
		return done, nil
	}
	done := covered{id: coverage}
	if len(f.keys) == 0 {
		return done, nil
	}
	data, err := f.p.ReadObject(coverage)
	if project.IsLost(err) {
		return done, nil // what it did not see stays unknown
	} else if err != nil {
		return done, err
	}
	data, done.named = coverForgotten(f.p, data, maps.Clone(f.keys), f.held)
	if done.id, err = f.tx.Put(data); err != nil {
		return done, err
	}
	f.coverage[coverage] = done
	return done, nil
}

// coverForgotten is a coverage without the paths that are held, and with the keys of these and of what was forgotten besides.
func coverForgotten(p *project.Project, data []byte, keys map[string]bool, held func(path string) bool) (_ []byte, named bool) {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		var l problem.CoverageLine
		if json.Unmarshal(line, &l) == nil {
			if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
				l.Path = string(raw)
			}
			if l.Path != "" && held(l.Path) {
				keys[rules.ForgottenKey(p, l.Path)] = true
				named = true
				continue
			}
			delete(keys, l.Forgotten) // it is in the coverage already
		}
		out.Write(line)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		line, _ := json.Marshal(problem.CoverageLine{Reason: reasonForgotten, Forgotten: key}) // never fails
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), named
}

// reasonForgotten is the reason of a path that forget took out of a checkpoint.
const reasonForgotten = "forgotten"

// dropTyped removes the paths from a command line: any of them may mean what is forgotten.
func dropTyped(args string) string {
	if before, _, ok := strings.Cut(" "+args, " -- "); ok {
		return strings.TrimSpace(before + " -- …")
	}
	return args
}

// dropPaths removes the lines of chosen paths from the list of an operation.
func dropPaths(list []byte, chosen func(string) bool) []byte {
	var out []byte
	for line := range bytes.Lines(list) {
		var l project.PathLine
		if json.Unmarshal(line, &l) == nil && l.Action != project.MovedAction && l.Path != "" {
			if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
				l.Path = string(raw)
			}
			if chosen(l.Path) {
				continue
			}
		}
		out = append(out, line...)
	}
	return out
}
