package pack

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

// A block of small deltas, as a save of a few edits writes it. It says nothing twice. A table entry is the id, a uvarint of the
// length in the body, prefix of the base's id and chain depth byte: the whole object's length follows from the delta. A directory's
// delta mostly holds the id of an object of the same table, of which it has the number alone:
//
//	method 0 as it is
//	method 1 uvarint length of what lies between, then as it is
//	method 2 for method 0: runs of a uvarint length and as many bytes, each but the last one with a uvarint number in the table behind
//	         it, for the id there; nothing follows if an id is the last
//
// Where it is read, it becomes a block like any other.

// smallBody is how many bytes of deltas such a block has at most.
const smallBody = 16 << 10

// SmallBlock makes the payload of a block of small deltas. ok is false where the objects are other than that.
func SmallBlock(entries []Entry, body []byte) (payload []byte, ok bool) {
	if len(entries) == 0 || len(entries) > MaxEntries || len(body) > smallBody {
		return nil, false
	}
	numbers := make(map[oid.ID]int, len(entries))
	for i := range entries {
		numbers[entries[i].ID] = i
	}
	short := make([]Entry, len(entries))
	var deltas []byte
	whole := body
	for i := range entries {
		e := &entries[i]
		before := len(deltas)
		d, ok := parseDelta(body[:e.Length])
		if !ok || !e.Delta || d.method == deltaPlain && e.Size != d.head+d.tail+len(d.rest) || e.Size < d.head+d.tail {
			return nil, false
		}
		body = body[e.Length:]
		deltas = d.appendShort(deltas, e.Size, numbers)
		short[i] = *e
		short[i].Length = len(deltas) - before
	}
	payload = appendBlock(codecSmall, short, deltas)
	again, err := DecodeBlock(payload)
	return payload, err == nil && slices.Equal(again.Entries, entries) && bytes.Equal(again.Body, whole)
}

func (e *Entry) appendSmall(dst []byte) []byte {
	dst = append(dst, e.ID[:]...)
	dst = binary.AppendUvarint(dst, uint64(e.Length))
	dst = append(dst, e.Base[:]...)
	return append(dst, e.Depth)
}

func (e *Entry) parseSmall(b []byte) (rest []byte, err error) {
	if len(b) < 32 {
		return nil, MalformedError("the block's table is cut short")
	}
	copy(e.ID[:], b)
	length, used := Uvarint(b[32:])
	if used == 0 || length > MaxObject {
		return nil, MalformedError("an object's length is wrong")
	}
	e.Length, e.Delta = int(length), true
	return e.parseBase(b[32+used:])
}

// parts is a delta taken apart.
type parts struct {
	head, tail int
	method     byte
	rest       []byte
}

func parseDelta(delta []byte) (d parts, ok bool) {
	for _, field := range []*int{&d.head, &d.tail} {
		v, used := Uvarint(delta)
		if used == 0 || v > MaxObject || used == len(delta) {
			return d, false
		}
		*field, delta = int(v), delta[used:]
	}
	d.method, d.rest = delta[0], delta[1:]
	return d, d.method <= deltaZstd
}

// appendShort appends the delta of an object of size bytes in its short form.
func (d *parts) appendShort(dst []byte, size int, numbers map[oid.ID]int) []byte {
	dst = binary.AppendUvarint(dst, uint64(d.head))
	dst = binary.AppendUvarint(dst, uint64(d.tail))
	rest := d.rest
	if d.method == deltaZstd {
		dst = append(dst, deltaZstd)
		dst = binary.AppendUvarint(dst, uint64(size-d.head-d.tail))
		return append(dst, rest...)
	}
	method := len(dst)
	dst = append(dst, deltaPlain)
	from := 0
	for i := 0; i+32 <= len(rest); i++ {
		n, ok := numbers[oid.ID(rest[i:i+32])]
		if !ok {
			continue
		}
		dst[method] = deltaShort
		dst = binary.AppendUvarint(dst, uint64(i-from))
		dst = append(dst, rest[from:i]...)
		dst = binary.AppendUvarint(dst, uint64(n))
		from = i + 32
		i = from - 1
	}
	if dst[method] == deltaShort && from < len(rest) {
		dst = binary.AppendUvarint(dst, uint64(len(rest)-from))
	}
	return append(dst, rest[from:]...)
}

// lengthen makes the block's deltas, and what its table says of them, what they are in any other block.
func (b *Block) lengthen() error {
	entries := make([]Entry, len(b.Entries))
	var body []byte
	from := 0
	for i := range b.Entries {
		e := b.Entries[i]
		before := len(body)
		var size int
		var err error
		if body, size, err = b.appendLong(body, b.Body[from:from+e.Length]); err != nil {
			return err
		}
		from += e.Length
		e.Length, e.Size = len(body)-before, size
		if e.Length > MaxObject || e.Size > MaxObject || len(body) > maxBody {
			return MalformedError("the block is too large")
		}
		entries[i] = e
	}
	b.codec, b.Entries, b.Body, b.total = codecRaw, entries, body, len(body)
	return nil
}

// appendLong appends the delta whose short form is given, and returns the size of its object.
func (b *Block) appendLong(dst, short []byte) (long []byte, size int, err error) {
	malformed := MalformedError("a short delta is wrong")
	var head [2]uint64
	rest := short
	for i := range head {
		v, used := Uvarint(rest)
		if used == 0 || v > MaxObject || used == len(rest) {
			return nil, 0, malformed
		}
		head[i], rest = v, rest[used:]
	}
	dst = append(dst, short[:len(short)-len(rest)]...)
	size = int(head[0] + head[1])
	method, rest := rest[0], rest[1:]
	switch method {
	case deltaPlain:
		return append(append(dst, deltaPlain), rest...), size + len(rest), nil
	case deltaZstd:
		v, used := Uvarint(rest)
		if used == 0 || v > MaxObject {
			return nil, 0, malformed
		}
		return append(append(dst, deltaZstd), rest[used:]...), size + int(v), nil
	case deltaShort:
		dst = append(dst, deltaPlain)
		before := len(dst)
		for first := true; first || len(rest) > 0; first = false {
			n, used := Uvarint(rest)
			if used == 0 || n > uint64(len(rest)-used) || n == 0 && len(rest) == used {
				return nil, 0, malformed
			}
			dst, rest = append(dst, rest[used:used+int(n)]...), rest[used+int(n):]
			if len(rest) == 0 {
				if first {
					return nil, 0, malformed
				}
				break
			}
			number, used := Uvarint(rest)
			if used == 0 || number >= uint64(len(b.Entries)) || len(dst) > maxBody {
				return nil, 0, malformed
			}
			dst, rest = append(dst, b.Entries[number].ID[:]...), rest[used:]
		}
		return dst, size + len(dst) - before, nil
	}
	return nil, 0, malformed
}
