package inspect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
)

// steps writes a history as words: the kind, and where it came from or went.
func (l *lab) steps(o inspect.HistoryOptions) (words string, err error) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		var h *inspect.PathHistory
		if h, err = inspect.History(ctx, p, o); err != nil {
			return nil
		}
		var out []string
		if h.Step != nil {
			out = append(out, "@"+describeStep(h.Step))
		}
		for i := range h.Steps {
			out = append(out, describeStep(&h.Steps[i]))
		}
		if h.More {
			out = append(out, "…")
		}
		words = strings.Join(out, ", ")
		return nil
	})
	return words, err
}

func describeStep(s *inspect.Step) string {
	switch {
	case s.From != "":
		return fmt.Sprintf("%s<%s", s.What, s.From)
	case s.To != "":
		return fmt.Sprintf("%s>%s", s.What, s.To)
	}
	return string(s.What)
}

// numbered is a text of n lines that no other name's text shares.
func numberedLines(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", name, i)
	}
	return b.String()
}

// TestHistory: what one file went through, with renames that are told by content and by similarity, and
// those that are none.
func TestHistory(t *testing.T) {
	l := newLab(t)
	ten := numberedLines("ten", 10)
	remove := func(path string) {
		t.Helper()
		if err := os.Remove(filepath.Join(l.Root, path)); err != nil {
			t.Fatal(err)
		}
	}
	saved := func() { l.Save() }
	l.Write("a", ten)
	l.Write("empty", "")
	l.Write("twin", numberedLines("twin", 10))
	l.Init()
	remove("a")
	l.Write("b", strings.Replace(ten, "ten 3\n", "", 1)) // 90 % of the lines
	saved()
	remove("b")
	l.Write("c", numberedLines("other", 6)+strings.Join(strings.SplitAfter(ten, "\n")[:4], "")) // 40 %
	saved()
	remove("empty")
	l.Write("empty2", "")
	saved()
	remove("c")
	saved()
	l.Write("c", "anew\n")
	saved()
	remove("twin")
	l.Write("x/twin", numberedLines("twin", 10))
	l.Write("x/other", numberedLines("twin", 10))

	for _, c := range []struct {
		o    inspect.HistoryOptions
		want string
	}{
		{inspect.HistoryOptions{Path: "b"}, "deleted, renamed<a, created"},
		{inspect.HistoryOptions{Path: "b", NoFollow: true}, "deleted, created"},
		{inspect.HistoryOptions{Path: "b", Limit: 1}, "deleted, …"},
		{inspect.HistoryOptions{Path: "b", Limit: 3}, "deleted, renamed<a, created"},
		{inspect.HistoryOptions{Path: "a"}, "deleted>b, created"},
		{inspect.HistoryOptions{Path: "c"}, "created, deleted, created"},
		{inspect.HistoryOptions{Path: "empty2"}, "created"},
		{inspect.HistoryOptions{Path: "twin"}, "@deleted>x/twin, created"},
		{inspect.HistoryOptions{Path: "x/twin"}, "@renamed<twin, created"},
		{inspect.HistoryOptions{Path: "x"}, "@created"},
		{inspect.HistoryOptions{Path: ""}, "@changed, changed, changed, changed, changed, changed, created"},
	} {
		if got, err := l.steps(c.o); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.o, got, err, c.want)
		}
	}
	if _, err := l.steps(inspect.HistoryOptions{Path: "never"}); err == nil {
		t.Error("a path that never was has a history")
	}
}

// TestHistoryRenamesAreThoseOfDiff: two files that went and two that came; the one that is most like both old ones takes
// the nearer, and the other file is what is left.
func TestHistoryRenamesAreThoseOfDiff(t *testing.T) {
	l := newLab(t)
	p := strings.SplitAfter(numberedLines("line", 20), "\n")
	join := func(lines ...string) string { return strings.Join(lines, "") }
	own := func(n int) string { return strings.Replace(numberedLines("own!", n), " ", "-", -1) }
	l.Write("p", join(p[:20]...))
	l.Write("q", join(p[:12]...)+own(8))
	first := l.Init().Checkpoint
	for _, name := range []string{"p", "q"} {
		l.Ok(os.Remove(filepath.Join(l.Root, name)))
	}
	l.Write("r", join(p[:19]...))
	l.Write("s", join(p[:14]...)+own(2))
	second := l.Save().Checkpoint
	want := map[string]string{}
	l.Do(func(ctx context.Context, pr *project.Project) error {
		files, err := inspect.Diff(ctx, pr, inspect.DiffOptions{A: first, B: &second, Renames: true})
		for _, f := range files {
			want[f.Path] = f.From
		}
		return err
	})
	if len(want) != 2 || want["r"] != "p" || want["s"] != "q" {
		t.Fatalf("diff: %v", want)
	}
	for path, steps := range map[string]string{"r": "renamed<p, created", "s": "renamed<q, created", "p": "deleted>r, created", "q": "deleted>s, created"} {
		if got, err := l.steps(inspect.HistoryOptions{Path: path}); err != nil || got != steps {
			t.Errorf("%s: %s, %v; want %s", path, got, err, steps)
		}
	}
}
