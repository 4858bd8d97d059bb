package cas

import (
	"encoding/binary"

	"github.com/rewind-cli/rewind/cas/oid"
)

// A block's payload: codec byte, uvarint count, the table, the body. A table
// entry is the id, a uvarint of length*2 + delta, and for a delta: uvarint
// length of the whole object, prefix of the base's id, chain depth byte. The
// objects' bytes lie in the body in the table's order; the body is compressed
// as one.
const (
	codecRaw  = 0
	codecZstd = 1

	maxEntries = 1 << 16 // of one block: positions are 16 bits in the index
	// maxObject bounds what a decoder allocates for an object. The largest that
	// are written are manifests of directories with millions of entries.
	maxObject = 1 << 28
	maxBody   = 1 << 29
)

// entry is one object of a block.
type entry struct {
	id     oid.ID
	length int // in the decompressed body
	delta  bool
	size   int    // of a delta: of the whole object
	base   prefix // of a delta
	depth  uint8  // of a delta: length of the chain of bases, from 1
}

func (e *entry) append(dst []byte) []byte {
	dst = append(dst, e.id[:]...)
	head := uint64(e.length) << 1
	if !e.delta {
		return binary.AppendUvarint(dst, head)
	}
	dst = binary.AppendUvarint(dst, head|1)
	dst = binary.AppendUvarint(dst, uint64(e.size))
	dst = append(dst, e.base[:]...)
	return append(dst, e.depth)
}

// block is a parsed payload. Body aliases what was parsed.
type block struct {
	codec   byte
	entries []entry
	total   int // length of the decompressed body
	body    []byte
}

// appendBlock appends the payload of a block.
func appendBlock(dst []byte, codec byte, entries []entry, body []byte) []byte {
	dst = append(dst, codec)
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for i := range entries {
		dst = entries[i].append(dst)
	}
	return append(dst, body...)
}

// parseBlock reads a block's payload. The body is not decompressed.
func parseBlock(b []byte) (block, error) {
	p, rest, err := parseTable(b)
	if err != nil {
		return p, err
	}
	if p.codec == codecRaw && len(rest) != p.total {
		return p, malformedError("the block's body does not have the length its table says")
	}
	p.body = rest
	return p, nil
}

// parseTable reads what comes before the body, of which b may hold only a part.
func parseTable(b []byte) (p block, rest []byte, err error) {
	if len(b) < 2 {
		return p, nil, malformedError("the block is cut short")
	}
	p.codec = b[0]
	if p.codec > codecZstd {
		return p, nil, malformedError("the block has an unknown codec")
	}
	count, used := uvarint(b[1:])
	rest = b[1+used:]
	if used == 0 || count == 0 || count > maxEntries || count > uint64(len(rest)/33) {
		return p, nil, malformedError("the block's number of objects is wrong")
	}
	p.entries = make([]entry, count)
	for i := range p.entries {
		if rest, err = p.entries[i].parse(rest); err != nil {
			return p, nil, err
		}
		if p.total += p.entries[i].length; p.total > maxBody {
			return p, nil, malformedError("the block is too large")
		}
	}
	return p, rest, nil
}

func (e *entry) parse(b []byte) (rest []byte, err error) {
	if len(b) < 33 {
		return nil, malformedError("the block's table is cut short")
	}
	copy(e.id[:], b)
	head, used := uvarint(b[32:])
	if used == 0 || head>>1 > maxObject {
		return nil, malformedError("an object's length is wrong")
	}
	b = b[32+used:]
	e.length, e.delta = int(head>>1), head&1 != 0
	if !e.delta {
		return b, nil
	}
	size, used := uvarint(b)
	if used == 0 || size > maxObject {
		return nil, malformedError("a delta's full length is wrong")
	}
	e.size = int(size)
	b = b[used:]
	if len(b) < 17 {
		return nil, malformedError("the block's table is cut short")
	}
	copy(e.base[:], b)
	e.depth = b[16]
	if e.depth == 0 || e.depth > maxDepth {
		return nil, malformedError("a delta's depth is wrong")
	}
	return b[17:], nil
}

// at returns where the bytes of entry i lie in the decompressed body.
func (p *block) at(i int) (from, to int) {
	for j := range i {
		from += p.entries[j].length
	}
	return from, from + p.entries[i].length
}
