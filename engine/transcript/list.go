package transcript

import (
	"encoding/binary"
	"math"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

const (
	listMagic = 'T'
	// listEntries is how many segments one list object names. A save rewrites
	// at most these, 33 to 36 bytes each, and reading walks one object for so many.
	listEntries = 8

	listHasParent = 1
	listHasSides  = 2
)

// List is the object that a checkpoint's conversation is: the last segments of
// the file, the object that holds those before, and what the next save needs to
// see that the file only grew.
//
// A save of a growing file writes a List that repeats the entries of the one
// before until there are listEntries; then it begins a new one, whose Parent is
// the full one. So its size is bounded, however long the conversation.
type List struct {
	Parent  oid.ID  // List of the bytes before, zero for none
	Before  int64   // bytes in Parent
	Entries []Entry // in order, at least one
	Cursor  Cursor  // Offset is the size of the whole
	Sides   oid.ID  // Sides object, zero for none
}

// Entry is one stored segment.
type Entry struct {
	ID     oid.ID
	Length int64 // in bytes, more than 0
}

// Append appends the list's canonical bytes: 'T', flags, [parent, its length],
// number of entries, entries {id, length}, head and tail sums, [sides]. Lengths
// and numbers are unsigned varints.
func (l *List) Append(dst []byte) []byte {
	flags := byte(0)
	if l.Parent != (oid.ID{}) {
		flags |= listHasParent
	}
	if l.Sides != (oid.ID{}) {
		flags |= listHasSides
	}
	dst = append(dst, listMagic, flags)
	if flags&listHasParent != 0 {
		dst = append(dst, l.Parent[:]...)
		dst = binary.AppendUvarint(dst, uint64(l.Before))
	}
	dst = append(dst, byte(len(l.Entries)))
	for _, e := range l.Entries {
		dst = append(dst, e.ID[:]...)
		dst = binary.AppendUvarint(dst, uint64(e.Length))
	}
	if len(l.Entries) > 0 {
		dst = append(dst, l.Cursor.Head[:]...)
		dst = append(dst, l.Cursor.Tail[:]...)
	}
	if flags&listHasSides != 0 {
		dst = append(dst, l.Sides[:]...)
	}
	return dst
}

// ParseList parses what Append wrote, and nothing else.
func ParseList(data []byte) (*List, error) {
	d := listDecoder{wire.Decoder{What: "conversation", Data: string(data)}}
	bad := func(reason string) (*List, error) { return nil, &DamagedError{Reason: "list: " + reason} }
	if d.Byte() != listMagic {
		return bad("not one")
	}
	var l List
	flags := d.Byte()
	if flags&^(listHasParent|listHasSides) != 0 {
		return bad("unknown flags")
	}
	if flags&listHasParent != 0 {
		l.Parent, l.Before = d.ID(), d.length()
	}
	n := int(d.Byte())
	if n > listEntries || n == 0 && flags != listHasSides {
		return bad("wrong number of entries")
	}
	size := l.Before
	for range n {
		e := Entry{d.ID(), d.length()}
		if e.ID == (oid.ID{}) || e.Length > math.MaxInt64-size {
			return bad("bad entry")
		}
		size += e.Length
		l.Entries = append(l.Entries, e)
	}
	if n > 0 {
		l.Cursor = Cursor{Offset: size, Head: d.sum(), Tail: d.sum()}
	}
	if flags&listHasSides != 0 {
		l.Sides = oid.ID(d.ID())
	}
	if d.End() != nil {
		return bad("wrong length")
	}
	if flags&listHasParent != 0 && l.Parent == (oid.ID{}) || flags&listHasSides != 0 && l.Sides == (oid.ID{}) {
		return bad("zero id")
	}
	return &l, nil
}

// listDecoder reads canonical fields.
type listDecoder struct{ wire.Decoder }

func (d *listDecoder) sum() (s Sum) {
	copy(s[:], d.Bytes(uint64(len(s))))
	return s
}

// length reads a number of bytes that is more than 0.
func (d *listDecoder) length() int64 {
	v := d.AtMost(math.MaxInt64)
	if v == 0 {
		d.Fail("zero length")
	}
	return int64(v)
}
