package transcript

import (
	"bytes"
	"errors"
	"io"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/zeebo/blake3"
)

// edge is how many bytes at both ends of what is held are compared with the
// file, to see that it only grew. 64 KiB at each end cost about 0.1 ms.
const edge = 64 << 10

// Sum is the first half of a BLAKE3 hash.
type Sum [16]byte

func sum(b []byte) Sum {
	h := blake3.Sum256(b)
	return Sum(h[:16])
}

// Cursor says which bytes of a file are held. The zero Cursor holds none.
type Cursor struct {
	Offset int64 // bytes held
	Head   Sum   // of the first 64 KiB before Offset, or of all
	Tail   Sum   // of the last 64 KiB before Offset, or of all
}

// Change is how a file differs from what is held of it.
type Change uint8

const (
	Same      Change = iota // no complete line came
	Grown                   // lines were appended
	Rewritten               // what is held is not the file's beginning any more
	Missing                 // there is no file: an empty conversation
)

// Segment is a range of a file.
type Segment struct{ Offset, Length int64 }

// Plan is what has to be stored of a file.
type Plan struct {
	Change  Change
	Segment Segment // the new bytes; all of them after Rewritten

	head, tail []byte // the edges before the segment, as they were compared
}

// ChangeSince says how a transcript differs from what is held of it. It reads both edges of the file.
func ChangeSince(held Cursor, file string) (Change, error) {
	f, info, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return Missing, err
	}
	defer f.Close()
	plan, err := NewPlan(held, f, info.Size(), true)
	return plan.Change, err
}

// NewPlan compares what is held with a file of the given size. Lines are
// complete with their newline; of a file that is not made of lines (lines is
// false) all bytes count. It reads both edges and, from the end backwards, what
// may be a torn line.
func NewPlan(held Cursor, f io.ReaderAt, size int64, lines bool) (Plan, error) {
	if held.Offset > 0 && held.Offset <= size {
		n := min(held.Offset, edge)
		head, err := readAt(f, 0, n)
		if err != nil {
			return Plan{}, err
		}
		tail := head
		if held.Offset > n {
			if tail, err = readAt(f, held.Offset-n, n); err != nil {
				return Plan{}, err
			}
		}
		if sum(head) == held.Head && sum(tail) == held.Tail && (lines || size == held.Offset) {
			end, err := lastLine(f, held.Offset, size, lines)
			if err != nil {
				return Plan{}, err
			}
			p := Plan{Change: Grown, Segment: Segment{held.Offset, end - held.Offset}, head: head, tail: tail}
			if p.Segment.Length == 0 {
				p.Change = Same
			}
			return p, nil
		}
	}
	end, err := lastLine(f, 0, size, lines)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Change: Rewritten, Segment: Segment{0, end}}
	if held.Offset == 0 {
		p.Change = Grown
		if end == 0 {
			p.Change = Same
		}
	}
	return p, nil
}

// readAt reads n bytes, which are there unless the file shrinks meanwhile.
func readAt(f io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if m, err := f.ReadAt(b, at); int64(m) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

// lastLine finds the end of the last complete line between from and size.
func lastLine(f io.ReaderAt, from, size int64, lines bool) (int64, error) {
	if !lines {
		return size, nil
	}
	for end := size; end > from; {
		at := max(from, end-edge)
		b, err := readAt(f, at, end-at)
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		end = at
	}
	return from, nil
}

// edges follows a stream and keeps its first and last bytes. It is given the
// very bytes that go to the store, so that a file that is rewritten while it is
// read cannot give a cursor that fits neither.
type edges struct {
	total      int64
	head, tail []byte
}

func (p *Plan) edges() *edges {
	return &edges{total: p.Segment.Offset, head: bytes.Clone(p.head), tail: bytes.Clone(p.tail)}
}

func (e *edges) Write(b []byte) (int, error) {
	e.total += int64(len(b))
	if room := edge - len(e.head); room > 0 {
		e.head = append(e.head, b[:min(room, len(b))]...)
	}
	if len(b) >= edge {
		e.tail = append(e.tail[:0], b[len(b)-edge:]...)
		return len(b), nil
	}
	if over := len(e.tail) + len(b) - edge; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
	}
	e.tail = append(e.tail, b...)
	return len(b), nil
}

func (e *edges) cursor() Cursor {
	if e.total == 0 {
		return Cursor{}
	}
	return Cursor{Offset: e.total, Head: sum(e.head), Tail: sum(e.tail)}
}
