package ignore_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/ignore"
)

func anyConfig(t *rapid.T) ignore.Config {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab*?[]!/#\\ \n\x00é")))
	c := ignore.Config{
		Ignore:         rapid.SliceOfN(text, 0, 4).Draw(t, "ignore"),
		ForceInclude:   rapid.SliceOfN(text, 0, 4).Draw(t, "force"),
		NoIgnore:       rapid.IntRange(0, 9).Draw(t, "no") == 0,
		Precious:       rapid.SliceOfN(text, 0, 4).Draw(t, "precious"),
		CaptureIgnored: rapid.SampledFrom([]string{"", "none", "small", "all", "precious"}).Draw(t, "capture"),
		StorePath:      rapid.SampledFrom([]string{"", ".agent/rewind", "a"}).Draw(t, "store"),
		AccountPath:    rapid.SampledFrom([]string{"", ".rewind", "a/.rewind"}).Draw(t, "account"),
		SessionPaths:   rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a/b", "b/ab*"}), 0, 2).Draw(t, "sessions"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "sources") {
		c.Exclude = append(c.Exclude, ignore.Source{
			Name: text.Draw(t, "name"), Text: []byte(text.Draw(t, "text")), Own: rapid.Bool().Draw(t, "own"),
			Below: rapid.SampledFrom([]string{"", "b/", "a/b/"}).Draw(t, "below"),
		})
	}
	return c
}

// Decoded rules decide as those that were encoded, and encode to the same bytes.
func TestEncodeKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := ignore.Compile(anyConfig(t))
		if err != nil {
			t.Fatal(err)
		}
		data := r.Encode()
		back, err := ignore.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(back.Encode(), data) || back.Hash() != r.Hash() {
			t.Fatal("encoded differently")
		}
		tree := files{".gitignore": "a\n!b\n", "a/.gitignore": "*\n", "b/.rewindignore": "!a\n"}
		part := rapid.SampledFrom([]string{"a", "b", "ab", "aé", "a b", "[", ".git", "node_modules", ".agent", "rewind"})
		for range 10 {
			path := strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path"), "/")
			dir := rapid.Bool().Draw(t, "dir")
			d1, l1 := r.Decide(path, dir, tree.read)
			d2, l2 := back.Decide(path, dir, tree.read)
			if d1 != d2 || l1 != l2 {
				t.Fatalf("%q: %v %q, decoded: %v %q", path, d1, l1, d2, l2)
			}
		}
	})
}

// The rules of a checkpoint from before the agents' directories were captured keep
// them out: what such a checkpoint does not hold is not deleted for that.
func TestRulesOfVersion1(t *testing.T) {
	data := append([]byte{1, 0, 0, 13}, ".agent/rewind\x00\x00\x00"...)
	r, err := ignore.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.Encode(), data) {
		t.Errorf("encodes to %q", r.Encode())
	}
	check(t, r, files{".gitignore": ".env\n"}, decisions{
		ignore.Skip:    ".agent/ .agent/x .claude/ .claude/settings.json .factory/x .pi/x .env",
		ignore.Capture: ".codex/x sub/.claude/x .claude x",
	})
	if _, err := ignore.Decode([]byte{1, 0, 3, 0, 0, 0, 0}); err == nil {
		t.Error("a value that version 1 does not have")
	}
}

// What parses marshals to the same bytes; nothing panics.
func FuzzDecode(f *testing.F) {
	for _, c := range []ignore.Config{
		{}, {NoIgnore: true, CaptureIgnored: "all"},
		{Ignore: []string{"*.o", "!a"}, ForceInclude: []string{"/x/**"}, StorePath: ".agent/rewind", Exclude: []ignore.Source{
			{Name: "core.excludesFile", Text: []byte("a\nb\n"), Below: "a/"}, {Name: "own", Text: []byte("c\r\n"), Own: true}}},
	} {
		r, err := ignore.Compile(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(r.Encode())
	}
	f.Add([]byte{1, 0, 2, 0, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0x80, 0, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ignore.Decode(data)
		if err != nil {
			var d *ignore.DecodeError
			var c *ignore.ConfigError
			if !errors.As(err, &d) && !errors.As(err, &c) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if again := r.Encode(); !bytes.Equal(again, data) {
			t.Fatalf("%x encodes to %x", data, again)
		}
	})
}

// Any bytes are a rule file, and any bytes a path.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("*.o\n!a.o\n/b/**/c\n[[:alpha:]-z]\n"), []byte("[!a\n"), "a/b/c.o")
	f.Add([]byte("\xef\xbb\xbf\\\n\\ \n**\n!**/\n"), []byte("a\r\n\x00"), "b/\xff//")
	f.Add([]byte("[[:\n[[:]\n[a-\n[\\"), []byte("**/**/**"), "[[:/]")
	f.Fuzz(func(t *testing.T, root, inner []byte, path string) {
		r, err := ignore.Compile(ignore.Config{
			Ignore: []string{string(inner)}, ForceInclude: []string{string(root)}, CaptureIgnored: "precious", Precious: []string{string(inner)},
			Exclude: []ignore.Source{{Text: inner, Below: "x/"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		read := func(name string) []byte {
			if name == ".gitignore" {
				return root
			}
			return inner
		}
		for _, dir := range []bool{false, true} {
			d, _ := r.Decide(path, dir, read)
			if d > ignore.Marked || d == ignore.Descend && !dir {
				t.Fatalf("decision %d of %q", d, path)
			}
		}
	})
}
