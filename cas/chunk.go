package cas

import (
	"bufio"
	"bytes"
	"encoding/binary"
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

// Chunk sizes in bytes: least, normal, most, and of a database of SQLite all but the last, which so are whole pages: the
// largest page has as many.
//
// Where a file is cut depends on its bytes alone, never on what was saved before: the same bytes always have the same
// id. That a change takes
// little is left to deltas between the chunks of two versions. Measured on a database of 100 MB, in KB that 50 changed rows, 50 changed
// keys of an index and 1,000 new rows add (without deltas, in brackets):
//
//	runs of pages:  16 KiB 234, 87, 842 (736, 1475, 7031); 32 KiB 12, 38, 450; 64 KiB 12, 37, 384 (1978, 5605, 23130);
//	                128 KiB 12, 60, 373; 256 KiB 24, 48, 436
//	by content:     normal size 64 KiB 13, 589, 649 (2571, 7845, 28096); 128 KiB 127, 213, 1474; 512 KiB 939, 1348, 18248
//
// Files that are no database stay at 512 KiB all the same: with another size each large file of an existing store would seem changed
// once it is read again.
const (
	minChunk    = 128 << 10
	normalChunk = 512 << 10
	maxChunk    = 2 << 20
	pageRun     = 64 << 10
)

// inVain is how many more deltas of a file's chunks may turn out not to be worth it than those that were.
const inVain = 16

// cutter is what a writer keeps to cut files.
type cutter struct{ buf []byte }

// PutFile cuts r into chunks, stages them and a List, and returns the List's id. prev, if not zero, is the List of an older
// version: a changed chunk is stored as a delta of the one that was in its place, where that is smaller.
func (w *Writer) PutFile(r io.Reader, prev oid.ID) (id oid.ID, list List, err error) {
	next, err := w.cut.cut(r)
	if err != nil {
		return oid.ID{}, List{}, err
	}
	return w.putCut(next, prev)
}

// PutPieces is PutFile for a file that the caller has cut: each piece is a chunk, and none is empty.
func (w *Writer) PutPieces(pieces [][]byte, prev oid.ID) (id oid.ID, list List, err error) {
	return w.putCut(func() (piece []byte, err error) {
		if len(pieces) == 0 {
			return nil, io.EOF
		}
		piece, pieces = pieces[0], pieces[1:]
		return piece, nil
	}, prev)
}

func (w *Writer) putCut(next func() ([]byte, error), prev oid.ID) (id oid.ID, list List, err error) {
	before := w.older(prev)
	w.credit = inVain
	return w.cutFile(next, before, func(c Chunk, data []byte) error {
		base := before.of(c.ID)
		if w.credit <= 0 {
			base = oid.ID{}
		}
		_, err := w.Put(c.ID, data, base)
		return err
	})
}

// CutFile cuts as PutFile does, but hands each chunk to chunk instead of staging it: only the List is staged. data is valid
// during the call.
func (w *Writer) CutFile(r io.Reader, chunk func(c Chunk, data []byte) error) (id oid.ID, list List, err error) {
	next, err := w.cut.cut(r)
	if err != nil {
		return oid.ID{}, List{}, err
	}
	return w.cutFile(next, older{}, chunk)
}

func (w *Writer) cutFile(next func() ([]byte, error), before older, chunk func(c Chunk, data []byte) error) (id oid.ID, list List, err error) {
	whole := blake3.New()
	for {
		data, err := next()
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
	_, err = w.Put(id, data, before.id)
	return id, list, err
}

// cut begins to cut r: next gives the chunks one after the other, the last one, which may be empty, with io.EOF. A chunk is valid until
// the next call.
func (k *cutter) cut(r io.Reader) (next func() ([]byte, error), err error) {
	if k.buf == nil {
		k.buf = make([]byte, 2*maxChunk)
	}
	file := bufio.NewReaderSize(r, 4<<10) // for its head: what is larger is read past it
	head, err := file.Peek(sqliteHead)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if isSQLite(head) {
		return func() ([]byte, error) {
			n, err := io.ReadFull(file, k.buf[:pageRun])
			if err == io.ErrUnexpectedEOF {
				err = io.EOF
			}
			return k.buf[:n], err
		}, nil
	}
	c, err := chunkers.NewChunkerBuffer(Chunker, file, &chunkers.ChunkerOpts{MinSize: minChunk, NormalSize: normalChunk, MaxSize: maxChunk}, k.buf)
	if err != nil {
		return nil, fmt.Errorf("cut with %s: %w", Chunker, err)
	}
	return c.Next, nil
}

// sqliteHead is up to where isSQLite looks.
const sqliteHead = 18

// isSQLite reports whether a file that begins with head is a database of SQLite: the magic, and the size of a page, a power
// of two from 512 to 65,536, which is written as 1.
func isSQLite(head []byte) bool {
	if len(head) < sqliteHead || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return false
	}
	size := binary.BigEndian.Uint16(head[16:])
	return size == 1 || size >= 512 && size&(size-1) == 0
}

// older is a version of a file that is in the store. Its chunks are the bases of those of the next version.
type older struct {
	id oid.ID // of its list; zero: there is none, or it is no list
	List
	places map[oid.ID]int
	next   int // the place that the next chunk has, if nothing came or went
}

func (w *Writer) older(prev oid.ID) older {
	if prev == (oid.ID{}) {
		return older{}
	}
	data, err := w.b.Get(nil, prev)
	if err != nil {
		return older{} // without it the file takes more, that is all
	}
	list, err := ParseList(data)
	if err != nil {
		return older{}
	}
	o := older{id: prev, List: list, places: make(map[oid.ID]int, len(list.Chunks))}
	for i, c := range list.Chunks {
		o.places[c.ID] = i
	}
	return o
}

// of is asked for each chunk of the new version in turn. It returns what was in the place of a changed chunk: the one behind what the
// chunk before it was, or was made from. Zero for a chunk that the older version has, or that is behind its end.
func (o *older) of(id oid.ID) (base oid.ID) {
	at := o.next
	if i, known := o.places[id]; !known {
		if at < len(o.Chunks) {
			base = o.Chunks[at].ID
		}
	} else if at >= len(o.Chunks) || o.Chunks[at].ID != id {
		at = i
	}
	o.next = at + 1
	return base
}
