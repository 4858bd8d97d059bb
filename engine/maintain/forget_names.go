package maintain

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// names are the paths in checkpoints, around operations and of hooks with the text in the name. Their files were not searched, and
// so they stay: a forget of the path takes all of it.
func (f *textForgetter) names(ctx context.Context, log *LogState) ([]string, error) {
	found, seen := map[string]bool{}, map[forgetKey]bool{}
	var walk func(path string, id oid.ID) error
	walk = func(path string, id oid.ID) error {
		if key := (forgetKey{path, id}); id == (oid.ID{}) || seen[key] {
			return ctx.Err()
		} else {
			seen[key] = true
		}
		dir, err := f.tx.Load(id)
		if project.IsLost(err) {
			return nil
		} else if err != nil {
			return err
		}
		for _, e := range dir.Entries {
			below := rootfs.Join(path, e.Name)
			if f.has(below) {
				found[below] = true
			} else if e.Kind == manifest.Subdir {
				if err := walk(below, e.ID); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var roots []oid.ID
	for _, c := range log.Checkpoints {
		roots = append(roots, c.Root)
	}
	newest, older := log.undoable(nil)
	for _, o := range slices.Concat(newest, older) {
		roots = append(roots, o.Before, o.After)
	}
	for _, root := range roots {
		if err := walk("", root); err != nil && !project.IsDamage(err) {
			return nil, err
		}
	}
	for _, t := range log.Touches {
		if f.has(t.Path) {
			found[t.Path] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// written takes the paths with the text in the name out of when paths were written.
func (f *textForgetter) written(data string) string {
	changed, err := manifest.ParseChanged(data)
	if err != nil {
		f.places++
		return ""
	}
	left := slices.DeleteFunc(slices.Clone(changed), func(at manifest.Changed) bool { return f.has(at.Path) })
	if len(left) == len(changed) {
		return data
	}
	f.places += len(changed) - len(left)
	return string(manifest.AppendChanged(nil, left))
}

// leftOut takes the text out of what a checkpoint says of the paths that it left out: their names, and the rules that did so.
func (f *textForgetter) leftOut(c *manifest.Checkpoint) (changed bool, err error) {
	if c.Coverage == (oid.ID{}) {
		return false, nil
	}
	key := [2]oid.ID{c.Coverage, c.Root}
	id, known := f.sights[key]
	if !known {
		id = c.Coverage
		data, err := f.tx.Get(nil, id)
		if err != nil && !project.IsLost(err) {
			return false, err
		}
		if data, has := f.coverageWithout(c.Root, data); has {
			if id, err = f.tx.Put(data); err != nil {
				return false, err
			}
			f.were = append(f.were, c.Coverage)
		}
		f.sights[key] = id
	}
	if changed = id != c.Coverage; changed {
		c.Coverage = id
		f.places++
	}
	return changed, nil
}

// coverageWithout is a coverage in which a path with the text in the name is a hash, as after a forget of the path. One that is in
// the tree all the same stays: see names.
func (f *textForgetter) coverageWithout(root oid.ID, data []byte) (_ []byte, has bool) {
	var out bytes.Buffer
	keys := map[string]bool{}
	for line := range bytes.Lines(data) {
		var l problem.CoverageLine
		if json.Unmarshal(line, &l) != nil {
			out.Write(line)
			continue
		}
		path := l.Path
		if raw, err := base64.StdEncoding.DecodeString(l.Raw); err == nil && len(raw) > 0 {
			path = string(raw)
		}
		if f.has(path) {
			if _, there, err := manifest.Find(f.tx.Load, root, path); err == nil && !there {
				keys[rules.ForgottenKey(f.p, path)], has = true, true
				continue
			}
		}
		reason := []byte(l.Reason)
		from := len(reason) // the other words of codes are no text
		switch problem.Read(path, l.Reason, l.Failed).Code {
		case problem.Ignored:
			from = len(problem.Ignored.Word())
		case problem.Other:
			from = 0
		}
		if f.mark.text(reason[from:], 0) > 0 {
			l.Reason, has = string(reason), true
			line, _ = json.Marshal(l) // strings and booleans always encode
			line = append(line, '\n')
		}
		out.Write(line)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		line, _ := json.Marshal(problem.CoverageLine{Reason: reasonForgotten, Forgotten: key}) // never fails
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), has
}

// inSettings are the files of settings with the text: a person wrote it there, and takes it out.
func (f *textForgetter) inSettings() (files []string) {
	store := f.p.StoreDir()
	all := []string{filepath.Join(store, account.ConfigName), filepath.Join(store, account.RemotesFile)}
	if dir := f.p.Env.AccountDir(); dir != "" {
		all = append(all, filepath.Join(dir, account.ConfigName))
	}
	for _, file := range all {
		if data, err := vfs.ReadRegular(file, maxGitFile); err == nil && f.mark.text(data, 0) > 0 {
			files = append(files, file)
		}
	}
	return files
}
