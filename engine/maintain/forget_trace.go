package maintain

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"rewind/cas"
	"rewind/engine/conversation"
	"rewind/engine/project"
	"rewind/manifest"
)

// A checkpoint that a path was taken out of says nothing of it any more; it does
// not say that the path was not there, so a restore leaves alone what is there now. The
// coverage tells this by a hash of the path, for the name is forgotten too.

// ForgottenKey stands for a path of this store that was forgotten.
func ForgottenKey(p *project.Project, path string) string {
	sum := cas.Sum([]byte("forgotten\x00" + p.Format.Origin + "\x00" + path))
	return hex.EncodeToString(sum[:16])
}

// cover gives the coverage of a checkpoint that lost paths: they and what it
// said of chosen ones become hashes.
func (f *forgetter) cover(coverage manifest.ID, paths []string) (manifest.ID, error) {
	key := string(coverage[:]) + strings.Join(paths, "\x00")
	if id, ok := f.coverage[key]; ok {
		return id, nil
	}
	data, err := f.p.ReadObject(coverage)
	if err != nil {
		return coverage, err
	}
	keys := map[string]bool{}
	for _, path := range paths {
		keys[ForgottenKey(f.p, path)] = true
	}
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		var l project.CoverageLine
		if json.Unmarshal(line, &l) == nil {
			if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
				l.Path = string(raw)
			}
			if l.Path != "" && f.chosen.Match(l.Path) {
				keys[ForgottenKey(f.p, l.Path)] = true
				f.paths[l.Path] = true
				continue
			}
			delete(keys, l.Forgotten) // it is said already
		}
		out.Write(line)
	}
	id := coverage
	if len(keys) > 0 || out.Len() != len(data) {
		var sorted []string
		for key := range keys {
			sorted = append(sorted, key)
		}
		slices.Sort(sorted)
		for _, key := range sorted {
			line, err := json.Marshal(project.CoverageLine{Reason: reasonForgotten, Forgotten: key})
			if err != nil {
				return id, err
			}
			out.Write(append(line, '\n'))
		}
		if id, err = f.tx.Put(out.Bytes()); err != nil {
			return id, err
		}
	}
	f.coverage[key] = id
	return id, nil
}

// reasonForgotten is the reason of a path that forget took out of a checkpoint.
const reasonForgotten = "forgotten"

// ForgottenIn reads the hashes in a coverage.
func ForgottenIn(coverage []byte) map[string]bool {
	if !bytes.Contains(coverage, []byte(`"forgotten":"`)) {
		return nil
	}
	keys := map[string]bool{}
	for line := range bytes.Lines(coverage) {
		var l project.CoverageLine
		if json.Unmarshal(line, &l) == nil && l.Forgotten != "" {
			keys[l.Forgotten] = true
		}
	}
	return keys
}

// dropPaths removes the lines of chosen paths from the list of an operation.
func dropPaths(list []byte, chosen func(string) bool) []byte {
	var out []byte
	for line := range bytes.Lines(list) {
		var l project.PathLine
		if json.Unmarshal(line, &l) == nil && l.Action != conversation.MovedAction {
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
