package cas

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/blake3"
)

// walkWindow is what a walk reads at once: large enough that most records lie
// within it, small enough to be nothing beside the rest of a save.
const walkWindow = 1 << 20

// walker reads the records of a pack in their order.
type walker struct {
	file io.ReaderAt
	seed uint64
	at   int64 // of the next record
	end  int64 // nothing is read from here on

	ahead int    // how much is read at once, at least
	buf   []byte // the bytes from bufAt on
	bufAt int64
}

func newWalker(file io.ReaderAt, seed uint64, from, end int64) *walker {
	return &walker{file: file, seed: seed, at: from, end: end, ahead: walkWindow}
}

// eachRecord visits the good records of a part of a pack.
func eachRecord(file io.ReaderAt, seed uint64, from, end int64, visit func(record) error) error {
	w := newWalker(file, seed, from, end)
	for {
		r, err := w.next()
		switch {
		case err == io.EOF:
			return nil
		case isMalformed(err):
			if ok, err := w.resync(); !ok || err != nil {
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

// next returns the next record; its payload is good until the next call. It
// returns io.EOF at the end, and a malformedError, without moving on, where no
// good record begins.
func (w *walker) next() (record, error) {
	if w.at >= w.end {
		return record{}, io.EOF
	}
	b, err := w.window(w.at, recordOverhead)
	if err != nil {
		return record{}, err
	}
	_, n, head, err := parseRecordHead(b)
	if err != nil {
		return record{}, err
	}
	if int64(head+n+8) > w.end-w.at {
		return record{}, malformedError("the record is cut short")
	}
	if b, err = w.window(w.at, head+n+8); err != nil {
		return record{}, err
	}
	r, err := parseRecord(b, w.seed, w.at)
	if err != nil {
		return record{}, err
	}
	w.at = r.end
	return r, nil
}

// raw returns the bytes of the record that next returned last.
func (w *walker) raw(r record) []byte {
	return w.buf[r.offset-w.bufAt : r.end-w.bufAt]
}

// resync moves on to the next good record after a bad one and reports whether
// there is one.
func (w *walker) resync() (bool, error) {
	for w.at++; w.at < w.end; w.at++ {
		b, err := w.window(w.at, recordOverhead)
		if err != nil {
			return false, err
		}
		if b[0] != blockRecord && b[0] != commitRecord {
			continue
		}
		typ, n, head, err := parseRecordHead(b)
		if err != nil || int64(head+n+8) > w.end-w.at {
			continue
		}
		if b, err = w.window(w.at, head+n+8); err != nil {
			return false, err
		}
		// The structure is looked at first: it is cheap, and nearly all that
		// only looks like a record fails here, not at a checksum over megabytes.
		payload := b[head : head+n]
		if typ == blockRecord {
			_, err = parseBlock(payload)
		} else {
			_, err = parseCommit(payload)
		}
		if err != nil {
			continue
		}
		if _, err := parseRecord(b, w.seed, w.at); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// sectorSize is what a disk writes as a whole or not at all.
const sectorSize = 512

// tornHere reports whether the bad record at which next stopped can be what a crash left of one that was being written: the
// file ends within it, or a sector of it is all zeros. Anything else was changed after it was written.
func (w *walker) tornHere() (bool, error) {
	left := w.end - w.at
	if left < trailerSize {
		return true, nil
	}
	b, err := w.window(w.at, recordOverhead)
	if err != nil {
		return false, err
	}
	end := min(w.at/sectorSize*sectorSize+sectorSize, w.end) // where no record begins
	if _, n, head, err := parseRecordHead(b); err == nil {
		if end = w.at + int64(head+n+8); end > w.end {
			whole, err := w.endsWithRecord()
			return !whole, err
		}
	}
	for at := w.at; at < end; {
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
// the record at which next stopped says that it is longer: its length was changed.
func (w *walker) endsWithRecord() (bool, error) {
	b, err := w.window(w.end-trailerSize, 4)
	if err != nil {
		return false, err
	}
	size := int64(binary.LittleEndian.Uint32(b))
	if size < trailerSize || size > w.end-w.at {
		return false, nil
	}
	b, err = w.window(w.end-size, 1)
	return err == nil && b[0] == commitRecord, err
}

// window returns the bytes from offset on: n of them, or fewer at the end. At
// least one byte lies between offset and the end.
func (w *walker) window(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.end-offset))
	if offset >= w.bufAt && offset+int64(n) <= w.bufAt+int64(len(w.buf)) {
		return w.buf[offset-w.bufAt:], nil
	}
	size := int(min(int64(max(n, w.ahead)), w.end-offset))
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

// isMalformed tells damage from a failure to read.
func isMalformed(err error) bool {
	var m malformedError
	return errors.As(err, &m)
}

// commitHolds reports whether the commit in r matches the bytes that it covers.
// start is where the pack's records begin.
func commitHolds(file io.ReaderAt, r record, c commit) (bool, error) {
	if c.since > uint64(r.offset-headerSize) {
		return false, nil
	}
	h := blake3.New()
	if err := hashRange(h, file, r.offset-int64(c.since), r.offset); err != nil {
		return false, err
	}
	return commitHash(h, c.head(), c.data) == c.sum, nil
}

func hashRange(h *blake3.Hasher, file io.ReaderAt, from, to int64) error {
	if from == to {
		return nil
	}
	buf := make([]byte, min(to-from, 256<<10))
	for from < to {
		n, err := file.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		if n == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("read a pack: %w", err)
		}
		h.Write(buf[:n])
		from += int64(n)
	}
	return nil
}

// lastGuess is how much of a pack's end is read to find its last commit: the
// records of a small save fit in.
const lastGuess = 4 << 10

// commitEndingAt returns the commit whose record ends at end, if there is one
// that is whole. With region it must match the bytes that it covers too.
func commitEndingAt(file io.ReaderAt, seed uint64, end int64, region bool) (r record, c commit, ok bool, err error) {
	if end < headerSize+trailerSize {
		return r, c, false, nil
	}
	from := max(headerSize, end-lastGuess)
	buf := make([]byte, end-from)
	if ok, err := readFull(file, buf, from); !ok {
		return r, c, false, err
	}
	t := buf[len(buf)-trailerSize:]
	size := int64(uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24)
	if size < trailerSize || size > end-headerSize || size > maxCommit {
		return r, c, false, nil
	}
	at := end - size
	if at < from {
		buf = make([]byte, size)
		from = at
		if ok, err := readFull(file, buf, from); !ok {
			return r, c, false, err
		}
	}
	r, err = parseRecord(buf[at-from:], seed, at)
	if err != nil || r.typ != commitRecord || r.end != end {
		return r, c, false, nil
	}
	if c, err = parseCommit(r.payload); err != nil {
		return r, c, false, nil
	}
	if !region {
		return r, c, true, nil
	}
	if start := at - int64(c.since); c.since <= uint64(at-from) {
		h := blake3.New()
		h.Write(buf[start-from : at-from])
		return r, c, commitHash(h, c.head(), c.data) == c.sum, nil
	}
	ok, err = commitHolds(file, r, c)
	return r, c, ok, err
}

// readFull fills buf from offset on; ok is false where the file ends before.
func readFull(file io.ReaderAt, buf []byte, offset int64) (ok bool, err error) {
	n, err := file.ReadAt(buf, offset)
	if n == len(buf) {
		return true, nil
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil {
		return false, nil
	}
	return false, fmt.Errorf("read a pack: %w", err)
}
