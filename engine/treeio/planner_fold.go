package treeio

import (
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// foldedNames maps names of the target that are not on disk, but are found there,
// to the names that they are found by: those file systems do that which ignore letter
// case, or the form of an accent. On most systems there is none.
type foldedNames map[string]string

func (f foldedNames) has(present string) bool {
	for _, name := range f {
		if name == present {
			return true
		}
	}
	return false
}

// folds looks for such names among those that the target has and the current tree has not.
func (b *planner) folds(cd, td manifest.Dir, at *diskDir) (same foldedNames) {
	var names []string
	for _, t := range td.Entries {
		if _, ok := cd.Lookup(t.Name); ok {
			continue
		}
		info, err := at.lstat(t.Name)
		if err != nil || info.Kind == 0 {
			continue
		}
		if names == nil {
			if names, err = at.dir.Names(); err != nil {
				return nil
			}
		}
		if slices.Contains(names, t.Name) {
			continue
		}
		for _, name := range names {
			if other, err := at.lstat(name); err == nil && other.Ino == info.Ino && other.Dev == info.Dev {
				if same == nil {
					same = foldedNames{}
				}
				same[t.Name] = name
				break
			}
		}
	}
	return same
}

// folded plans what becomes of names that fold onto others. A file is deleted
// under its present name first, and then made under the target's. A directory keeps its
// name: what is in it is restored.
func (b *planner) folded(dir string, same foldedNames, cd, td manifest.Dir, at *diskDir, depth int) error {
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(same)) {
		t, _ := td.Lookup(name)
		c, _ := cd.Lookup(same[name])
		if _, both := td.Lookup(same[name]); both || taken[same[name]] {
			c = manifest.Entry{} // the target has more than one of them
		}
		taken[same[name]] = true
		path, present := rootfs.Join(dir, name), rootfs.Join(dir, same[name])
		has := b.o.Select == nil || b.o.Select.Has(path) || b.o.Select.Has(present)
		if !has && !(isDir(c) && isDir(t) && b.o.Select.Below(present)) {
			continue
		}
		switch {
		case isDir(c) && isDir(t):
			inside := t
			inside.Name = c.Name
			if err := b.bothDirs(present, c, inside, at, depth, has); err != nil {
				return err
			}
			b.skip(path, reasonFolds+" "+c.Name, true)
		case c.Kind == 0 || isDir(c) || isDir(t) || b.refused(path, name) != "" || b.refused(present, c.Name) != "":
			b.skip(path, reasonFolds+" "+same[name], true)
		case !b.doubtful(path, t).None():
			b.leave(path, b.doubtful(path, t), false)
		default:
			b.renameFile(present, path, c, t, at)
		}
	}
	return nil
}

// renameFile plans a file or a symlink whose present name is another one that
// the file system takes for the same.
func (b *planner) renameFile(present, path string, c, t manifest.Entry, at *diskDir) {
	info, err := at.lstat(c.Name)
	switch {
	case err != nil:
		b.skip(path, why(err), true)
	case info.Kind != rootfs.Regular && info.Kind != rootfs.Link:
		b.skip(path, reasonRacing+": now a "+info.Kind.String(), true)
	case b.inScope(present, false):
		b.Changes = append(b.Changes,
			Change{Path: present, Action: Delete, Before: c, info: info, known: true, early: true, Reason: "not in the checkpoint"},
			Change{Path: path, Action: Create, After: t, Reason: "missing under this name"})
	default:
		b.skip(path, reasonFolds+" "+c.Name, true)
	}
}
