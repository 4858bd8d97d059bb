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
	"github.com/rewind-cli/rewind/manifest"
)

// compared tells of a comparison in a line.
func (l *lab) compared(base, a, b manifest.Checkpoint, renames bool) (out string) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Compare(ctx, p, inspect.CompareOptions{Base: &base, A: &a, B: &b, Renames: renames})
		if err != nil {
			return err
		}
		var parts []string
		side := func(d *inspect.FileDiff) string {
			if d == nil {
				return "."
			}
			s := fmt.Sprintf("%c+%d-%d", d.Status, d.Added, d.Deleted)
			if d.From != "" {
				s += ">" + d.Path
			}
			return s
		}
		for i, list := range [][]inspect.Compared{c.OnlyA, c.OnlyB, c.Same, c.Different} {
			for _, r := range list {
				parts = append(parts, fmt.Sprintf("%c %s %s %s", "ABSD"[i], r.Path, side(r.A), side(r.B)))
			}
		}
		out = strings.Join(parts, "; ")
		return nil
	})
	return out
}

// TestCompare: what two sides made of a base.
func TestCompare(t *testing.T) {
	l := newLab(t)
	text := numberedLines("line", 20)
	write := func(files map[string]string) manifest.Checkpoint {
		for _, name := range []string{"old", "new", "both", "kept", "dir"} {
			l.Ok(os.RemoveAll(filepath.Join(l.Root, name)))
		}
		for name, content := range files {
			l.Write(name, content)
		}
		return l.Save().Checkpoint
	}
	l.Init()
	base := write(map[string]string{"old": text, "both": "x\n"})
	for _, c := range []struct {
		name     string
		a, b     map[string]string
		want     string
		separate string // without renames
	}{
		{"nothing", map[string]string{"old": text, "both": "x\n"}, map[string]string{"old": text, "both": "x\n"}, "", ""},
		{"each its own", map[string]string{"old": text + "a\n", "both": "x\n"}, map[string]string{"old": text, "both": "x\n", "new": "b\n"},
			"A old M+1-0 .; B new . A+1-0", ""},
		{"the same", map[string]string{"old": text, "both": "y\n"}, map[string]string{"old": text, "both": "y\n"}, "S both M+1-1 M+1-1", ""},
		{"differently", map[string]string{"old": text, "both": "y\n"}, map[string]string{"old": text}, "D both M+1-1 D+0-1", ""},
		{"renamed by one, edited by the other", map[string]string{"new": text, "both": "x\n"}, map[string]string{"old": text + "b\n", "both": "x\n"},
			"D old R+0-0>new M+1-0", "A new A+20-0 .; D old D+0-20 M+1-0"},
		{"renamed by one", map[string]string{"new": text + "a\n", "both": "x\n"}, map[string]string{"old": text, "both": "x\n"},
			"A old R+1-0>new .", "A new A+21-0 .; A old D+0-20 ."},
		{"renamed by both, alike", map[string]string{"new": text, "both": "x\n"}, map[string]string{"new": text, "both": "x\n"}, "S old R+0-0>new R+0-0>new", ""},
		{"renamed to where the other made something", map[string]string{"new": text, "both": "x\n"}, map[string]string{"old": text, "both": "x\n", "new": "b\n"},
			"A old D+0-20 .; D new A+20-0 A+1-0", ""},
		{"a file and a directory", map[string]string{"old": text, "both": "x\n", "dir": "f\n"}, map[string]string{"old": text, "both": "x\n", "dir/f": "f\n"},
			"D dir A+1-0 .; D dir/f . A+1-0", ""},
	} {
		a, b := write(c.a), write(c.b)
		if got := l.compared(base, a, b, true); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if c.separate != "" {
			if got := l.compared(base, a, b, false); got != c.separate {
				t.Errorf("%s, without renames: %s, want %s", c.name, got, c.separate)
			}
		}
	}
}
