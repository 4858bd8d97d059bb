package manifest

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// A set of changes is what a checkpoint changed against its base: the living checkpoint
// before it at the time of the fold. The base may be deleted later; then the changes against the living
// one before are those of the base, and its base, and so on, with the checkpoint's own after them. So a
// deletion costs nothing, and needs no tree that may be gone.
type setHeader struct {
	base     uint64 // sequence number; 0 for the empty tree
	unfolded bool   // there is no set: its trees could not be read, or a path is too long for a key
	count    uint64 // entries
}

func (h setHeader) append(dst []byte) []byte {
	if h.unfolded {
		return append(dst, 2)
	}
	dst = append(dst, 1)
	dst = appendSeq(dst, h.base)
	return binary.AppendUvarint(dst, h.count)
}

func (g *generation) setHeader(seq uint64) (h setHeader, err error) {
	v, err := g.Get(seqKey(keyChanges, seq))
	if err != nil {
		return h, err
	}
	return g.parseSetHeader(v)
}

func (g *generation) parseSetHeader(v []byte) (h setHeader, err error) {
	d := wire.Decoder{What: "set of changes", Data: string(v)}
	switch d.Byte() {
	case 2:
		h.unfolded = true
	case 1:
		h.base = d.Uint64()
		h.count = d.Uvarint()
	default:
		d.Fail("unknown form")
	}
	if d.Err != nil || d.More() {
		return h, g.damaged("set of changes")
	}
	return h, nil
}

func appendChange(dst []byte, c Change) []byte {
	var have byte
	if c.Old != nil {
		have |= 1
	}
	if c.New != nil {
		have |= 2
	}
	dst = append(dst, have)
	for _, e := range []*Entry{c.Old, c.New} {
		if e != nil {
			dst = appendBody(appendHead(dst, e), e)
		}
	}
	return dst
}

// parseChange reads a change; the path gives the entries' name.
func parseChange(path string, value []byte) (Change, error) {
	d := wire.Decoder{What: "change", Data: string(value)}
	c := Change{Path: path}
	have := d.Byte()
	if have&1 != 0 {
		c.Old = nameless(&d, path)
	}
	if have&2 != 0 {
		c.New = nameless(&d, path)
	}
	if have == 0 || have > 3 || d.More() {
		d.Fail("neither old nor new, or more than both")
	}
	return c, d.Err
}

// chain is the sequence numbers whose sets make the changes of a living
// checkpoint against the living one before, newest first; nil where the generation does not have them.
func (s *state) chain(seq uint64) ([]uint64, error) {
	if _, fresh := slices.BinarySearch(s.fresh, seq); s.gen == nil || fresh || s.rewritten[seq] {
		return nil, nil
	}
	if s.rewritten[s.index.prev(seq, &anyKind)] {
		return nil, nil
	}
	var chain []uint64
	for at := seq; ; {
		chain = append(chain, at)
		h, err := s.gen.setHeader(at)
		if err != nil || h.unfolded {
			return nil, err
		}
		if h.base >= at {
			return nil, s.gen.damaged("base of a set of changes")
		}
		if h.base == 0 || s.index.at(h.base) != 0 {
			return chain, nil
		}
		at = h.base
	}
}

// readSet visits the changes of one set, in path order.
func (s *state) readSet(seq uint64, visit func(Change) error) error {
	prefix := seqKey(keyChanges, seq)
	var left uint64
	err := s.gen.scan(prefix, func(key, value []byte) error {
		if len(key) == len(prefix) {
			h, err := s.gen.parseSetHeader(value)
			left = h.count
			return err
		}
		left--
		c, err := parseChange(pathOf(key[len(prefix):]), value)
		if err != nil {
			return s.gen.damaged(err.Error())
		}
		return visit(c)
	})
	if err == nil && left != 0 {
		return s.gen.damaged(fmt.Sprintf("%d changes of checkpoint %d are missing", int64(left), seq))
	}
	return err
}

// bare is a change without what a directory says of the files below it: that changes with them, and is no
// change of the directory.
func (c Change) bare() Change {
	return Change{Path: c.Path, Old: c.Old.bare(), New: c.New.bare()}
}

func (e *Entry) bare() *Entry {
	if e == nil || e.Kind != Subdir {
		return e
	}
	return &Entry{Name: e.Name, Kind: e.Kind, Mode: e.Mode}
}

// Changes yields the entries of checkpoint seq that differ from those of the
// living checkpoint before it (Prev), in path order. Entries of directories have no
// ID, Size and Files here. Of no living checkpoint it yields nothing.
func (db *DB) Changes(seq uint64) iter.Seq2[Change, error] {
	return stream(db, func(s *state, visit func(Change) error) error {
		return s.changes(db.src.Dir, seq, visit)
	})
}

func (s *state) changes(load func(oid.ID) (Dir, error), seq uint64, visit func(Change) error) error {
	c, err := s.bySeq(seq)
	if err != nil || c == nil {
		return err
	}
	chain, err := s.chain(seq)
	switch {
	case err != nil:
		return err
	case chain == nil:
		root, err := s.rootBefore(seq)
		if err != nil {
			return err
		}
		return Diff(load, root, c.Root, func(c Change) error { return visit(c.bare()) })
	case len(chain) == 1:
		return s.readSet(seq, visit)
	}
	merged := map[string]Change{}
	for _, at := range slices.Backward(chain) {
		err := s.readSet(at, func(c Change) error {
			if older, ok := merged[c.Path]; ok {
				if c.Old = older.Old; !differs(c.Old, c.New) {
					delete(merged, c.Path)
					return nil
				}
			}
			merged[c.Path] = c
			return nil
		})
		if err != nil {
			return err
		}
	}
	// Slashes become NULs for the order: a directory, then what is below it.
	paths := make([]string, 0, len(merged))
	for path := range merged {
		paths = append(paths, string(appendPath(nil, path)))
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := visit(merged[pathOf([]byte(path))]); err != nil {
			return err
		}
	}
	return nil
}
