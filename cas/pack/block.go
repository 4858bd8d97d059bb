package pack

import (
	"encoding/binary"
	"io"
	"iter"

	"github.com/rewind-cli/rewind/cas/oid"
)

// A block's payload: codec byte, uvarint count, the table, the body. A table
// entry is the id, a uvarint of length*2 + delta, and for a delta: uvarint
// length of the whole object, prefix of the base's id, chain depth byte. The
// objects' bytes lie in the body in the table's order; the body is compressed
// as one.
const (
	codecRaw   = 0
	codecZstd  = 1
	codecSmall = 2 // small deltas, in a short form

	// MaxEntries is how many objects a block has at most: positions are 16 bits in the index.
	MaxEntries = 1 << 16
	// MaxObject is how many bytes an object has at most. It bounds what a decoder allocates for an object. The largest that
	// are written are manifests of directories with millions of entries.
	MaxObject = 1 << 28
	maxBody   = 1 << 29
)

// Prefix names the base of a delta. 16 bytes keep a one-line edit small; the
// object that a delta leads to is checked against its whole hash anyway.
type Prefix [16]byte

// PrefixOf is the prefix of an id.
func PrefixOf(id oid.ID) Prefix { return Prefix(id[:16]) }

// Entry is one object in the table of a block. Sizes are in bytes.
type Entry struct {
	ID     oid.ID
	Length int // in the body: the decompressed one, once it is
	Delta  bool
	Size   int    // of a delta: of the whole object; in a block of small deltas it is known once the body is decompressed
	Base   Prefix // of a delta
	Depth  uint8  // of a delta: length of the chain of bases, from 1
}

func (e *Entry) append(dst []byte) []byte {
	dst = append(dst, e.ID[:]...)
	head := uint64(e.Length) << 1
	if !e.Delta {
		return binary.AppendUvarint(dst, head)
	}
	dst = binary.AppendUvarint(dst, head|1)
	dst = binary.AppendUvarint(dst, uint64(e.Size))
	dst = append(dst, e.Base[:]...)
	return append(dst, e.Depth)
}

// Block is a block's payload, taken apart.
type Block struct {
	Entries []Entry
	Body    []byte // aliases what was parsed, unless it was compressed
	codec   byte   // of body
	total   int    // length of the decompressed body
}

// appendBlock makes the payload of a block.
func appendBlock(codec byte, entries []Entry, body []byte) []byte {
	dst := append(make([]byte, 0, 2+len(entries)*40+16+len(body)), codec)
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	for i := range entries {
		if codec == codecSmall {
			dst = entries[i].appendSmall(dst)
		} else {
			dst = entries[i].append(dst)
		}
	}
	return append(dst, body...)
}

// ParseBlock reads a block's payload. The body is not decompressed, and aliases b. Errors: MalformedError.
func ParseBlock(b []byte) (Block, error) {
	p, rest, err := parseTable(b)
	if err != nil {
		return Block{}, err
	}
	if p.codec != codecZstd && len(rest) != p.total {
		return Block{}, MalformedError("the block's body does not have the length its table says")
	}
	p.Body = rest
	return p, nil
}

// DecodeBlock reads a block's payload and decompresses its body. With the MalformedError of a body that cannot be
// decompressed, the block is returned with its entries.
func DecodeBlock(payload []byte) (*Block, error) {
	p, err := ParseBlock(payload)
	if err == nil {
		err = p.Decompress()
	}
	return &p, err
}

// ReadBlock reads the block whose record lies at a place of a pack. Its body is not decompressed. Errors: MalformedError,
// those of reading.
func ReadBlock(file io.ReaderAt, seed uint64, at BlockRef) (Block, error) {
	payload, err := ReadPayload(file, seed, at)
	if err != nil {
		return Block{}, err
	}
	return ParseBlock(payload)
}

// ReadPayload is ReadBlock, but gives the payload as it is stored.
func ReadPayload(file io.ReaderAt, seed uint64, at BlockRef) ([]byte, error) {
	buf := make([]byte, at.Size)
	ok, err := ReadFull(file, buf, at.Offset)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, MalformedError("the pack ends before it")
	}
	r, err := parseRecord(buf, seed, at.Offset)
	if err != nil {
		return nil, err
	}
	if r.Type != BlockRecord || r.End != at.Offset+int64(at.Size) {
		return nil, MalformedError("another record lies in its place")
	}
	return r.Payload, nil
}

// tableGuess is how much of a block is read for its table: enough for about
// 200 objects.
const tableGuess = 8 << 10

