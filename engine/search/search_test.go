package search_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/manifest"
)

// expectedSpans says what a search has to find: all trees are read whole, line by line.
func (l *lab) expectedSpans(ctx context.Context, p *project.Project, re *regexp.Regexp) (want []string) {
	l.T.Helper()
	list, err := p.List(ctx, project.ListOptions{All: true})
	if err != nil {
		l.T.Fatal(err)
	}
	slices.Reverse(list)
	type key struct{ path, line string }
	states := []map[key]bool{}
	for _, c := range list {
		state := map[key]bool{}
		err := inspect.Tree(ctx, p, c.Checkpoint, "", func(e inspect.TreeEntry) error {
			if e.Kind != manifest.File && e.Kind != manifest.Chunked {
				return nil
			}
			r, err := inspect.Content(ctx, p, e.Entry)
			if err != nil {
				return err
			}
			defer r.Close()
			data, err := io.ReadAll(r)
			for line := range strings.Lines(string(data)) {
				if line = strings.TrimSuffix(line, "\n"); re.MatchString(line) {
					state[key{e.Path, line}] = true
				}
			}
			return err
		})
		if err != nil {
			l.T.Fatal(err)
		}
		states = append(states, state)
	}
	now := map[key]bool{}
	for path, what := range l.Read() {
		if _, text, ok := strings.Cut(what, " "); ok {
			for line := range strings.Lines(text) {
				if line = strings.TrimSuffix(line, "\n"); re.MatchString(line) {
					now[key{path, line}] = true
				}
			}
		}
	}
	states = append(states, now)
	name := func(i int) string {
		if i >= len(list) {
			return "now"
		}
		return list[i].ID.String()
	}
	all := map[key]bool{}
	for _, s := range states {
		for k := range s {
			all[k] = true
		}
	}
	for k := range all {
		from := -1
		for i := 0; i <= len(states); i++ {
			there := i < len(states) && states[i][k]
			switch {
			case there && from < 0:
				from = i
			case !there && from >= 0:
				to := "still"
				if i < len(states) {
					to = name(i)
				}
				want = append(want, fmt.Sprintf("%s %q %s..%s", k.path, k.line, name(from), to))
				from = -1
			}
		}
	}
	slices.Sort(want)
	return want
}

func foundSpans(ctx context.Context, t *testing.T, p *project.Project, pattern string, paths ...string) (got []string) {
	t.Helper()
	m, err := search.Compile(search.Query{Patterns: []string{pattern}})
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	sum, err := search.Run(ctx, p, search.Options{Matcher: m, Paths: paths}, func(s search.Span) error {
		if s.Path < path {
			t.Errorf("%s comes after %s", s.Path, path)
		}
		path = s.Path
		from, to := "now", "now"
		if s.Appeared != nil {
			from = s.Appeared.ID.String()
		}
		switch {
		case s.Now:
			to = "still"
		case s.Vanished != nil:
			to = s.Vanished.ID.String()
		}
		got = append(got, fmt.Sprintf("%s %q %s..%s", s.Path, s.Text, from, to))
		return nil
	})
	if err != nil || len(sum.Problems) > 0 || len(sum.Clipped) > 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	slices.Sort(got)
	return got
}

// TestSearchAgainstTrees: whatever was edited, moved, saved, restored and swept, a search finds what reading every
// tree whole finds: with the database folded and not, and with what is only in the working tree.
func TestSearchAgainstTrees(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		l := newLab(t)
		l.Write("a", "x1\n")
		l.Init()
		names := []string{"a", "b", "d/a", "d/e/c", "d.x"}
		text := func() string {
			var b strings.Builder
			for range r.IntN(5) {
				fmt.Fprintf(&b, "%c%d\n", "xyz"[r.IntN(3)], r.IntN(3))
			}
			if r.IntN(3) == 0 {
				b.WriteString("x without an end")
			}
			return b.String()
		}
		for range 25 {
			name := names[r.IntN(len(names))]
			switch r.IntN(10) {
			case 0:
				os.RemoveAll(filepath.Join(l.Root, name))
			case 1:
				if data, err := os.ReadFile(filepath.Join(l.Root, "a")); err == nil {
					l.Write(name, string(data)) // the same content twice
				}
			case 2:
				l.Do(func(ctx context.Context, p *project.Project) error {
					_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 6})
					return err
				})
			case 3, 4, 5, 6:
				l.Write(name, text())
			default:
				l.Save()
			}
		}
		l.Do(func(ctx context.Context, p *project.Project) error {
			for _, pattern := range []string{"x", "x1|y2", "[xyz]2$", "", "nothing"} {
				want := l.expectedSpans(ctx, p, regexp.MustCompile(pattern))
				if got := foundSpans(ctx, t, p, pattern); !slices.Equal(got, want) {
					t.Errorf("seed %d, %q:\n got %s\nwant %s", seed, pattern, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
				}
				below := slices.DeleteFunc(want, func(s string) bool { return !strings.HasPrefix(s, "d/") })
				if len(below) == 0 {
					continue
				}
				if got := foundSpans(ctx, t, p, pattern, "d"); !slices.Equal(got, below) {
					t.Errorf("seed %d, %q below d: %q, want %q", seed, pattern, got, below)
				}
			}
			return nil
		})
	}
}

// TestSearchBesideGC: what a search reads stays until it has read it.
func TestSearchBesideGC(t *testing.T) {
	l := newLab(t)
	l.Write("f", "needle 0\n")
	l.Init()
	for i := range 12 {
		l.Write("f", fmt.Sprintf("needle %d\n", i+1))
		l.Write(fmt.Sprintf("g%d", i), strings.Repeat(fmt.Sprintf("%d\n", i), 5000))
		l.Save()
	}
	done := make(chan error, 1)
	go func() {
		for i := 10; i > 2; i-- {
			if err := l.Try(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: i})
				return err
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 8 {
		l.Do(func(ctx context.Context, p *project.Project) error {
			if got := foundSpans(ctx, t, p, "needle"); len(got) < 2 {
				t.Errorf("found %q", got)
			}
			return nil
		})
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
