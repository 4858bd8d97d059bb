package restore

import (
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/sqlite"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// wholeDatabases selects with a file of a database of SQLite the others of it, too.
type wholeDatabases struct {
	treeio.Selection
	r      *Run
	target oid.ID // the tree that the run goes to; zero: not known yet
}

func (s wholeDatabases) Has(path string) bool { return s.Selection.Has(path) || s.along(path) }

// along reports whether a path is selected only because another file of its database is.
func (s wholeDatabases) along(path string) bool {
	base := sqlite.Base(path)
	if !slices.ContainsFunc(sqlite.Suffixes[:], func(suffix string) bool { return s.Selection.Has(base + suffix) }) || s.Selection.Has(path) {
		return false
	}
	return s.r.IsDatabase(base, s.r.Now, s.target)
}

// IsDatabase reports whether one of the trees has a file of the database at a path that begins as those of SQLite do.
func (r *Run) IsDatabase(base string, roots ...oid.ID) bool {
	for _, suffix := range sqlite.Suffixes {
		for _, root := range roots {
			if root == (oid.ID{}) {
				continue
			}
			if e, ok, err := manifest.Find(r.Tx.Load, root, base+suffix); err == nil && ok && treeio.OfDatabase(r.Tx, e) {
				return true
			}
		}
	}
	return false
}

// warnOfLogs names databases that come back without a log that was there, and that the target did not capture.
func (r *Run) warnOfLogs(saw *Sight, changes []treeio.Change) {
	for _, c := range changes {
		if saw == nil || c.Action == treeio.Delete || !treeio.OfDatabase(r.Tx, c.After) {
			continue
		}
		for _, suffix := range sqlite.Suffixes[1:] {
			if p, ok := saw.Problems[c.Path+suffix]; ok && saw.lacks(c.Path+suffix) {
				r.Notify(c.Path + ": the checkpoint is without " + p.Path + " (" + p.Reason + "): what was committed only there does not come back")
			}
		}
	}
}

// editDatabases adds the files of the databases that edited paths belong to, as the target has them.
func (r *Run) editDatabases(target oid.ID, paths []string, edits []treeio.Edit) ([]string, []treeio.Edit, error) {
	for _, path := range slices.Clone(paths) {
		base := sqlite.Base(path)
		if !r.IsDatabase(base, r.Now, target) {
			continue
		}
		for _, suffix := range sqlite.Suffixes {
			other := base + suffix
			if slices.Contains(paths, other) {
				continue
			}
			e, err := inspect.EntryAt(r.Tx.Load, target, other)
			if err != nil {
				return nil, nil, err
			}
			edit := treeio.Edit{Path: other}
			if e != nil {
				edit.Entry = *e
			}
			paths, edits = append(paths, other), append(edits, edit)
		}
	}
	return paths, edits, nil
}

// withDatabases adds to the changes of an operation the files of the databases that they belong to and that the operation left
// as they were: what became of those since counts, too.
func (r *Run) withDatabases(op manifest.Operation, changes map[string]manifest.Change) (added map[string]bool, err error) {
	added = map[string]bool{}
	var bases []string
	for path, c := range changes {
		if mayBe := func(e *manifest.Entry) bool { return e != nil && sqlite.MayBe(path, e.Size) }; mayBe(c.Old) || mayBe(c.New) {
			bases = append(bases, sqlite.Base(path))
		}
	}
	for _, base := range bases {
		if !r.IsDatabase(base, op.Before, op.After) {
			continue
		}
		for _, suffix := range sqlite.Suffixes {
			path := base + suffix
			if _, ok := changes[path]; ok {
				continue
			}
			e, err := inspect.EntryAt(r.Tx.Load, op.After, path)
			if err != nil {
				return nil, err
			}
			changes[path], added[path] = manifest.Change{Path: path, Old: e, New: e}, true
		}
	}
	return added, nil
}
