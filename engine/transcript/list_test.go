package transcript

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// A segment that is not as long as its list says is noticed, not passed on.
func TestHeldWrongLength(t *testing.T) {
	for _, length := range []int64{4, 6} {
		m := newMemory()
		seg, _, _ := m.Put(strings.NewReader("12345"))
		more, _, _ := m.Put(strings.NewReader("rest"))
		l := List{Entries: []Entry{{seg, length}, {more, 4}}}
		id, _, _ := m.Put(bytes.NewReader(l.Append(nil)))
		h, err := Open(m, id)
		if err != nil {
			t.Fatal(err)
		}
		r := h.Reader()
		var damaged *DamagedError
		if _, err := io.ReadAll(r); !errors.As(err, &damaged) || damaged.ID != seg {
			t.Errorf("length %d for 5 bytes: %v", length, err)
		}
		r.Close()
	}
	// A list whose parent holds another number of bytes.
	m := newMemory()
	seg, _, _ := m.Put(strings.NewReader("12345"))
	first := List{Entries: []Entry{{seg, 5}}}
	parent, _, _ := m.Put(bytes.NewReader(first.Append(nil)))
	second := List{Parent: parent, Before: 6, Entries: []Entry{{seg, 5}}}
	id, _, _ := m.Put(bytes.NewReader(second.Append(nil)))
	if _, err := Open(m, id); !errors.As(err, new(*DamagedError)) {
		t.Errorf("wrong parent: %v", err)
	}
}

func FuzzParseList(f *testing.F) {
	one := List{Entries: []Entry{{oid.ID{1}, 5}}, Cursor: Cursor{Offset: 5, Head: Sum{2}, Tail: Sum{3}}}
	two := List{Parent: oid.ID{4}, Before: 1 << 40, Entries: []Entry{{oid.ID{1}, 5}, {oid.ID{9}, 300}}, Cursor: Cursor{Head: Sum{2}}, Sides: oid.ID{7}}
	only := List{Sides: oid.ID{7}}
	for _, l := range []List{one, two, only} {
		f.Add(l.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseList(data)
		if err != nil {
			return
		}
		if !bytes.Equal(l.Append(nil), data) {
			t.Fatalf("%x parses to %+v, which is %x", data, l, l.Append(nil))
		}
	})
}

func FuzzParseSides(f *testing.F) {
	f.Add(appendSides(nil, []sideState{{"a/b.jsonl", oid.ID{1}, 5, 6}}))
	f.Add(appendSides(nil, []sideState{{"a", oid.ID{1}, 0, 0}, {"b", oid.ID{}, 1 << 50, 1 << 60}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseSides(data)
		if err == nil && !bytes.Equal(appendSides(nil, s), data) {
			t.Fatalf("%x parses to %+v, which is %x", data, s, appendSides(nil, s))
		}
	})
}

func TestSideNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "a/b/c.jsonl": true, "": false, "/a": false, "a/": false, "a//b": false, "..": false, "a/../b": false, "./a": false, "a\\b": false, "a\x00": false, "a\xff": false,
	} {
		if validSide(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}
