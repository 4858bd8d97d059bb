package weave

import (
	"slices"
	"strings"
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

func show(e *manifest.Entry, lines []string, merged bool) string {
	switch {
	case e == nil:
		return "-"
	case e.Kind == manifest.Subdir:
		return "/"
	case e.Kind == manifest.Symlink:
		return ">" + e.Target
	}
	var b strings.Builder
	for i := 6; i >= 0; i -= 3 {
		b.WriteByte('0' + byte(e.Mode>>i&7))
	}
	if merged {
		return b.String() + ":" + joined(lines)
	}
	content := strings.TrimRight(string(e.ID[:]), "\x00")
	if text, ok := strings.CutPrefix(content, "text"); ok {
		return b.String() + ":" + text
	}
	return b.String() + "!" + content
}

func TestFileWithout(t *testing.T) {
	for _, c := range []struct {
		name     string
		versions string
		own      []int
		want     string
		reason   Reason
		undo     string // with conflicts of the path undone
		blocks   int    // in conflict
	}{
		{name: "nothing own", versions: "644:a 644:b", want: "644:b"},
		{name: "text", versions: "644:abc 644:aXc 644:aXcd", own: []int{1}, want: "644:abcd"},
		{name: "mode, and others the content", versions: "644:abc 755:abc 755:abd", own: []int{1}, want: "644:abd"},
		{name: "content, and others the mode", versions: "644:abc 644:aXc 755:aXc", own: []int{1}, want: "755:abc"},
		{name: "mode, and others too", versions: "644:abc 755:abc 600:abc", own: []int{1}, want: "600:abc"},
		{name: "mode twice", versions: "644:a 755:a 600:a 777:a", own: []int{1, 3}, want: "600:a"},
		{name: "created", versions: "- 644:abc", own: []int{1}, want: "-"},
		{name: "created in several steps", versions: "- 644:abc 644:abd 755:abd", own: []int{1, 2, 3}, want: "-"},
		{name: "created, others added", versions: "- 644:abc 644:abcd", own: []int{1}, want: "644:abcd", reason: Created, undo: "-"},
		{name: "created, others changed", versions: "- 644:abc 644:aXc", own: []int{1}, want: "644:aXc", reason: Created, undo: "-"},
		{name: "created, others changed and took it back", versions: "- 644:abc 644:abcX 644:abc", own: []int{1}, want: "-"},
		{name: "created, others changed the mode", versions: "- 644:abc 755:abc", own: []int{1}, want: "755:abc", reason: Created, undo: "-"},
		{name: "created, others deleted", versions: "- 644:abc -", own: []int{1}, want: "-"},
		{name: "created, others deleted, and created again", versions: "- 644:abc - 644:xyz", own: []int{1}, want: "644:xyz"},
		{name: "created, no text, others changed", versions: "- 644!a 644!b", own: []int{1}, want: "644!b", reason: Created, undo: "-"},
		{name: "deleted", versions: "644:abc -", own: []int{1}, want: "644:abc"},
		{name: "changed, then deleted", versions: "644:abc 644:aXc -", own: []int{1, 2}, want: "644:abc"},
		{name: "deleted what others had changed", versions: "644:abc 644:aXc -", own: []int{2}, want: "644:aXc"},
		{name: "changed, others deleted", versions: "644:abc 644:aXc -", own: []int{1}, want: "-"},
		{name: "deleted, others recreated", versions: "644:abc - 644:xyz", own: []int{1}, want: "644:xyz", blocks: 1},
		{name: "deleted, others recreated the same", versions: "644:abc - 644:abc", own: []int{1}, want: "644:abc"},
		{name: "deleted, no text, others recreated", versions: "644!a - 644!b", own: []int{1}, want: "644!b", reason: Recreated, undo: "644!a"},
		{name: "deleted, others made a link", versions: "644:a - >x", own: []int{1}, want: ">x", reason: Recreated, undo: "644:a"},
		{name: "deleted, own recreated", versions: "644!a - 644!b", own: []int{1, 2}, want: "644!a"},
		{name: "no text", versions: "644!a 644!b", own: []int{1}, want: "644!a"},
		{name: "no text, others before", versions: "644!a 644!b 644!c", own: []int{2}, want: "644!b"},
		{name: "no text, others since", versions: "644!a 644!b 644!c", own: []int{1}, want: "644!c", reason: Changed, undo: "644!a"},
		{name: "no text, others in between", versions: "644!a 644!b 644!c 644!d", own: []int{1, 3}, want: "644!d", reason: Changed, undo: "644!a"},
		{name: "no text, others the mode", versions: "644!a 644!b 755!b", own: []int{1}, want: "755!a"},
		{name: "no text, others since, own mode", versions: "644!a 755!b 755!c", own: []int{1}, want: "644!c", reason: Changed, undo: "644!a"},
		{name: "no text, others went back", versions: "644!a 644!b 644!a", own: []int{1}, want: "644!a"},
		{name: "became text with others", versions: "644!a 644:abc 644:abd", own: []int{2}, want: "644:abc"},
		{name: "became text by own step", versions: "644!a 644:abc 644:abd", own: []int{1}, want: "644:abd", reason: Changed, undo: "644!a"},
		{name: "is no text since", versions: "644:abc 644:abd 644!x", own: []int{1}, want: "644!x", reason: Changed, undo: "644:abc"},
		{name: "link", versions: ">a >b", own: []int{1}, want: ">a"},
		{name: "link, others since", versions: ">a >b >c", own: []int{1}, want: ">c"},
		{name: "file became a link", versions: "644:a >b", own: []int{1}, want: "644:a"},
		{name: "file became a link, others changed that", versions: "644:a >b >c", own: []int{1}, want: ">c", reason: Created, undo: "644:a"},
		{name: "others made a link of it", versions: "644:a 644:b >c", own: []int{1}, want: ">c"},
		{name: "file became a directory", versions: "644:a /", own: []int{1}, want: "644:a"},
		{name: "a restore brought it back", versions: "- 644!a - 644!a", own: []int{1}, want: "-"},
		{name: "the restore", versions: "644!a 644!b 644!a", own: []int{2}, want: "644!b"},
		{name: "chmod there and back", versions: "644:a 755:a 644:a 755:a", own: []int{1}, want: "755:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f *File
			for i, s := range strings.Fields(c.versions) {
				v := entry(s)
				v.Step = i
				if f == nil {
					f = NewFile(v)
				} else {
					f.Add(v)
				}
			}
			is := func(s int) bool { return slices.Contains(c.own, s) }
			r := f.Without(is, FileOptions{})
			if got := show(r.Entry, r.Text.Lines, r.Merged); got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
			var reason Reason
			if r.Conflict != nil {
				reason = r.Conflict.Reason
				if len(r.Conflict.Own) == 0 || len(r.Conflict.Foreign) == 0 {
					t.Errorf("%+v", r.Conflict)
				}
			}
			if reason != c.reason || r.Text.Conflicts() != c.blocks {
				t.Errorf("reason %d, not %d; blocks %+v", reason, c.reason, r.Text.Blocks)
			}
			if c.undo == "" {
				c.undo = c.want
			}
			r = f.Without(is, FileOptions{ChoosePath: func(PathConflict) Choice { return Undo }})
			if got := show(r.Entry, r.Text.Lines, r.Merged); got != c.undo {
				t.Errorf("undone: %s, not %s", got, c.undo)
			}
		})
	}
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