// ReadTable reads the table of the block whose record lies at a place of a pack, without the body and without
// looking at the record's checksum. Errors: MalformedError, those of reading.
func ReadTable(file io.ReaderAt, at BlockRef) (b Block, err error) {
	for _, n := range []int64{min(tableGuess, int64(at.Size)), int64(at.Size)} {
		buf := make([]byte, n)
		ok, rerr := ReadFull(file, buf, at.Offset)
		if rerr != nil {
			return Block{}, rerr
		}
		if !ok {
			return Block{}, MalformedError("the pack ends before it")
		}
		typ, _, head, perr := parseRecordHead(buf)
		if perr != nil || typ != BlockRecord {
			return Block{}, MalformedError("no block begins here")
		}
		if b, _, err = parseTable(buf[head:]); err == nil {
			return b, nil
		}
	}
	return Block{}, err
}

// parseTable reads what comes before the body, of which b may hold only a part.
func parseTable(b []byte) (p Block, rest []byte, err error) {
	if len(b) < 2 {
		return p, nil, MalformedError("the block is cut short")
	}
	p.codec = b[0]
	if p.codec > codecSmall {
		return p, nil, MalformedError("the block has an unknown codec")
	}
	count, used := Uvarint(b[1:])
	rest = b[1+used:]
	if used == 0 || count == 0 || count > MaxEntries || count > uint64(len(rest)/33) {
		return p, nil, MalformedError("the block's number of objects is wrong")
	}
	p.Entries = make([]Entry, count)
	for i := range p.Entries {
		parse := p.Entries[i].parse
		if p.codec == codecSmall {
			parse = p.Entries[i].parseSmall
		}
		if rest, err = parse(rest); err != nil {
			return p, nil, err
		}
		if p.total += p.Entries[i].Length; p.total > maxBody {
			return p, nil, MalformedError("the block is too large")
		}
	}
	return p, rest, nil
}

func (e *Entry) parse(b []byte) (rest []byte, err error) {
	if len(b) < 33 {
		return nil, MalformedError("the block's table is cut short")
	}
	copy(e.ID[:], b)
	head, used := Uvarint(b[32:])
	if used == 0 || head>>1 > MaxObject {
		return nil, MalformedError("an object's length is wrong")
	}
	b = b[32+used:]
	e.Length, e.Delta = int(head>>1), head&1 != 0
	if !e.Delta {
		return b, nil
	}
	size, used := Uvarint(b)
	if used == 0 || size > MaxObject {
		return nil, MalformedError("a delta's full length is wrong")
	}
	e.Size = int(size)
	return e.parseBase(b[used:])
}

func (e *Entry) parseBase(b []byte) (rest []byte, err error) {
	if len(b) < 17 {
		return nil, MalformedError("the block's table is cut short")
	}
	copy(e.Base[:], b)
	e.Depth = b[16]
	if e.Depth == 0 || e.Depth > MaxDepth {
		return nil, MalformedError("a delta's depth is wrong")
	}
	return b[17:], nil
}

// At returns entry i and its bytes in the body, which is decompressed. Both belong to the block. Errors: MalformedError.
func (b *Block) At(i int) (*Entry, []byte, error) {
	if i < 0 || i >= len(b.Entries) {
		return nil, nil, MalformedError("its block has no such place")
	}
	from := 0
	for j := range i {
		from += b.Entries[j].Length
	}
	to := from + b.Entries[i].Length
	return &b.Entries[i], b.Body[from:to:to], nil
}

// All yields the entries and their bytes in the body, which is decompressed. Both belong to the block.
func (b *Block) All() iter.Seq2[*Entry, []byte] {
	return func(yield func(*Entry, []byte) bool) {
		from := 0
		for i := range b.Entries {
			to := from + b.Entries[i].Length
			if !yield(&b.Entries[i], b.Body[from:to:to]) {
				return
			}
			from = to
		}
	}
}

// IDs lists the objects in the table.
func (b *Block) IDs() []oid.ID {
	ids := make([]oid.ID, len(b.Entries))
	for i := range b.Entries {
		ids[i] = b.Entries[i].ID
	}
	return ids
}

// Share is how many of the record bytes of the block entry i takes: its table entry, and the rest in proportion to its
// length.
func (b *Block) Share(record int32, i int) int64 {
	e := &b.Entries[i]
	own := int64(34)
	if e.Delta {
		own += 20
	}
	rest := max(0, int64(record)-int64(len(b.Entries))*34)
	if b.total == 0 {
		return own + rest/int64(len(b.Entries))
	}
	return own + rest*int64(e.Length)/int64(b.total)
}
