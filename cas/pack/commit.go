package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/blake3"
)

// Commit is the payload of a commit: uvarint sequence number (0: unsequenced), uvarint number
// of commits before it in the pack, uvarint number of bytes between the commit
// before (or the header) and this record, BLAKE3 of those bytes and of the
// payload but for the hash itself (16 bytes), what the caller committed, and
// the size of the whole record as uint32, by which the last commit is found
// from the end of the pack.
type Commit struct {
	Seq     uint64
	Ordinal uint64
	Since   uint64
	Sum     [16]byte
	Data    []byte // aliases what was parsed
}

// MaxCommit is how many bytes the record of a commit has at most.
const MaxCommit = 1 << 28

// commitHash hashes what a commit covers. The caller has written the region.
func commitHash(region *blake3.Hasher, head, data []byte) (sum [16]byte) {
	region.Write(head)
	region.Write(data)
	var out [32]byte
	copy(sum[:], region.Sum(out[:0]))
	return sum
}

func (c *Commit) head() []byte {
	var b [3 * binary.MaxVarintLen64]byte
	head := binary.AppendUvarint(b[:0], c.Seq)
	head = binary.AppendUvarint(head, c.Ordinal)
	return binary.AppendUvarint(head, c.Since)
}

// Seal sets the hash. The caller has written the c.Since bytes before the record to region.
func (c *Commit) Seal(region *blake3.Hasher) { c.Sum = commitHash(region, c.head(), c.Data) }

// Covers reports whether the hash is right. The caller has written the bytes before the record to region.
func (c *Commit) Covers(region *blake3.Hasher) bool {
	return commitHash(region, c.head(), c.Data) == c.Sum
}

// Append appends the commit's payload.
func (c *Commit) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, c.head()...)
	dst = append(dst, c.Sum[:]...)
	dst = append(dst, c.Data...)
	return binary.LittleEndian.AppendUint32(dst, uint32(RecordSize(len(dst)-start+4)))
}

// ParseCommit reads a commit's payload. The hash is not checked. Errors: MalformedError.
func ParseCommit(b []byte) (Commit, error) {
	var c Commit
	rest := b
	for _, field := range []*uint64{&c.Seq, &c.Ordinal, &c.Since} {
		v, used := Uvarint(rest)
		if used == 0 {
			return c, MalformedError("the commit's head is wrong")
		}
		*field, rest = v, rest[used:]
	}
	if len(rest) < 16+4 {
		return c, MalformedError("the commit is cut short")
	}
	copy(c.Sum[:], rest)
	c.Data = rest[16 : len(rest)-4]
	if int64(binary.LittleEndian.Uint32(rest[len(rest)-4:])) != RecordSize(len(b)) {
		return c, MalformedError("the commit's size is wrong")
	}
	return c, nil
}

// trailerSize is what has to be read before the end of a pack to know how long
// the commit record there is: its size and the record's checksum.
const trailerSize = 4 + 8

// CommitHolds reports whether the commit c, whose record is r, matches the bytes before it, which it reads.
func CommitHolds(file io.ReaderAt, r Record, c Commit) (bool, error) {
	if c.Since > uint64(r.Offset-HeaderSize) {
		return false, nil
	}
	h := blake3.New()
	if err := hashRange(h, file, r.Offset-int64(c.Since), r.Offset); err != nil {
		return false, err
	}
	return c.Covers(h), nil
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

// CommitEndingAt returns the commit whose record ends at end, if there is one that is whole: one read, mostly. With region it
// must match the bytes before it, too.
func CommitEndingAt(file io.ReaderAt, seed uint64, end int64, region bool) (r Record, c Commit, ok bool, err error) {
	if end < HeaderSize+trailerSize {
		return r, c, false, nil
	}
	from := max(HeaderSize, end-lastGuess)
	buf := make([]byte, end-from)
	if ok, err := ReadFull(file, buf, from); !ok {
		return r, c, false, err
	}
	t := buf[len(buf)-trailerSize:]
	size := int64(binary.LittleEndian.Uint32(t))
	if size < trailerSize || size > end-HeaderSize || size > MaxCommit {
		return r, c, false, nil
	}
	at := end - size
	if at < from {
		buf = make([]byte, size)
		from = at
		if ok, err := ReadFull(file, buf, from); !ok {
			return r, c, false, err
		}
	}
	r, err = parseRecord(buf[at-from:], seed, at)
	if err != nil || r.Type != CommitRecord || r.End != end {
		return r, c, false, nil
	}
	if c, err = ParseCommit(r.Payload); err != nil {
		return r, c, false, nil
	}
	if !region {
		return r, c, true, nil
	}
	if start := at - int64(c.Since); c.Since <= uint64(at-from) {
		h := blake3.New()
		h.Write(buf[start-from : at-from])
		return r, c, c.Covers(h), nil
	}
	ok, err = CommitHolds(file, r, c)
	return r, c, ok, err
}

// goodEnd is the end of the last good commit of a pack's first size bytes, and not before known.
func goodEnd(file io.ReaderAt, seed uint64, known, size int64) (int64, error) {
	_, _, ok, err := CommitEndingAt(file, seed, size, true)
	if err != nil {
		return 0, err
	}
	if ok {
		return size, nil
	}
	// A writer is at work, or a crash left something behind.
	good := known
	err = EachRecord(file, seed, known, size, nil, func(r Record) error {
		if r.Type != CommitRecord {
			return nil
		}
		c, err := ParseCommit(r.Payload)
		if err != nil {
			return nil
		}
		holds, err := CommitHolds(file, r, c)
		if holds {
			good = r.End
		}
		return err
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return good, nil // cut off while we look: a writer recovers
	}
	return good, err
}
