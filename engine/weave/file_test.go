package weave

import (
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/manifest"
)

// entry reads "644:abc" as a text with a line per letter, "644!x" as a file that is no text, ">x" as a link,
// "/" as a directory, and "-" as nothing.
func entry(s string) Version {
	id := func(s string) (id oid.ID) { copy(id[:], s); return id }
	mode := func(s string) (m uint32) {
		for _, c := range s {
			m = m<<3 | uint32(c-'0')
		}
		return m
	}
	switch {
	case s == "-":
		return Version{}
	case s == "/":
		return Version{Entry: &manifest.Entry{Kind: manifest.Subdir, Mode: 0o755}}
	case s[0] == '>':
		return Version{Entry: &manifest.Entry{Kind: manifest.Symlink, Target: s[1:]}}
	case s[3] == '!':
		return Version{Entry: &manifest.Entry{Kind: manifest.File, Mode: mode(s[:3]), ID: id(s[4:]), Size: uint64(len(s))}}
	}
	return Version{Entry: &manifest.Entry{Kind: manifest.File, Mode: mode(s[:3]), ID: id("text" + s[4:]), Size: uint64(len(s))}, Text: true, Lines: letters(s[4:])}
}

func TestIsText(t *testing.T) {
	for text, want := range map[string]bool{"": true, "a\r\nb": true, "\xff\xfe": true, "a\x00": false} {
		if IsText([]byte(text)) != want {
			t.Errorf("%q", text)
		}
	}
	if IsText(make([]byte, MaxText+1)) {
		t.Error("too large")
	}
}

func TestRenames(t *testing.T) {
	file := func(path, id, text string) Moved {
		v := entry("644:" + text)
		v.Entry.ID = entry("644!" + id).Entry.ID
		return Moved{path, *v.Entry, v.Lines}
	}
	for _, c := range []struct {
		name       string
		went, came []Moved
		want       []Rename
	}{
		{name: "none"},
		{"the same", []Moved{file("a", "1", "x")}, []Moved{file("b", "1", "x")}, []Rename{{0, 0}}},
		{"another", []Moved{file("a", "1", "abc")}, []Moved{file("b", "2", "xyz")}, nil},
		{"60 percent", []Moved{file("a", "1", "abcde")}, []Moved{file("b", "2", "abcxy")}, []Rename{{0, 0}}},
		{"40 percent", []Moved{file("a", "1", "abcde")}, []Moved{file("b", "2", "abxyz")}, nil},
		{"of the longer", []Moved{file("a", "1", "abc")}, []Moved{file("b", "2", "abcxyzuvw")}, nil},
		{"twins by name", []Moved{file("d/a", "1", "x"), file("d/b", "1", "x")}, []Moved{file("e/b", "1", "x"), file("e/a", "1", "x")}, []Rename{{1, 0}, {0, 1}}},
		{"the most alike", []Moved{file("a", "1", "abcdefghij"), file("b", "2", "abcdefghiX")}, []Moved{file("c", "3", "abcdefghiXY")}, []Rename{{1, 0}}},
		{"one for two", []Moved{file("a", "1", "x")}, []Moved{file("b", "1", "x"), file("c", "1", "x")}, []Rename{{0, 0}}},
		{"a link", []Moved{{"a", *entry(">x").Entry, nil}}, []Moved{{"b", *entry(">x").Entry, nil}}, []Rename{{0, 0}}},
		{"an empty file", []Moved{{"a", manifest.Entry{Kind: manifest.File}, linediff.Lines("")}}, []Moved{{"b", manifest.Entry{Kind: manifest.File}, nil}}, nil},
	} {
		if got := Renames(c.went, c.came); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
