package transcript

import (
	"fmt"
	"io"

	"github.com/rewind-cli/rewind/cas/oid"
)

// maxObject bounds list and side objects when they are read: the longest
// canonical ones are 400 bytes and 4 MiB.
const maxObject = 8 << 20

func readObject(s Store, id oid.ID) ([]byte, error) {
	r, err := s.Get(id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxObject+1))
	if err == nil && len(b) > maxObject {
		err = &DamagedError{id, "list too long"}
	}
	return b, err
}

// readList reads one list; nil for the zero ID.
func readList(s Store, id oid.ID) (*List, error) {
	return readParsed(s, id, ParseList)
}

func readSides(s Store, id oid.ID) ([]sideState, error) {
	return readParsed(s, id, parseSides)
}

func readParsed[T any](s Store, id oid.ID, parse func([]byte) (T, error)) (v T, err error) {
	if id == (oid.ID{}) {
		return v, nil
	}
	b, err := readObject(s, id)
	if err != nil {
		return v, err
	}
	v, err = parse(b)
	if d, ok := err.(*DamagedError); ok {
		d.ID = id
	}
	return v, err
}

type listAt struct {
	id   oid.ID
	list *List
}

// readChain reads a list and those before it, newest first. It ends: every
// parent holds fewer bytes than its child.
func readChain(s Store, id oid.ID) ([]listAt, error) {
	var chain []listAt
	for id != (oid.ID{}) {
		l, err := readList(s, id)
		if err != nil {
			return nil, err
		}
		if n := len(chain); n > 0 && l.Cursor.Offset != chain[n-1].list.Before {
			return nil, &DamagedError{id, "does not have the number of bytes that its successor says"}
		}
		chain = append(chain, listAt{id, l})
		id = l.Parent
	}
	return chain, nil
}

// Held is a stored conversation.
type Held struct {
	Size  int64 // bytes of the transcript
	Sides []HeldSide

	store    Store
	segments []Entry
}

// HeldSide is a stored side file.
type HeldSide struct {
	Name    string // relative to the transcript's directory, with /
	Content oid.ID // to be given to Open
}

// Open reads the lists of a stored conversation. The zero ID is an empty one.
// Errors: *DamagedError and the store's.
func Open(s Store, content oid.ID) (*Held, error) {
	chain, err := readChain(s, content)
	if err != nil {
		return nil, err
	}
	h := &Held{store: s}
	for i := len(chain) - 1; i >= 0; i-- {
		h.segments = append(h.segments, chain[i].list.Entries...)
	}
	if len(chain) == 0 {
		return h, nil
	}
	h.Size = chain[0].list.Cursor.Offset
	sides, err := readSides(s, chain[0].list.Sides)
	if err != nil {
		return nil, err
	}
	for _, st := range sides {
		h.Sides = append(h.Sides, HeldSide{st.Name, st.Content})
	}
	return h, nil
}

// Reader gives the transcript's bytes. It opens one segment at a time.
func (h *Held) Reader() io.ReadCloser { return &heldReader{h: h} }

type heldReader struct {
	h    *Held
	next int
	left int64
	cur  io.ReadCloser
}

func (r *heldReader) Read(b []byte) (int, error) {
	for len(b) > 0 {
		if r.cur == nil {
			if r.next == len(r.h.segments) {
				return 0, io.EOF
			}
			e := r.h.segments[r.next]
			cur, err := r.h.store.Get(e.ID)
			if err != nil {
				return 0, err
			}
			r.cur, r.left = cur, e.Length
			r.next++
		}
		n, err := r.cur.Read(b[:min(int64(len(b)), r.left+1)])
		if r.left -= int64(n); r.left < 0 {
			return 0, r.damaged("is longer than its list says")
		}
		if err == io.EOF {
			if r.left > 0 {
				return n, r.damaged("is shorter than its list says")
			}
			err = r.cur.Close()
			r.cur = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

func (r *heldReader) damaged(reason string) error {
	return &DamagedError{r.h.segments[r.next-1].ID, fmt.Sprintf("segment %d %s", r.next-1, reason)}
}

func (r *heldReader) Close() error {
	r.next = len(r.h.segments)
	if r.cur == nil {
		return nil
	}
	err := r.cur.Close()
	r.cur = nil
	return err
}

// Walk visits every object that a stored conversation consists of: lists,
// segments, the side files and theirs. visit reports whether to go on below an
// object that it sees; a gc that has seen a list before says false.
func Walk(s Store, content oid.ID, visit func(id oid.ID) (descend bool, err error)) error {
	return walk(s, content, true, visit)
}

// walk visits the side files of older lists too, although Open reads only the
// newest list's: an older list may be the newest one of another checkpoint.
func walk(s Store, content oid.ID, sides bool, visit func(oid.ID) (bool, error)) error {
	for content != (oid.ID{}) {
		down, err := visit(content)
		if err != nil || !down {
			return err
		}
		l, err := readList(s, content)
		if err != nil {
			return err
		}
		for _, e := range l.Entries {
			if _, err := visit(e.ID); err != nil {
				return err
			}
		}
		if sides && l.Sides != (oid.ID{}) {
			if err := walkSides(s, l.Sides, visit); err != nil {
				return err
			}
		}
		content = l.Parent
	}
	return nil
}

func walkSides(s Store, id oid.ID, visit func(oid.ID) (bool, error)) error {
	down, err := visit(id)
	if err != nil || !down {
		return err
	}
	states, err := readSides(s, id)
	if err != nil {
		return err
	}
	for _, st := range states {
		if err := walk(s, st.Content, false, visit); err != nil {
			return err
		}
	}
	return nil
}
