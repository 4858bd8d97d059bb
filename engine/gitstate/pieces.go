package gitstate

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// manyEntries is from how many entries on a directory of a state is kept in pieces. There can be tens of thousands of references, of
// which a commit changes one: it then costs a piece, and not the whole list. Older states have such directories whole, and are read too.
const manyEntries = 512

// A directory in pieces has a directory for each, by the name of its first entry. What shows it is that these have a size and no file
// below, which no other directory has: the size of a piece is how many entries it has.
func piece(entries []manifest.Entry, id oid.ID) manifest.Entry {
	return manifest.Entry{Name: entries[0].Name, Kind: manifest.Subdir, Size: uint64(len(entries)), ID: id}
}

func inPieces(d manifest.Dir) bool {
	if len(d.Entries) == 0 {
		return false
	}
	e := d.Entries[0]
	return e.Kind == manifest.Subdir && e.Mode == 0 && e.Files == 0 && e.Size > 0
}

// pieces cuts a directory behind entries by their names, so that one that comes or goes moves no other cut.
func pieces(d manifest.Dir) (list []manifest.Dir) {
	begin := 0
	for i, e := range d.Entries {
		if i+1 == len(d.Entries) || xxhash.Sum64String(e.Name)&pieceOf == 0 {
			list = append(list, manifest.Dir{Entries: d.Entries[begin : i+1]})
			begin = i + 1
		}
	}
	return list
}

// pieceWith is the index of the piece that a name is in, if it is in any.
func pieceWith(d manifest.Dir, name string) int {
	i, exact := slices.BinarySearchFunc(d.Entries, name, func(e manifest.Entry, name string) int { return strings.Compare(e.Name, name) })
	if exact {
		return i
	}
	return max(0, i-1)
}

// Dir puts a directory, in pieces if it has many entries.
func (s placed) Dir(worker int, data []byte, prev oid.ID) (oid.ID, error) {
	worker, done := s.as(worker)
	defer done()
	if len(data) < manyEntries*len(prev) { // each has an id
		return s.Tx.Dir(worker, data, prev)
	}
	dir, err := manifest.ParseDir(data)
	if err != nil {
		return oid.ID{}, err
	}
	if len(dir.Entries) < manyEntries {
		return s.Tx.Dir(worker, data, prev)
	}
	before, err := s.Tx.Load(prev)
	if err != nil || !inPieces(before) {
		before = manifest.Dir{}
	}
	var top manifest.Dir
	var text []byte
	for _, d := range pieces(dir) {
		text = d.Append(text[:0])
		was, _ := before.Lookup(d.Entries[0].Name)
		id := oid.Sum(text)
		if id != was.ID {
			if id, err = s.Tx.Dir(worker, text, was.ID); err != nil {
				return oid.ID{}, err
			}
		}
		top.Entries = append(top.Entries, piece(d.Entries, id))
	}
	return s.Tx.Dir(worker, top.Append(nil), prev)
}

// Load loads a directory whole.
func (s placed) Load(id oid.ID) (manifest.Dir, error) { return join(s.Tx.Load, id) }

// join loads a directory, and the pieces that it is in.
func join(load func(oid.ID) (manifest.Dir, error), id oid.ID) (manifest.Dir, error) {
	d, err := load(id)
	if err != nil || !inPieces(d) {
		return d, err
	}
	return joined(load, d.Entries)
}

func joined(load func(oid.ID) (manifest.Dir, error), pieces []manifest.Entry) (all manifest.Dir, err error) {
	parts, size := make([]manifest.Dir, len(pieces)), 0
	for i, p := range pieces {
		if parts[i], err = load(p.ID); err != nil {
			return manifest.Dir{}, err
		}
		size += len(parts[i].Entries)
	}
	all.Entries = make([]manifest.Entry, 0, size)
	for _, d := range parts {
		if n := len(all.Entries); n > 0 && len(d.Entries) > 0 && all.Entries[n-1].Name >= d.Entries[0].Name {
			return manifest.Dir{}, &FormatError{"the pieces of a directory are not in order"}
		}
		all.Entries = append(all.Entries, d.Entries...)
	}
	return all, nil
}

// whole reads directories whole.
type whole struct{ Objects }

func (w whole) Load(id oid.ID) (manifest.Dir, error) { return join(w.Objects.Load, id) }

// Whole is where the directories of states are read from as they were, whether they are kept in pieces or not.
func Whole(objects Objects) Objects {
	if w, ok := objects.(whole); ok {
		return w
	}
	return whole{objects}
}

// Diff is manifest.Diff for trees of states: of directories in pieces, those that both have are not read.
func Diff(objects Objects, a, b oid.ID, visit func(manifest.Change) error) error {
	if w, ok := objects.(whole); ok {
		objects = w.Objects
	}
	return manifest.DiffPairs(func(a, b oid.ID) (was, is manifest.Dir, err error) { return pair(objects.Load, a, b) }, a, b, visit)
}

// pair loads two directories, without the pieces that are in both.
func pair(load func(oid.ID) (manifest.Dir, error), a, b oid.ID) (was, is manifest.Dir, err error) {
	sides := [2]manifest.Dir{}
	for i, id := range []oid.ID{a, b} {
		if !id.IsZero() {
			if sides[i], err = load(id); err != nil {
				return was, is, err
			}
		}
	}
	both := inPieces(sides[0]) && inPieces(sides[1])
	ids := [2]map[oid.ID]bool{{}, {}}
	for i := range sides {
		for _, e := range sides[i].Entries {
			if both {
				ids[i][e.ID] = true
			}
		}
	}
	for i := range sides {
		if !inPieces(sides[i]) {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(sides[i].Entries), func(e manifest.Entry) bool { return both && ids[1-i][e.ID] })
		if sides[i], err = joined(load, list); err != nil {
			return was, is, err
		}
	}
	return sides[0], sides[1], nil
}
