package cas

import (
	"encoding/binary"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// List is the content of a chunked file.
type List struct {
	Size   int64
	Sum    oid.ID // BLAKE3-256 of the whole file
	Chunks []Chunk
}

// Chunk is one run of a chunked file.
type Chunk struct {
	ID   oid.ID
	Size uint32
}

// A list: version byte, uvarint size, sum, uvarint number of chunks, and for
// each its id and uvarint size.
const listVersion = 1

// Append appends the list's bytes.
func (l List) Append(dst []byte) []byte {
	dst = append(dst, listVersion)
	dst = binary.AppendUvarint(dst, uint64(l.Size))
	dst = append(dst, l.Sum[:]...)
	dst = binary.AppendUvarint(dst, uint64(len(l.Chunks)))
	for _, c := range l.Chunks {
		dst = append(dst, c.ID[:]...)
		dst = binary.AppendUvarint(dst, uint64(c.Size))
	}
	return dst
}

// ParseList reads a list. It takes only what Append writes: chunks are not
// empty, and their sizes add up to the size of the file.
func ParseList(data []byte) (List, error) {
	var l List
	if len(data) == 0 || data[0] != listVersion {
		return List{}, pack.MalformedError("the chunk list has an unknown version")
	}
	size, used := pack.Uvarint(data[1:])
	rest := data[1+used:]
	if used == 0 || size > 1<<62 || len(rest) < len(l.Sum) {
		return List{}, pack.MalformedError("the chunk list's head is wrong")
	}
	l.Size = int64(size)
	rest = rest[copy(l.Sum[:], rest):]
	count, used := pack.Uvarint(rest)
	rest = rest[used:]
	if used == 0 || count > uint64(len(rest)/33) {
		return List{}, pack.MalformedError("the chunk list's number of chunks is wrong")
	}
	if count > 0 {
		l.Chunks = make([]Chunk, count)
	}
	var sum int64
	for i := range l.Chunks {
		c := &l.Chunks[i]
		if len(rest) < 33 {
			return List{}, pack.MalformedError("the chunk list is cut short")
		}
		rest = rest[copy(c.ID[:], rest):]
		n, used := pack.Uvarint(rest)
		if used == 0 || n == 0 || n > pack.MaxObject {
			return List{}, pack.MalformedError("a chunk's size is wrong")
		}
		c.Size, rest = uint32(n), rest[used:]
		sum += int64(n)
	}
	if sum != l.Size || len(rest) != 0 {
		return List{}, pack.MalformedError("the chunk list does not add up")
	}
	return l, nil
}
