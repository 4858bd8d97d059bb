package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"rewind/manifest"
)

// patterns turns paths below the root into what Restore and the others take.
func (l *lab) patterns(paths []string, o PatternOptions) (out []string) {
	l.t.Helper()
	var args []PathArg
	for _, p := range paths {
		if p = path.Clean(p); p == "." {
			p = ""
		}
		args = append(args, PathArg{Path: p})
	}
	l.do(func(ctx context.Context, p *Project) (err error) {
		out, err = p.Patterns(ctx, args, o)
		return err
	})
	return out
}

func TestPatterns(t *testing.T) {
	l := newLab(t)
	l.write("old/[x]", "in the old checkpoint only")
	old := l.init()
	l.remove("old")
	l.write("new/[x]", "in the new one only")
	newest := l.save()
	l.remove("new")
	for _, path := range []string{"app/[id]/a", "app/i/a", "*", "back\\slash", "[", "a[", "bad\xff[1]"} {
		l.write(path, "x")
	}
	both := []manifest.Checkpoint{old.Checkpoint, newest.Checkpoint}
	for _, c := range []struct {
		arg  PathArg
		glob bool
		in   []manifest.Checkpoint
		want string
	}{
		{arg: PathArg{Path: ""}, want: "[]"},
		{arg: PathArg{Path: "plain/nowhere", Deep: true}, want: `["plain/nowhere"]`},
		{arg: PathArg{Path: "app/[id]"}, want: `["app/\\[id]"]`},
		{arg: PathArg{Path: "app/[id]/a"}, want: `["app/\\[id]/a"]`},
		{arg: PathArg{Path: "app/[id]/*"}, want: `["app/\\[id]/*"]`},
		{arg: PathArg{Path: "app/[id]/*", Deep: true, Fixed: 2}, want: `["app/\\[id]/**/*"]`},
		{arg: PathArg{Path: "app/[id]"}, glob: true, want: `["app/[id]"]`},
		{arg: PathArg{Path: "app/[id]/[ab]", Fixed: 2}, glob: true, want: `["app/\\[id]/[ab]"]`},
		{arg: PathArg{Path: "*", Deep: true}, want: `["\\*"]`},
		{arg: PathArg{Path: "*", Deep: true}, glob: true, want: `["**/*"]`},
		{arg: PathArg{Path: "*.md", Deep: true}, want: `["**/*.md"]`},
		{arg: PathArg{Path: "*.md"}, want: `["*.md"]`},
		{arg: PathArg{Path: "back\\slash"}, want: `["back\\\\slash"]`},
		{arg: PathArg{Path: "["}, want: `["\\["]`},
		{arg: PathArg{Path: "b["}, want: `["b\\["]`}, // no glob, though there is none
		{arg: PathArg{Path: "bad\xff[1]"}, want: `["bad\xff\\[1]"]`},
		{arg: PathArg{Path: "old/[x]"}, want: `["old/\\[x]"]`},
		{arg: PathArg{Path: "old/[x]"}, in: both, want: `["old/\\[x]"]`},
		{arg: PathArg{Path: "new/[x]"}, in: both, want: `["new/\\[x]"]`},
		{arg: PathArg{Path: "old/[x]"}, in: both[1:], want: `["old/[x]"]`},
		{arg: PathArg{Path: "nowhere/[x]"}, want: `["nowhere/[x]"]`},
	} {
		l.do(func(ctx context.Context, p *Project) error {
			got, err := p.Patterns(ctx, []PathArg{c.arg}, PatternOptions{Glob: c.glob, Checkpoints: c.in})
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
		s, err := selectPaths([]string{"d/" + escapeGlob(name)})
		if err != nil {
			t.Fatal(err)
		}
		if !s.match("d/"+name) || !s.match("d/"+name+"/below") || other != name && !strings.Contains(other, "/") && s.match("d/"+other) {
			t.Errorf("%q: %q", name, escapeGlob(name))
		}
		if plain, ok := plainPath(escapeGlob(name)); !ok || plain != name {
			t.Errorf("%q comes back as %q", name, plain)
		}
		if !slices.Equal(s.patterns[0], []string{"d", escapeGlob(name)}) {
			t.Errorf("%q is cut", name)
		}
	})
}
