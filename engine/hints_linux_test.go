package engine

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// watchedLab is a project with a process that watches it, which comes, goes, and loses events.
type watchedLab struct {
	*lab
	rand    *rand.Rand
	step    int
	log     []string
	outside string // a directory on the same file system that is not in the project
	maps    [][]byte

	tree   *countedTree // nil: nobody watches
	server *watch.Server
	known  int // answers that spared a walk
}

// countedTree notes which reports have arrived, and plays faults.
type countedTree struct {
	watch.Tree
	known   atomic.Int64
	seen    chan bool
	unwatch atomic.Pointer[map[string]bool] // of a report on a walk that named a directory that was not watched
}

func (t *countedTree) Ask(q watch.Question) watch.Answer {
	a := t.Tree.Ask(q)
	if a.Known {
		t.known.Add(1)
	}
	return a
}

func (t *countedTree) Seen(a *watch.Answer, r watch.Report) {
	t.Tree.Seen(a, r)
	t.seen <- true
}

func (t *countedTree) Watches(dirs map[string]bool) bool {
	ok := t.Tree.Watches(dirs)
	if !ok {
		t.unwatch.Store(&dirs)
		t.seen <- false
	}
	return ok
}

func newWatchedLab(t *testing.T, base string, seed uint64) *watchedLab {
	l := &watchedLab{lab: newLabAt(t, base), rand: rand.New(rand.NewPCG(seed, 0)), outside: filepath.Join(base, "outside")}
	l.Ok(os.Mkdir(l.outside, 0o755))
	for _, path := range []string{"a", "d/b", "d/e/c", "f/g/h/i", "f/j"} {
		l.Write(path, path)
	}
	l.Init()
	l.watch()
	t.Cleanup(func() { l.unmap(); l.unwatch() })
	return l
}

// watch begins to watch, as rewind watch does. What is mapped before may change without an event: see docs/RACY.md.
func (l *watchedLab) watch() {
	l.T.Helper()
	l.unmap()
	l.unwatch()
	var cacheFile string
	l.Do(func(ctx context.Context, p *project.Project) error {
		cacheFile = p.StatCacheFile()
		fs, err := rootfs.Open(p.Root())
		if err != nil {
			return err
		}
		l.T.Cleanup(func() { fs.Close() })
		today := rules.Today(p, session.Kept(p), fs)
		tree, err := watch.Open(watch.Options{Root: p.Root(), Wanted: today.Captures, Rules: ignore.RuleFile, Hash: scan.RulesHash(today.Rules, p.Settings().MaxFileSize)})
		if err == nil {
			l.tree = &countedTree{Tree: tree, seen: make(chan bool, 1)}
		}
		return err
	})
	l.server = watch.Serve(l.Root, func(id string) map[string]bool {
		cache, err := scan.LoadCache(cacheFile)
		if err != nil || cache.ID() != id {
			return nil
		}
		return cache.Directories()
	})
	if l.server == nil {
		l.T.Fatal("nobody can be asked about " + l.Root)
	}
	l.server.Answer(l.tree)
}

func (l *watchedLab) unwatch() {
	if l.tree != nil {
		l.server.Close()
		l.tree.Close()
		l.known += int(l.tree.known.Load())
		l.tree = nil
	}
}

// spared counts the walks that were spared up to now.
func (l *watchedLab) spared() int {
	if l.tree == nil {
		return l.known
	}
	return l.known + int(l.tree.known.Load())
}

// check takes a checkpoint with what the watcher says, and looks at everything: both must be the same.
func (l *watchedLab) check(whole bool) {
	l.T.Helper()
	var found []problem.Problem
	var saved *checkpoint.Saved
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		saved, err = checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: checkpoint.Options{
			Kind: manifest.PostTool, OnlyIfChanged: l.rand.IntN(2) == 0, Whole: whole, By: conversation.Trigger{Tool: "model"}}})
		if err == nil && !saved.Skipped {
			found, err = p.Coverage(saved.Checkpoint.Coverage)
		}
		return err
	})
	if l.tree != nil {
		select {
		case <-l.tree.seen:
		case <-time.After(50 * time.Millisecond): // what is stale, or has no whole stat cache, is not reported on
		}
		// On a busy machine a report comes late, beside edits of which the events are not read yet. When all is quiet, it has to hold.
		dirs := l.tree.unwatch.Swap(nil)
		for wait := time.Millisecond; dirs != nil && !l.tree.Tree.Watches(*dirs) && !l.tree.Stale(); wait *= 2 {
			if time.Sleep(wait); wait < time.Second {
				continue
			}
			l.T.Fatalf("a directory is not watched, after\n%s", strings.Join(l.log, "\n"))
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
		if err != nil {
			return err
		}
		defer c.Discard()
		if c.Root() != saved.Checkpoint.Root {
			var differ []string
			err := manifest.Diff(c.Tx.Load, saved.Checkpoint.Root, c.Root(), func(d manifest.Change) error {
				differ = append(differ, d.Path)
				return nil
			})
			l.T.Fatalf("a walk finds another tree: %q (%v), after\n%s", differ, err, strings.Join(l.log, "\n"))
		}
		if !saved.Skipped {
			if found, walked := coverage(found), coverage(c.Problems); found != walked {
				l.T.Fatalf("not captured:\n%sby a walk:\n%safter\n%s", found, walked, strings.Join(l.log, "\n"))
			}
		}
		return nil
	})
	l.log = nil
	if l.tree != nil && l.tree.Stale() && l.rand.IntN(3) > 0 {
		l.watch()
	}
}

