//go:build unix

package engine

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
	l.t.Helper()
	dir := filepath.Join(l.home, ".rewind")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) fifo(path string) {
	l.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(l.root, filepath.FromSlash(path)), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) has(path string) bool {
	l.t.Helper()
	_, err := os.Lstat(filepath.Join(l.root, filepath.FromSlash(path)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.t.Fatal(err)
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
		l.write(".gitignore", "many/*\n")
		for i := range 1010 {
			l.write(fmt.Sprintf("many/%04d", i), "")
			if err := os.Truncate(filepath.Join(l.root, fmt.Sprintf("many/%04d", i)), 1<<20+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []unseenCase{
		{name: "larger than maxFileSize, which was raised", why: "maxFileSize", stays: []string{"d/large"}, goes: []string{"d/new", "new"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.write("d/large", large); l.write("d/small", "s") },
			after:  func(l *lab) { l.settings(`{}`); l.write("d/new", "n"); l.write("new", "n") }},
		{name: "larger than maxFileSize, and smaller now", why: "maxFileSize", stays: []string{"large"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.write("large", large) },
			after:  func(l *lab) { l.write("large", "small") }},
		{name: "larger than maxFileSize, and a directory now", why: "maxFileSize", stays: []string{"large/a/b"},
			before: func(l *lab) { l.settings(`{"maxFileSize": 1000}`); l.write("large", large) },
			after:  func(l *lab) { l.remove("large"); l.write("large/a/b", "n") }},
		{name: "larger than maxFileSize, which was lowered for a while", goes: []string{"new"},
			before: func(l *lab) { l.write("large", large) },
			after: func(l *lab) {
				l.settings(`{"maxFileSize": 1000}`)
				l.save()
				l.settings(`{}`)
				l.write("new", "n")
			}},
		{name: "a FIFO that is a file now", why: "fifo", stays: []string{"d/pipe"}, goes: []string{"d/new"},
			before: func(l *lab) { l.write("d/a", "a"); l.fifo("d/pipe") },
			after:  func(l *lab) { l.remove("d/pipe"); l.write("d/pipe", "work"); l.write("d/new", "n") }},
		{name: "a FIFO that is a full directory now", why: "fifo", stays: []string{"pipe/a/b"},
			before: func(l *lab) { l.fifo("pipe") },
			after:  func(l *lab) { l.remove("pipe"); l.write("pipe/a/b", "work") }},
		{name: "ignored, and captured with the rules of today", why: "scope", stays: []string{"x.log", "logs/a"}, goes: []string{"new"},
			before: func(l *lab) { l.write(".gitignore", "*.log\n/logs/\n"); l.write("x.log", "x"); l.write("logs/a", "a") },
			after: func(l *lab) {
				l.settings(`{"captureIgnored": "all"}`)
				l.write("new", "n")
			}},
		{name: "ignored by a rule file that is ignored, and gone", why: "ignored", stays: []string{"env/bin/x"}, goes: []string{"env/later"},
			before: func(l *lab) { l.write("env/.gitignore", "*\n"); l.write("env/bin/x", "x") },
			after:  func(l *lab) { l.remove("env/.gitignore"); l.write("env/later", "n") }},
		{name: "ignored and too large for captureIgnored: small", why: "ignored", stays: []string{"x.log"}, goes: []string{"later.log"},
			before: func(l *lab) {
				l.settings(`{"captureIgnored": "small"}`)
				l.write(".gitignore", "*.log\n")
				l.write("x.log", strings.Repeat("x", 1<<20+1))
			},
			after: func(l *lab) { l.write("x.log", "small"); l.write("later.log", "n") }},
		{name: "beyond what the coverage lists", why: "truncated", stays: []string{"many/1005"}, goes: []string{"later"},
			before: many, after: func(l *lab) { l.remove("many"); l.write("many/1005", "small"); l.write("later", "n") }},
		{name: "beyond what the coverage lists, by a rule file that is not in the tree", why: "rules", stays: []string{"env/0005", "env/1005", "env/sub/x"}, goes: []string{"later"},
			before: func(l *lab) {
				for i := range 1010 {
					l.write(fmt.Sprintf("env/%04d", i), "x")
				}
				l.write("env/zzz/.gitignore", "*\n")
				l.write("env/zzz/x", "x")
				l.write("env/.gitignore", "*\n")
				l.write("env/sub/x", "x")
			},
			after: func(l *lab) { l.remove("env/.gitignore"); l.write("later", "n") }},
		{name: "captured with --no-ignore", why: "scope", save: checkpoint.Options{NoIgnore: true}, stays: []string{"node_modules/later", "later.log"}, goes: []string{"new"},
			before: func(l *lab) { l.write(".gitignore", "*.log\n"); l.write("node_modules/a", "a") },
			after:  func(l *lab) { l.write("node_modules/later", "n"); l.write("later.log", "n"); l.write("new", "n") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.settings(`{"captureIgnored": "none"}`)
			l.write("keep", "k")
			l.init()
			c.before(l)
			target := l.saveWith(c.save)
			c.after(l)
			l.checkUnseen(c, target)
		})
	}
}

// checkUnseen restores, checks what is left, and takes it back.
func (l *lab) checkUnseen(c unseenCase, target *checkpoint.Saved) {
	l.t.Helper()
	before := l.contents()
	dry := l.must(restore.Restore, restore.Options{Checkpoint: target.Checkpoint, DryRun: true})
	done := l.must(restore.Restore, restore.Options{Checkpoint: target.Checkpoint})
	if fmt.Sprint(dry.Delete, dry.Skip) != fmt.Sprint(done.Delete, done.Skip) {
		l.t.Errorf("planned %v %v\ndone %v %v", dry.Delete, dry.Skip, done.Delete, done.Skip)
	}
	for _, path := range c.stays {
		if !l.has(path) {
			l.t.Errorf("%s was deleted", path)
		}
	}
	for _, path := range c.goes {
		if l.has(path) {
			l.t.Errorf("%s is still there: %+v", path, done.Skip)
		}
	}
	if c.why != "" && !strings.Contains(fmt.Sprint(done.Skip), c.why) && c.save == (checkpoint.Options{}) {
		l.t.Errorf("left alone: %+v, not for %q", done.Skip, c.why)
	}
	if done.Operation != 0 {
		l.must(restore.UndoRestore, restore.Options{})
	}
	l.want(before)
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
