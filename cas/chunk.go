package cas

import (
	"fmt"
	"io"

	"github.com/rewind-cli/rewind/cas/oid"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers Chunker
	"github.com/zeebo/blake3"
)

// Chunker is the versioned name of the algorithm that cuts large files. With
// another one the same file would be cut elsewhere, and nothing deduplicated.
//
// jc-v1.1.0 is no choice here: its masks are fixed for chunks of 8 KiB, and at
// half a megabyte it cuts nearly everything at the minimum.
const Chunker = "fastcdc-v1.0.0"

// Chunk sizes in bytes: least, normal, most. A change costs the chunks that it
// touches, about two of normal size at each end; a list costs 35 bytes per chunk.
const (
	minChunk    = 128 << 10
	normalChunk = 512 << 10
	maxChunk    = 2 << 20
)

// cutter is what a writer keeps to cut files.
type cutter struct{ buf []byte }

// PutFile cuts r by content into chunks, stages them and a List, and returns the List's id.
func (w *Writer) PutFile(r io.Reader) (id oid.ID, list List, err error) {
	return w.CutFile(r, func(c Chunk, data []byte) error {
		_, err := w.Put(c.ID, data, oid.ID{})
		return err
	})
}

// CutFile cuts as PutFile does, but hands each chunk to chunk instead of staging it: only the List is staged. data is valid
// during the call.
func (w *Writer) CutFile(r io.Reader, chunk func(c Chunk, data []byte) error) (id oid.ID, list List, err error) {
	if w.cut.buf == nil {
		w.cut.buf = make([]byte, 2*maxChunk)
	}
	c, err := chunkers.NewChunkerBuffer(Chunker, r, &chunkers.ChunkerOpts{MinSize: minChunk, NormalSize: normalChunk, MaxSize: maxChunk}, w.cut.buf)
	if err != nil {
		return oid.ID{}, List{}, fmt.Errorf("cut with %s: %w", Chunker, err)
	}
	whole := blake3.New()
	for {
		data, err := c.Next()
		if err != nil && err != io.EOF {
			return oid.ID{}, List{}, err
		}
		if len(data) > 0 {
			whole.Write(data)
			at := Chunk{ID: oid.Sum(data), Size: uint32(len(data))}
			if err := chunk(at, data); err != nil {
				return oid.ID{}, List{}, err
			}
			list.Chunks = append(list.Chunks, at)
			list.Size += int64(len(data))
		}
		if err == io.EOF {
			break
		}
	}
	whole.Sum(list.Sum[:0])
	data := list.Append(nil)
	id = oid.Sum(data)
	_, err = w.Put(id, data, oid.ID{})
	return id, list, err
}