// coverage is what was not captured, but for what happened to come and go during a scan.
func coverage(list []problem.Problem) string {
	var s strings.Builder
	for _, p := range list {
		if p.Code != problem.Torn && p.Code != problem.Vanished {
			fmt.Fprintf(&s, "%q %s %v\n", p.Path, strings.ToValidUTF8(p.Reason, "\ufffd"), p.Failed)
		}
	}
	return s.String()
}

// some is a path of the project of the kind that is asked for, "" where there is none.
func (l *watchedLab) some(want func(fs.FileMode) bool) string {
	var all []string
	_ = filepath.WalkDir(l.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() && d.Name() == ".agent" {
			return fs.SkipDir
		}
		if path != l.Root && want(d.Type()) {
			all = append(all, path)
		}
		return nil
	})
	if len(all) == 0 {
		return ""
	}
	return all[l.rand.IntN(len(all))]
}

func (l *watchedLab) file() string { return l.some(fs.FileMode.IsRegular) }
func (l *watchedLab) dir() string  { return l.some(fs.FileMode.IsDir) }

// place is a path in some directory, where something may be.
func (l *watchedLab) place() string {
	dir := l.Root
	if d := l.dir(); d != "" && l.rand.IntN(4) > 0 {
		dir = d
	}
	names := []string{"a", "b", "c", "d", "e", "x.o", "z\xff"}
	return filepath.Join(dir, names[l.rand.IntN(len(names))])
}

func (l *watchedLab) text() string {
	l.step++
	return fmt.Sprintf("%06d", l.step)
}

// store writes through the mappings, which causes no event.
func (l *watchedLab) store() {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, b := range l.maps {
		func() {
			defer func() { _ = recover() }() // the file was cut
			copy(b, l.text()[2:])
		}()
	}
}

func (l *watchedLab) unmap() {
	for _, b := range l.maps {
		_ = unix.Munmap(b)
	}
	l.maps = nil
}

