package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"pgregory.net/rapid"
)

func fileEntry(name string, content byte) Entry {
	return Entry{Name: name, Kind: File, Mode: 0o644, Size: uint64(content), ID: oid.ID{content, 1}}
}

func TestDirGolden(t *testing.T) {
	d := Dir{Entries: []Entry{
		{Name: "a", Kind: File, Mode: 0o644, Size: 300, ID: oid.ID{1}},
		{Name: "b", Kind: Symlink, Target: "a"},
		{Name: "c", Kind: Subdir, Mode: 0o755, Files: 2, Size: 9, ID: oid.ID{2}},
	}}
	id := func(first string) string { return first + strings.Repeat("\x00", 31) }
	want := "\xD1" +
		"\xa1\x1a" + "\x01a" + "\xac\x02" + id("\x01") + // 0644<<3|1
		"\x03" + "\x01b" + "\x01a" +
		"\xec\x1e" + "\x01c" + "\x02" + "\x09" + id("\x02")
	if got := string(d.Append(nil)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A directory with a marked entry has a format of its own, so that a program
// which does not know the mark refuses it; the others keep their bytes, and their ids.
func TestDirGoldenMarked(t *testing.T) {
	d := Dir{Entries: []Entry{
		{Name: ".env", Kind: File, Mode: 0o600, Size: 3, ID: oid.ID{1}, Precious: true},
		{Name: "a", Kind: File, Mode: 0o644, Size: 3, ID: oid.ID{2}},
	}}
	id := func(first string) string { return first + strings.Repeat("\x00", 31) }
	want := "\xD2" +
		"\x81\x98\x02" + "\x04.env" + "\x03" + id("\x01") + // (010000|0600)<<3|1
		"\xa1\x1a" + "\x01a" + "\x03" + id("\x02")
	if got := string(d.Append(nil)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, err := ParseDir([]byte(want)); err != nil || !slices.Equal(got.Entries, d.Entries) {
		t.Errorf("got %v, %v", got, err)
	}
	a, b := d.Entries[0], d.Entries[0]
	if b.Precious = false; !a.Alike(b) || differs(&a, &b) {
		t.Error("the mark alone is a change")
	}
}

func TestParseDirRefuses(t *testing.T) {
	good := func(entries ...Entry) string { return string(Dir{Entries: entries}.Append(nil)) }
	a, b := fileEntry("a", 1), fileEntry("b", 2)
	named := func(name string) string { return good(fileEntry(name, 1)) }
	with := func(change func(*Entry)) string { e := a; change(&e); return good(e) }
	for what, data := range map[string]string{
		"empty":             "",
		"another format":    "\xD2" + good(a)[1:],
		"mark unannounced":  "\xD1" + with(func(e *Entry) { e.Precious = true })[1:],
		"marked directory":  good(Entry{Name: "d", Kind: Subdir, Precious: true}),
		"unsorted":          good(b, a),
		"duplicate":         good(a, a),
		"name empty":        named(""),
		"name dot":          named("."),
		"name dot dot":      named(".."),
		"name slash":        named("x/y"),
		"name NUL":          named("x\x00"),
		"trailing byte":     good(a) + "\x00",
		"cut short":         good(a)[:len(good(a))-1],
		"kind 0":            with(func(e *Entry) { e.Kind = 0 }),
		"kind 5":            with(func(e *Entry) { e.Kind = 5 }),
		"mode beyond":       with(func(e *Entry) { e.Mode = 0o10000 }),
		"over-long varint":  strings.Replace(good(a), "\x01a\x01", "\x81\x00a\x01", 1),
		"name beyond input": "\xD1\xa1\x1a\xff\xff\xff\xff\x0fa",
		"link without":      good(Entry{Name: "l", Kind: Symlink}),
		"link target NUL":   good(Entry{Name: "l", Kind: Symlink, Target: "\x00"}),
		"link with mode":    good(Entry{Name: "l", Kind: Symlink, Mode: 1, Target: "x"}),
	} {
		_, err := ParseDir([]byte(data))
		var f *FormatError
		if !errors.As(err, &f) {
			t.Errorf("%s: got error %v, want a FormatError", what, err)
		}
	}
}

// Hostile numbers must not allocate: a few bytes that claim the world.
func TestParseDirMemory(t *testing.T) {
	data := []byte("\xD1\xa1\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
	if n := testing.AllocsPerRun(10, func() { ParseDir(data) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

// An edit of one entry changes the bytes of that entry alone.
func TestDirIsDeltaFriendly(t *testing.T) {
	var d Dir
	for i := range 300 {
		d.Entries = append(d.Entries, fileEntry(fmt.Sprintf("file%03d.go", i), byte(i)))
	}
	before := d.Append(nil)
	d.Entries[150].ID = oid.ID{0xEE, 0xFF}
	d.Entries[150].Size++
	after := d.Append(nil)
	if len(before) != len(after) {
		t.Fatalf("%d bytes became %d", len(before), len(after))
	}
	first, last := 0, len(before)-1
	for before[first] == after[first] {
		first++
	}
	for before[last] == after[last] {
		last--
	}
	if n := last - first + 1; n > 34 {
		t.Errorf("%d bytes differ", n)
	}
}

var names = rapid.StringMatching(`[a-c.]{1,3}`).Filter(func(s string) bool { return s != "." && s != ".." })

func entries() *rapid.Generator[Entry] {
	return rapid.Custom(func(t *rapid.T) Entry {
		e := Entry{Name: rapid.OneOf(names, rapid.StringN(1, 8, 300)).Filter(func(s string) bool {
			return s != "." && s != ".." && s != "" && !strings.ContainsAny(s, "/\x00")
		}).Draw(t, "name")}
		e.Kind = Kind(rapid.IntRange(1, 4).Draw(t, "kind"))
		e.Precious = e.Kind != Subdir && rapid.Bool().Draw(t, "precious")
		if e.Kind == Symlink {
			e.Target = rapid.StringMatching(`[a-z/.]{1,9}`).Draw(t, "target")
			return e
		}
		e.Mode = rapid.Uint32Range(0, 0o7777).Draw(t, "mode")
		e.Size = rapid.Uint64().Draw(t, "size")
		if e.Kind == Subdir {
			e.Files = rapid.Uint64().Draw(t, "files")
		}
		copy(e.ID[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "id"))
		return e
	})
}

func TestDirRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		byName := map[string]Entry{}
		for _, e := range rapid.SliceOf(entries()).Draw(t, "entries") {
			byName[e.Name] = e
		}
		var d Dir
		for _, e := range byName {
			d.Entries = append(d.Entries, e)
		}
		slices.SortFunc(d.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		got, err := ParseDir(d.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Entries, d.Entries) {
			t.Fatalf("got %v, want %v", got, d)
		}
		for name, want := range byName {
			if e, ok := got.Lookup(name); !ok || e != want {
				t.Fatalf("Lookup(%q) is %v, %v", name, e, ok)
			}
		}
		if _, ok := got.Lookup("\xff no such name"); ok {
			t.Fatal("found what is not there")
		}
	})
}

func FuzzParseDir(f *testing.F) {
	f.Add([]byte{dirFormat})
	f.Add(Dir{Entries: []Entry{{Name: "a", Kind: File, Precious: true}}}.Append(nil))
	f.Add(Dir{Entries: []Entry{fileEntry("a", 1), {Name: "b", Kind: Symlink, Target: "a"},
		{Name: "c", Kind: Subdir, Mode: 0o755, Files: 2, Size: 9, ID: oid.ID{2}}}}.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDir(data)
		if err != nil {
			return
		}
		if err := d.Check(); err != nil {
			t.Errorf("parsed, but: %v", err)
		}
		if got := d.Append(nil); !bytes.Equal(got, data) {
			t.Errorf("%x is not canonical: becomes %x", data, got)
		}
	})
}
