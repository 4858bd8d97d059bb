package manifest

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
)

// MaxDepth is how many directories deep a tree may be: twice what a path of
// PATH_MAX bytes can be on Linux. Deeper ones are hostile; they get a *DepthError.
const MaxDepth = 4096

// Change is one path that differs between two trees. A directory is a change
// only if it was added or removed or its mode changed: not because of what is below it.
type Change struct {
	Path     string
	Old, New *Entry // nil: absent
}

// Precious reports whether one of the sides is marked.
func (c Change) Precious() bool {
	return c.Old != nil && c.Old.Precious || c.New != nil && c.New.Precious
}

// Diff walks two trees side by side, only where they differ, in path order
// (names in bytewise order, a directory before what is below it). A path that was a
// directory and is none now, or the other way round, is one change, followed by all that
// was, or is, below. A zero ID is the empty tree. The entries are the visitor's to keep.
func Diff(load func(oid.ID) (Dir, error), a, b oid.ID, visit func(Change) error) error {
	w := walker{visit: visit}
	w.load = func(a, b oid.ID) (olds, news Dir, err error) {
		if olds, err = w.dir(load, a); err == nil {
			news, err = w.dir(load, b)
		}
		return olds, news, err
	}
	return w.diff(a, b, 0)
}

// DiffPairs is Diff for who can load two directories without what is the same in both.
func DiffPairs(load func(a, b oid.ID) (olds, news Dir, err error), a, b oid.ID, visit func(Change) error) error {
	w := walker{load: load, visit: visit}
	return w.diff(a, b, 0)
}

// Walk visits every entry of a tree in path order. A visit of a directory that
// returns fs.SkipDir keeps what is below from being visited.
func Walk(load func(oid.ID) (Dir, error), root oid.ID, visit func(path string, e Entry) error) error {
	return Diff(load, oid.ID{}, root, func(c Change) error { return visit(c.Path, *c.New) })
}

// Find looks one path up in a tree. ok is false where it is absent.
func Find(load func(oid.ID) (Dir, error), root oid.ID, path string) (e Entry, ok bool, err error) {
	id := root
	for done := 0; ; {
		if id.IsZero() {
			return Entry{}, false, nil
		}
		dir, err := load(id)
		if err != nil {
			return Entry{}, false, &TreeError{Path: path[:max(done-1, 0)], ID: id, Err: err}
		}
		name, rest, deeper := strings.Cut(path[done:], "/")
		e, ok := dir.Lookup(name)
		if !ok || !deeper {
			return e, ok, nil
		}
		if e.Kind != Subdir {
			return Entry{}, false, nil
		}
		id, done = e.ID, len(path)-len(rest)
	}
}

// maxRemembered is about how many entries of directories Remember keeps; each takes some 150 bytes.
const maxRemembered = 100_000

// Remember caches the directories that load read last: trees that are read one after the other share most of theirs. Not for
// concurrent use.
func Remember(load func(oid.ID) (Dir, error)) func(oid.ID) (Dir, error) {
	now, before, entries := map[oid.ID]Dir{}, map[oid.ID]Dir{}, 0
	return func(id oid.ID) (Dir, error) {
		if d, ok := now[id]; ok {
			return d, nil
		}
		d, ok := before[id]
		if !ok {
			var err error
			if d, err = load(id); err != nil {
				return d, err
			}
		}
		if entries += len(d.Entries); entries > maxRemembered/2 {
			now, before, entries = map[oid.ID]Dir{}, now, len(d.Entries)
		}
		now[id] = d
		return d, nil
	}
}

// differs reports whether old and new make a change of their path.
func differs(old, new *Entry) bool {
	if old == nil || new == nil {
		return old != new
	}
	if old.Kind == Subdir && new.Kind == Subdir {
		return old.Mode != new.Mode
	}
	return !old.Alike(*new)
}

// walker goes through two trees side by side; either may be empty.
type walker struct {
	load  func(a, b oid.ID) (olds, news Dir, err error)
	visit func(Change) error
	path  []byte // of the directory being walked
}

func (w *walker) dir(load func(oid.ID) (Dir, error), id oid.ID) (Dir, error) {
	if id.IsZero() {
		return Dir{}, nil
	}
	d, err := load(id)
	if err != nil {
		return Dir{}, &TreeError{Path: string(w.path), ID: id, Err: err}
	}
	return d, nil
}

func (w *walker) diff(a, b oid.ID, depth int) error {
	if a == b {
		return nil
	}
	if depth > MaxDepth {
		return &DepthError{Path: string(w.path)}
	}
	olds, news, err := w.load(a, b)
	if err != nil {
		return err
	}
	for i, j := 0, 0; i < len(olds.Entries) || j < len(news.Entries); {
		var old, new *Entry
		switch {
		case j == len(news.Entries), i < len(olds.Entries) && olds.Entries[i].Name < news.Entries[j].Name:
			old = &olds.Entries[i]
			i++
		case i == len(olds.Entries), olds.Entries[i].Name > news.Entries[j].Name:
			new = &news.Entries[j]
			j++
		default:
			old, new = &olds.Entries[i], &news.Entries[j]
			i, j = i+1, j+1
		}
		if err := w.entry(old, new, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(old, new *Entry, depth int) error {
	var a, b oid.ID
	name := ""
	if old != nil {
		name = old.Name
		if old.Kind == Subdir {
			a = old.ID
		}
	}
	if new != nil {
		name = new.Name
		if new.Kind == Subdir {
			b = new.ID
		}
	}
	changed := differs(old, new)
	if !changed && a == b {
		return nil
	}
	before := len(w.path)
	if before > 0 {
		w.path = append(w.path, '/')
	}
	w.path = append(w.path, name...)
	defer func() { w.path = w.path[:before] }()
	if changed {
		c := Change{Path: string(w.path)}
		// Copies: a pointer into the directory would keep all of it alive for one entry.
		if old != nil {
			e := *old
			c.Old = &e
		}
		if new != nil {
			e := *new
			c.New = &e
		}
		if err := w.visit(c); err != nil {
			if errors.Is(err, fs.SkipDir) && (!a.IsZero() || !b.IsZero()) {
				return nil
			}
			return err
		}
	}
	return w.diff(a, b, depth+1)
}
