package pack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// walkWindow is what a walk reads at once: large enough that most records lie
// within it, small enough to be nothing beside the rest of a save.
const walkWindow = 1 << 20

// Walker reads the records of a pack in their order.
type Walker struct {
	At    int64 // offset of the next record
	Ahead int   // bytes that are read at once, at least

	file  io.ReaderAt
	seed  uint64
	end   int64  // nothing is read from here on
	buf   []byte // the bytes from bufAt on
	bufAt int64
}

// NewWalker walks over the bytes of a pack between two offsets.
func NewWalker(file io.ReaderAt, seed uint64, from, end int64) *Walker {
	return &Walker{file: file, seed: seed, At: from, end: end, Ahead: walkWindow}
}

// EachRecord visits the good records between two offsets of a pack. damage, which may be nil, is called where none begins. Errors:
// those of reading and of visit.
func EachRecord(file io.ReaderAt, seed uint64, from, end int64, damage func(offset int64, reason error), visit func(Record) error) error {
	w := NewWalker(file, seed, from, end)
	for {
		r, err := w.Next()
		switch {
		case err == io.EOF:
			return nil
		case IsMalformed(err):
			if damage != nil {
				damage(w.At, err)
			}
			if ok, err := w.Resync(); !ok || err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if err := visit(r); err != nil {
			return err
		}
	}
}

// Next returns the next record, which is valid until the next call. Errors: io.EOF at the end; MalformedError where no good
// record begins, and the walker does not move; those of reading.
func (w *Walker) Next() (Record, error) {
	if w.At >= w.end {
		return Record{}, io.EOF
	}
	b, err := w.window(w.At, recordOverhead)
	if err != nil {
		return Record{}, err
	}
	_, n, head, err := parseRecordHead(b)
	if err != nil {
		return Record{}, err
	}
	if int64(head+n+8) > w.end-w.At {
		return Record{}, MalformedError("the record is cut short")
	}
	if b, err = w.window(w.At, head+n+8); err != nil {
		return Record{}, err
	}
	r, err := parseRecord(b, w.seed, w.At)
	if err != nil {
		return Record{}, err
	}
	w.At = r.End
	return r, nil
}

// Resync moves on to the next good record behind a bad one and reports whether
// there is one.
func (w *Walker) Resync() (bool, error) {
	for w.At++; w.At < w.end; w.At++ {
		b, err := w.window(w.At, recordOverhead)
		if err != nil {
			return false, err
		}
		if b[0] != BlockRecord && b[0] != CommitRecord {
			continue
		}
		typ, n, head, err := parseRecordHead(b)
		if err != nil || int64(head+n+8) > w.end-w.At {
			continue
		}
		if b, err = w.window(w.At, head+n+8); err != nil {
			return false, err
		}
		// The structure is looked at first: it is cheap, and nearly all that
		// only looks like a record fails here, not at a checksum over megabytes.
		payload := b[head : head+n]
		if typ == BlockRecord {
			_, err = ParseBlock(payload)
		} else {
			_, err = ParseCommit(payload)
		}
		if err != nil {
			continue
		}
		if _, err := parseRecord(b, w.seed, w.At); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// sectorSize is what a disk writes as a whole or not at all.
const sectorSize = 512

// TornHere reports whether the bad record at which Next stopped can be what a crash left of one that was being written: the
// file ends within it, or a sector of it is all zeros. Anything else was changed after it was written.
func (w *Walker) TornHere() (bool, error) {
	left := w.end - w.At
	if left < trailerSize {
		return true, nil
	}
	b, err := w.window(w.At, recordOverhead)
	if err != nil {
		return false, err
	}
	end := min(w.At/sectorSize*sectorSize+sectorSize, w.end) // where no record begins
	if _, n, head, err := parseRecordHead(b); err == nil {
		if end = w.At + int64(head+n+8); end > w.end {
			whole, err := w.endsWithRecord()
			return !whole, err
		}
	}
	for at := w.At; at < end; {
		next := min(at/sectorSize*sectorSize+sectorSize, end)
		if b, err = w.window(at, int(next-at)); err != nil {
			return false, err
		}
		if len(bytes.Trim(b[:next-at], "\x00")) == 0 {
			return true, nil
		}
		at = next
	}
	return false, nil
}

// endsWithRecord reports whether a commit whose first bytes are good ends with the bytes that are walked, where
// the record at which Next stopped says that it is longer: its length was changed.
func (w *Walker) endsWithRecord() (bool, error) {
	b, err := w.window(w.end-trailerSize, 4)
	if err != nil {
		return false, err
	}
	size := int64(binary.LittleEndian.Uint32(b))
	if size < trailerSize || size > w.end-w.At {
		return false, nil
	}
	b, err = w.window(w.end-size, 1)
	return err == nil && b[0] == CommitRecord, err
}

// window returns the bytes from offset on: n of them, or fewer at the end. At
// least one byte lies between offset and the end.
func (w *Walker) window(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.end-offset))
	if offset >= w.bufAt && offset+int64(n) <= w.bufAt+int64(len(w.buf)) {
		return w.buf[offset-w.bufAt:], nil
	}
	size := int(min(int64(max(n, w.Ahead)), w.end-offset))
	if cap(w.buf) < size {
		w.buf = make([]byte, size)
	}
	w.buf, w.bufAt = w.buf[:size], offset
	got, err := w.file.ReadAt(w.buf, offset)
	if got < n {
		w.buf = w.buf[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read a pack: %w", err)
	}
	w.buf = w.buf[:got]
	return w.buf, nil
}