// edit changes something. What cannot be done is no edit.
func (l *watchedLab) edit() {
	put := func(path, text string) { // does not wait for the reader of a fifo
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NONBLOCK, 0o644)
		if err == nil {
			_, _ = f.WriteString(text)
			_ = f.Close()
		}
	}
	do := []struct {
		what string
		do   func() string
	}{
		{"write", func() string { p := l.place(); put(p, l.text()); return p }},
		{"rewrite", func() string { p := l.file(); put(p, l.text()); return p }},
		{"rewrite with the time put back", func() string {
			p := l.file()
			if info, err := os.Lstat(p); err == nil {
				put(p, l.text())
				_ = os.Chtimes(p, info.ModTime(), info.ModTime())
			}
			return p
		}},
		{"replace", func() string {
			p := l.file()
			if p != "" {
				put(p+"~", l.text())
				_ = os.Rename(p+"~", p)
			}
			return p
		}},
		{"remove", func() string { p := l.file(); _ = os.Remove(p); return p }},
		{"move file", func() string { p, to := l.file(), l.place(); _ = os.Rename(p, to); return p + " " + to }},
		{"move directory", func() string { p, to := l.dir(), l.place(); _ = os.Rename(p, to); return p + " " + to }},
		{"move out and back", func() string {
			p, out := l.dir(), filepath.Join(l.outside, "moved")
			if os.Rename(p, out) == nil {
				put(filepath.Join(out, "a"), l.text())
				if os.Rename(out, p) != nil {
					_ = os.RemoveAll(out)
				}
			}
			return p
		}},
		{"move in", func() string {
			in, to := filepath.Join(l.outside, "new"), l.place()
			_ = os.MkdirAll(filepath.Join(in, "n/m"), 0o755)
			put(filepath.Join(in, "n/m/x"), l.text())
			if l.rand.IntN(4) == 0 {
				put(filepath.Join(in, ".gitignore"), "*.o\n")
			}
			_ = os.RemoveAll(to)
			_ = os.Rename(in, to)
			_ = os.RemoveAll(in)
			return to
		}},
		{"fill new directories", func() string {
			p := filepath.Join(l.place(), "p/q/r")
			_ = os.MkdirAll(p, 0o755)
			put(filepath.Join(p, "s"), l.text())
			return p
		}},
		{"remove directory", func() string { p := l.dir(); _ = os.RemoveAll(p); return p }},
		{"replace directory", func() string {
			p := l.dir()
			if p != "" && os.RemoveAll(p) == nil {
				_ = os.MkdirAll(filepath.Join(p, "e"), 0o755)
				put(filepath.Join(p, "e/c"), l.text())
			}
			return p
		}},
		{"directory becomes a link", func() string {
			p, to := l.dir(), l.place()
			if os.Rename(p, to) == nil {
				_ = os.Symlink(to, p)
			}
			return p
		}},
		{"link", func() string { p := l.place(); _ = os.Symlink(l.text(), p); return p }},
		{"hard link inside", func() string { p, to := l.file(), l.place(); _ = os.Link(p, to); return p + " " + to }},
		{"hard link outside", func() string { // a link that was made since the last walk causes no event: see docs/RACY.md
			p := l.file()
			if os.Link(p, filepath.Join(l.outside, l.text())) == nil {
				l.check(true)
			}
			return p
		}},
		{"write outside", func() string {
			entries, _ := os.ReadDir(l.outside)
			for _, e := range entries {
				put(filepath.Join(l.outside, e.Name()), l.text())
			}
			return ""
		}},
		{"mode", func() string { p := l.file(); _ = os.Chmod(p, []fs.FileMode{0o644, 0o755}[l.rand.IntN(2)]); return p }},
		{"mode of a directory", func() string { p := l.dir(); _ = os.Chmod(p, []fs.FileMode{0o755, 0o700}[l.rand.IntN(2)]); return p }},
		{"attribute", func() string { p := l.file(); _ = unix.Setxattr(p, "user.x", []byte(l.text()), 0); return p }},
		{"fifo", func() string { p := l.place(); _ = unix.Mkfifo(p, 0o644); return p }},
		{"rules", func() string {
			p := l.dir()
			if p != "" && l.rand.IntN(4) == 0 {
				put(filepath.Join(p, ".gitignore"), []string{"", "*.o\n", "d/\n", "b\n"}[l.rand.IntN(4)])
			}
			return p
		}},
		{"map", func() string {
			p := l.file()
			f, err := os.OpenFile(p, os.O_RDWR|unix.O_NONBLOCK, 0)
			if err != nil || len(l.maps) > 3 {
				return ""
			}
			defer f.Close()
			if b, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
				l.maps = append(l.maps, b)
			}
			return p
		}},
		{"store", func() string { l.store(); return "" }},
		{"unmap", func() string { l.unmap(); return "" }},
		{"wait", func() string { time.Sleep(15 * time.Millisecond); return "" }},
		{"restart", func() string { l.watch(); return "" }},
		{"kill", func() string {
			if l.rand.IntN(3) == 0 {
				l.unwatch()
			}
			return ""
		}},
	}
	e := do[l.rand.IntN(len(do))]
	l.log = append(l.log, e.what+" "+strings.ReplaceAll(e.do(), l.Root+"/", ""))
}

// play edits and checks.
func (l *watchedLab) play(steps int) {
	for range steps {
		for range 1 + l.rand.IntN(3) {
			l.edit()
		}
		if l.rand.IntN(2) == 0 {
			l.check(false)
		}
		if l.tree == nil && l.rand.IntN(3) == 0 {
			l.watch()
		}
	}
}

// The checkpoint that is made with what a watcher says is the one that a walk makes.
func TestHintsAndTheWalk(t *testing.T) {
	for seed := range 6 / testlab.Every(uint64(2)) {
		playHints(t, seed, 150)
	}
	playHints(t, uint64(time.Now().UnixNano()), 100)
}

// TestSoakHints goes on for as long as REWIND_SOAK says.
func TestSoakHints(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("REWIND_SOAK"))
	if err != nil {
		t.Skip("set REWIND_SOAK to a duration, as make soak does")
	}
	for end := time.Now().Add(long); time.Now().Before(end); {
		playHints(t, uint64(time.Now().UnixNano()), 300)
	}
}

func playHints(t *testing.T, seed uint64, steps int) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		l := newWatchedLab(t, t.TempDir(), seed)
		// On a slow machine an answer often comes too late: such a life is longer.
		for played := 0; played < steps || l.spared() < steps/10 && played < 10*steps; played += 10 {
			l.play(10)
		}
		if spared := l.spared(); spared < steps/10 {
			t.Errorf("only %d walks were spared in %d steps: this test shows little", spared, 10*steps)
		}
		l.unwatch()
	})
}
