//go:build unix

package restore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// Hunks of some files and others as a whole are one restore: done as its dry run says, taken back as one, with the
// directories' modes; not done where a file is something else than was shown.
func TestRestoreHunksAndPaths(t *testing.T) {
	l := newLab(t)
	text := func(changed ...int) string {
		var lines []string
		for n := range 40 {
			lines = append(lines, "line "+string(rune('a'+n%26)))
		}
		for _, n := range changed {
			lines[n] = "CHANGED"
		}
		return strings.Join(lines, "\n") + "\n"
	}
	l.Write("f[1]", text())
	l.Write("deep/er/gone", "gone\n")
	l.Write("whole", "whole\n")
	l.Write("alone", "alone\n")
	l.Ok(os.Chmod(filepath.Join(l.Root, "deep"), 0o700))
	first := l.Init().Checkpoint
	l.Write("f[1]", text(1, 20, 39))
	l.Ok(os.RemoveAll(filepath.Join(l.Root, "deep")))
	l.Write("whole", "another\n")
	l.Write("alone", "another\n")
	l.Write("new/a", "new\n")
	was := l.listing()

	hunks := func(at int) (choices []restore.HunkChoice) {
		l.Do(func(ctx context.Context, p *project.Project) error {
			files, err := restore.Hunks(ctx, p, inspect.DiffOptions{A: first, Paths: []string{`f\[1]`}})
			if err != nil || len(files) != 1 || len(files[0].Hunks) != 3 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			choices = []restore.HunkChoice{{File: files[0], Hunks: []linediff.Hunk{files[0].Hunks[at]}}}
			return nil
		})
		return choices
	}
	choices := hunks(1)
	run := func(o restore.Options) (done *restore.Restored, err error) {
		o.Checkpoint, o.Paths = first, []string{"deep", "whole", "new"}
		err = l.Try(func(ctx context.Context, p *project.Project) (err error) {
			done, err = restore.RestoreHunks(ctx, p, o, choices)
			return err
		})
		return done, err
	}
	plan, err := run(restore.Options{DryRun: true})
	l.Ok(err)
	if got := strings.Join(plan.Create, " ") + ", " + strings.Join(plan.Replace, " ") + ", " + strings.Join(plan.Delete, " "); got != "deep deep/er deep/er/gone, f[1] whole, new new/a" {
		t.Errorf("the plan: %s", got)
	}
	if create, change, remove := happened(was, l.listing()); len(create)+len(change)+len(remove) > 0 {
		t.Fatal("a dry run did something")
	}
	_, err = run(restore.Options{Expect: &plan.Expected})
	l.Ok(err)
	is := l.listing()
	for path, want := range map[string]string{"f[1]": text(1, 39), "deep/er/gone": "gone\n", "whole": "whole\n", "alone": "another\n"} {
		if !strings.HasSuffix(is[path], " "+want) {
			t.Errorf("%s is %q", path, is[path])
		}
	}
	if !strings.HasPrefix(is["deep"], "drwx------") || is["new"] != "" {
		t.Errorf("directories: %q, %q", is["deep"], is["new"])
	}
	l.any(restore.UndoRestore, restore.Options{})
	if create, change, remove := happened(was, l.listing()); len(create)+len(change)+len(remove) > 0 {
		t.Errorf("taken back: %v %v %v", create, change, remove)
	}

	// Without other paths too, directories come back with their modes.
	l.Do(func(ctx context.Context, p *project.Project) error {
		files, err := restore.Hunks(ctx, p, inspect.DiffOptions{A: first, Paths: []string{"deep"}})
		if err != nil || len(files) != 1 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		_, err = restore.RestoreHunks(ctx, p, restore.Options{Checkpoint: first}, []restore.HunkChoice{{File: files[0], Whole: true}})
		return err
	})
	if is := l.listing(); !strings.HasPrefix(is["deep"], "drwx------") {
		t.Errorf("the directory is %q", is["deep"])
	}

	choices = hunks(0)
	l.Write("f[1]", text(1, 20, 39)+"more\n")
	_, err = run(restore.Options{})
	var changed *restore.ChangedSinceError
	if !errors.As(err, &changed) || changed.Path != "f[1]" {
		t.Errorf("a file that changed since: %v", err)
	}
	l.Write("whole", "once more\n")
	choices = hunks(0)
	if plan, err = run(restore.Options{DryRun: true}); err == nil {
		l.Write("whole", "and again\n")
		_, err = run(restore.Options{Expect: &plan.Expected})
	}
	var moved *restore.PlanChangedError
	if !errors.As(err, &moved) {
		t.Errorf("another file that changed since the plan: %v", err)
	}
	l.Verify()
}

// TestHunksOfOthers: whose work a restore of hunks takes back is told by the lines that were chosen, not by the file.
func TestHunksOfOthers(t *testing.T) {
	l := newLab(t)
	lines := make([]string, 40)
	for n := range lines {
		lines[n] = "line " + string(rune('a'+n%26))
	}
	text := func() string { return "w:f=" + strings.Join(lines, "\n") + "\n" }
	l.Does(text())
	first := l.Init().Checkpoint
	lines[1] = "A"
	l.Does("g/prompt:a", "g/pre:1", text(), "g/post:1", "g/stop")
	lines[20] = "B"
	lines = append(lines[:38:38], lines[39:]...) // B removes a line
	l.Does("h/prompt:b", "h/pre:2", text(), "h/post:2", "h/stop")
	lines[10] = "you"
	l.Does(text(), "g/prompt:a2")
	lines[21] = "A, too"
	l.Does("g/pre:3", text(), "g/post:3", "g/stop")
	lines[30] = "not saved yet"
	l.Does(text())

	for _, test := range []struct {
		name, want string
		choose     func(f *restore.FileHunks) []linediff.Hunk
	}{
		{"A's own", "", func(f *restore.FileHunks) []linediff.Hunk { return f.Hunks[:1] }},
		{"B's line", "h", func(f *restore.FileHunks) []linediff.Hunk { return f.Hunks[2:3] }},
		{"what B removed", "h", func(f *restore.FileHunks) []linediff.Hunk { return f.Hunks[4:] }},
		{"A's and the person's", "", func(f *restore.FileHunks) []linediff.Hunk { return f.Hunks[:2] }},
		{"all", "h", func(f *restore.FileHunks) []linediff.Hunk { return f.Hunks }},
	} {
		l.Do(func(ctx context.Context, p *project.Project) error {
			files, err := restore.Hunks(ctx, p, inspect.DiffOptions{A: first, Paths: []string{"f"}})
			if err != nil || len(files) != 1 || len(files[0].Hunks) != 5 {
				t.Fatalf("%v, %v", files, err)
			}
			choices := []restore.HunkChoice{{File: files[0], Hunks: test.choose(files[0])}}
			done, err := restore.RestoreHunks(ctx, p, restore.Options{Checkpoint: first, About: []string{"g"}, DryRun: true}, choices)
			if err != nil {
				return err
			}
			var got []string
			for _, o := range done.Others {
				got = append(got, o.Session)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
			return nil
		})
	}
}
