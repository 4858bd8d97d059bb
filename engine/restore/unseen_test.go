//go:build unix

package restore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// settings replaces the account's settings.
func (l *lab) settings(text string) {
	l.T.Helper()
	dir := filepath.Join(l.Home, ".rewind")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		l.T.Fatal(err)
	}
}

func (l *lab) fifo(path string) {
	l.T.Helper()
	if err := syscall.Mkfifo(filepath.Join(l.Root, filepath.FromSlash(path)), 0o644); err != nil {
		l.T.Fatal(err)
	}
}

func (l *lab) has(path string) bool {
	l.T.Helper()
	_, err := os.Lstat(filepath.Join(l.Root, filepath.FromSlash(path)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.T.Fatal(err)
	}
	return err == nil
}

// unseenCase is a path that was there when a checkpoint was taken and is not in its tree.
type unseenCase struct {
	name          string
	before, after func(l *lab)
	save          checkpoint.Options
	stays         []string // and are named with a reason
	why           string   // part of it
	goes          []string // came later
}

// What a checkpoint did not see is not deleted by a restore to it, once the cause is gone.
func TestUnseenStays(t *testing.T) {
	large := strings.Repeat("x", 4000)
	many := func(l *lab) {
		l.settings(`{"captureIgnored": "small"}`)
		l.Write(".gitignore", "many/*\n")
		for i := range 1010 {
			l.Write(fmt.Sprintf("many/%04d", i), "")
			if err := os.Truncate(filepath.Join(l.Root, fmt.Sprintf("many/%04d", i)), 1<<20+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []unseenCase{
		{name: "larger than maxFileSize, which was raised", why: "maxFileSize", stays: []string{"d/large"}, goes: []string{"d/new", "new"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.Write("d/large", large); l.Write("d/small", "s") },
			after:  func(l *lab) { l.settings(`{}`); l.Write("d/new", "n"); l.Write("new", "n") }},
		{name: "larger than maxFileSize, and smaller now", why: "maxFileSize", stays: []string{"large"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.Write("large", large) },
			after:  func(l *lab) { l.Write("large", "small") }},
		{name: "larger than maxFileSize, and a directory now", why: "maxFileSize", stays: []string{"large/a/b"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.Write("large", large) },
			after:  func(l *lab) { l.Remove("large"); l.Write("large/a/b", "n") }},
		{name: "larger than maxFileSize, which was lowered for a while", goes: []string{"new"},
			before: func(l *lab) { l.Write("large", large) },
			after: func(l *lab) {
				l.settings(`{"maxFileSize": 1000}`)
				l.Save()
				l.settings(`{}`)
				l.Write("new", "n")
			}},
		{name: "a FIFO that is a file now", why: "fifo", stays: []string{"d/pipe"}, goes: []string{"d/new"},
			before: func(l *lab) { l.Write("d/a", "a"); l.fifo("d/pipe") },
			after:  func(l *lab) { l.Remove("d/pipe"); l.Write("d/pipe", "work"); l.Write("d/new", "n") }},
		{name: "a FIFO that is a full directory now", why: "fifo", stays: []string{"pipe/a/b"},
			before: func(l *lab) { l.fifo("pipe") },
			after:  func(l *lab) { l.Remove("pipe"); l.Write("pipe/a/b", "work") }},
		{name: "ignored, and captured with the rules of today", why: "scope", stays: []string{"x.log", "logs/a"}, goes: []string{"new"},
			before: func(l *lab) { l.Write(".gitignore", "*.log\n/logs/\n"); l.Write("x.log", "x"); l.Write("logs/a", "a") },
			after: func(l *lab) {
				l.settings(`{"captureIgnored": "all"}`)
				l.Write("new", "n")
			}},
		{name: "ignored by a rule file that is ignored, and gone", why: "ignored", stays: []string{"env/bin/x"}, goes: []string{"env/later"},
			before: func(l *lab) { l.Write("env/.gitignore", "*\n"); l.Write("env/bin/x", "x") },
			after:  func(l *lab) { l.Remove("env/.gitignore"); l.Write("env/later", "n") }},
		{name: "ignored and too large for captureIgnored: small", why: "ignored", stays: []string{"x.log"}, goes: []string{"later.log"},
			before: func(l *lab) {
				l.settings(`{"captureIgnored": "small"}`)
				l.Write(".gitignore", "*.log\n")
				l.Write("x.log", strings.Repeat("x", 1<<20+1))
			},
			after: func(l *lab) { l.Write("x.log", "small"); l.Write("later.log", "n") }},
		{name: "beyond what the coverage lists", why: "truncated", stays: []string{"many/1005"}, goes: []string{"later"},
			before: many, after: func(l *lab) { l.Remove("many"); l.Write("many/1005", "small"); l.Write("later", "n") }},
		{name: "beyond what the coverage lists, by a rule file that is not in the tree", why: "rules", stays: []string{"env/0005", "env/1005", "env/sub/x"}, goes: []string{"later"},
			before: func(l *lab) {
				for i := range 1010 {
					l.Write(fmt.Sprintf("env/%04d", i), "x")
				}
				l.Write("env/zzz/.gitignore", "*\n")
				l.Write("env/zzz/x", "x")
				l.Write("env/.gitignore", "*\n")
				l.Write("env/sub/x", "x")
			},
			after: func(l *lab) { l.Remove("env/.gitignore"); l.Write("later", "n") }},
		{name: "captured with --no-ignore", why: "scope", save: checkpoint.Options{NoIgnore: true}, stays: []string{"node_modules/later", "later.log"}, goes: []string{"new"},
			before: func(l *lab) { l.Write(".gitignore", "*.log\n"); l.Write("node_modules/a", "a") },
			after:  func(l *lab) { l.Write("node_modules/later", "n"); l.Write("later.log", "n"); l.Write("new", "n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.settings(`{"captureIgnored": "none"}`)
			l.Write("keep", "k")
			l.Init()
			c.before(l)
			target := l.SaveWith(c.save)
			c.after(l)
			l.checkUnseen(c, target)
		})
	}
}

// checkUnseen restores, checks what is left, and takes it back.
func (l *lab) checkUnseen(c unseenCase, target *checkpoint.Saved) {
	l.T.Helper()
	before := l.Contents()
	dry := l.Must(restore.Restore, restore.Options{Checkpoint: target.Checkpoint, DryRun: true})
	done := l.Must(restore.Restore, restore.Options{Checkpoint: target.Checkpoint})
	if fmt.Sprint(dry.Delete, dry.Skip) != fmt.Sprint(done.Delete, done.Skip) {
		l.T.Errorf("planned %v %v\ndone %v %v", dry.Delete, dry.Skip, done.Delete, done.Skip)
	}
	for _, path := range c.stays {
		if !l.has(path) {
			l.T.Errorf("%s was deleted", path)
		}
	}
	for _, path := range c.goes {
		if l.has(path) {
			l.T.Errorf("%s is still there: %+v", path, done.Skip)
		}
	}
	if c.why != "" && !strings.Contains(fmt.Sprint(done.Skip), c.why) && c.save == (checkpoint.Options{}) {
		l.T.Errorf("left alone: %+v, not for %q", done.Skip, c.why)
	}
	if done.Operation != 0 {
		l.Must(restore.UndoRestore, restore.Options{})
	}
	l.Want(before)
}

// sight tells what was absent from what was not seen.
func TestSight(t *testing.T) {
	present := map[string]bool{"d": true, "d/late": true, "d/late/old": true, "build": true}
	compiled, err := ignore.Compile(ignore.Config{Ignore: []string{"/build/"}, ForceInclude: []string{"build/keep/**"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &restore.Sight{Problems: map[string]problem.Problem{}}
	for path, reason := range map[string]string{
		"large": "larger than maxFileSize", "d/shut": "unreadable: permission denied", "mnt": "mount point", "d/gone": "vanished",
		"d/late": "late", "d/late/made": "not there yet", "build": "ignored: build/", "d/late/copy": "late: it has 9 bytes",
	} {
		s.Problems[path] = problem.Read(path, reason, false)
	}
	s.Rules = &rules.Scopes{Rules: compiled, Known: map[string]*ignore.Scope{}, Read: func(string) []byte { return nil }}
	s.Find = func(path string) (manifest.Entry, bool, error) { return manifest.Entry{}, present[path], nil }
	for path, want := range map[string]bool{
		"large": false, "large/x": false, "larger": true, "d/shut": false, "d/shut/a/b": false, "d/shutter": true, "mnt/x": false,
		"d/gone/a": false, "d/new": true, "new/a": true,
		"d/late/new": false, "d/late/new/a": false, "d/late/old/new": true, "d/late/made": true, "d/late/made/a": true, "d/late/copy": false,
		"build/keep/new": true,
	} {
		if why := s.Unseen(path, false); why.None() != want {
			t.Errorf("%s: %q", path, why.Text)
		}
	}
	s.Problems[""] = problem.New("", problem.Late, false)
	if s.Unseen("new", false).None() || s.Unseen("new/a", false).None() || !s.Unseen("d/new", false).None() {
		t.Error("the root was looked at late")
	}
	s.Failed = errors.New("damaged")
	if s.Unseen("d/new", false).None() {
		t.Error("the coverage cannot be read, and a path counts as absent")
	}
}
