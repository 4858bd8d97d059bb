package pathspec_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

func TestPatterns(t *testing.T) {
	l := newLab(t)
	l.Write("old/[x]", "in the old checkpoint only")
	old := l.Init()
	l.Remove("old")
	l.Write("new/[x]", "in the new one only")
	newest := l.Save()
	l.Remove("new")
	for _, path := range []string{"app/[id]/a", "app/i/a", "*", "back\\slash", "[", "a[", "bad\xff[1]"} {
		l.Write(path, "x")
	}
	both := []manifest.Checkpoint{old.Checkpoint, newest.Checkpoint}
	for _, c := range []struct {
		arg  pathspec.PathArg
		glob bool
		in   []manifest.Checkpoint
		want string
	}{
		{arg: pathspec.PathArg{Path: ""}, want: "[]"},
		{arg: pathspec.PathArg{Path: "plain/nowhere", Deep: true}, want: `["plain/nowhere"]`},
		{arg: pathspec.PathArg{Path: "app/[id]"}, want: `["app/\\[id]"]`},
		{arg: pathspec.PathArg{Path: "app/[id]/a"}, want: `["app/\\[id]/a"]`},
		{arg: pathspec.PathArg{Path: "app/[id]/*"}, want: `["app/\\[id]/*"]`},
		{arg: pathspec.PathArg{Path: "app/[id]/*", Deep: true, Fixed: 2}, want: `["app/\\[id]/**/*"]`},
		{arg: pathspec.PathArg{Path: "app/[id]"}, glob: true, want: `["app/[id]"]`},
		{arg: pathspec.PathArg{Path: "app/[id]/[ab]", Fixed: 2}, glob: true, want: `["app/\\[id]/[ab]"]`},
		{arg: pathspec.PathArg{Path: "*", Deep: true}, want: `["\\*"]`},
		{arg: pathspec.PathArg{Path: "*", Deep: true}, glob: true, want: `["**/*"]`},
		{arg: pathspec.PathArg{Path: "*.md", Deep: true}, want: `["**/*.md"]`},
		{arg: pathspec.PathArg{Path: "*.md"}, want: `["*.md"]`},
		{arg: pathspec.PathArg{Path: "back\\slash"}, want: `["back\\\\slash"]`},
		{arg: pathspec.PathArg{Path: "["}, want: `["\\["]`},
		{arg: pathspec.PathArg{Path: "b["}, want: `["b\\["]`}, // no glob, though there is none
		{arg: pathspec.PathArg{Path: "bad\xff[1]"}, want: `["bad\xff\\[1]"]`},
		{arg: pathspec.PathArg{Path: "old/[x]"}, want: `["old/\\[x]"]`},
		{arg: pathspec.PathArg{Path: "old/[x]"}, in: both, want: `["old/\\[x]"]`},
		{arg: pathspec.PathArg{Path: "new/[x]"}, in: both, want: `["new/\\[x]"]`},
		{arg: pathspec.PathArg{Path: "old/[x]"}, in: both[1:], want: `["old/[x]"]`},
		{arg: pathspec.PathArg{Path: "nowhere/[x]"}, want: `["nowhere/[x]"]`},
	} {
		l.Do(func(ctx context.Context, p *project.Project) error {
			got, err := pathspec.Patterns(ctx, p, []pathspec.PathArg{c.arg}, pathspec.PatternOptions{Glob: c.glob, Checkpoints: c.in})
			if fmt.Sprintf("%q", got) != c.want {
				t.Errorf("%+v, glob %v, in %d: %q", c.arg, c.glob, len(c.in), got)
			}
			return err
		})
	}
}

// A pattern made of a name matches that name only, whatever bytes it has.
func FuzzEscapeGlob(f *testing.F) {
	for _, name := range []string{"a", "[id]", "*", "\\", "a\\*b", "[", "]", "[!a]", "**", "{a,b}", "-x", "bad\xff", "new\nline", "?"} {
		f.Add(name, "i")
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return
		}
		s, err := pathspec.Select([]string{"d/" + pathspec.EscapeGlob(name)})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Match("d/"+name) || !s.Match("d/"+name+"/below") || other != name && !strings.Contains(other, "/") && s.Match("d/"+other) {
			t.Errorf("%q: %q", name, pathspec.EscapeGlob(name))
		}
		if plain, ok := pathspec.PlainPath(pathspec.EscapeGlob(name)); !ok || plain != name {
			t.Errorf("%q comes back as %q", name, plain)
		}
		if !slices.Equal(s.Patterns[0], []string{"d", pathspec.EscapeGlob(name)}) {
			t.Errorf("%q is cut", name)
		}
	})
}
