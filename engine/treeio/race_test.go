//go:build linux || darwin

package treeio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// A file that changes after the plan has read it is captured before it goes;
// one that appears is left alone.
func TestChangedAfterThePlan(t *testing.T) {
	w := newWorld(t)
	w.write("replaced", "old")
	w.write("created", "old")
	target := w.now()
	w.write("replaced", "new")
	w.write("deleted", "new")
	must(t, os.Remove(w.file("created")))
	p := w.plan(target)
	w.write("replaced", "newest")
	w.write("deleted", "newest too")
	w.write("created", "somebody's")
	opts := w.options()
	var late []Edit
	opts.Record = func(out *Outcome) error { late = out.Late; return nil }
	out, err := p.Apply(t.Context(), opts)
	must(t, err)
	w.noTemps()
	got := map[string]string{}
	for _, e := range late {
		data, err := w.get(e.Entry.ID)
		must(t, err)
		got[e.Path] = string(data)
	}
	if len(got) != 2 || got["replaced"] != "newest" || got["deleted"] != "newest too" {
		t.Errorf("captured late: %q", got)
	}
	if w.read(w.file("created")) != "somebody's" {
		t.Error("a file that appeared was overwritten")
	}
	if len(out.Skips) != 1 || out.Skips[0].Path != "created" || !out.Skips[0].Failed || out.Exact {
		t.Errorf("outcome %+v", out)
	}
	if w.read(w.file("replaced")) != "old" || w.exists("deleted") {
		t.Error("the restore did not happen")
	}
}

// What is written to a file that is out of its place already, by who has it open, is captured, too.
func TestWrittenAfterItWasDisplaced(t *testing.T) {
	w := newWorld(t)
	w.write("open", "old")
	target := w.now()
	w.write("open", "new")
	w.write("deleted", "new")
	p := w.plan(target)
	held, err := os.OpenFile(w.file("open"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer held.Close()
	opts := w.options()
	faults := &faults{before: func(op, name string) {
		if op == "rename" { // what is deleted goes: all else is in its place by then
			_, err := held.WriteString(" and more")
			must(t, err)
		}
	}}
	p.o.FS, p.o.Workers = faults.wrap(p.o.FS), 1
	out, err := p.Apply(t.Context(), opts)
	must(t, err)
	w.noTemps()
	if w.read(w.file("open")) != "old" || len(out.Late) != 1 || out.Late[0].Path != "open" {
		t.Fatalf("outcome %+v", out)
	}
	if data, err := w.get(out.Late[0].Entry.ID); err != nil || string(data) != "new and more" {
		t.Errorf("captured late: %q, %v", data, err)
	}
}

// With KeepLate it stays as it is now, and that is said; so does what was written to once it was out of its place.
func TestChangedAfterThePlanIsKept(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"replaced", "open", "gone", "calm"} {
		w.write(name, "old")
	}
	target := w.now()
	for _, name := range []string{"replaced", "open", "gone", "calm", "deleted"} {
		w.write(name, "new")
	}
	p := w.plan(target)
	w.write("replaced", "newest")
	w.write("deleted", "newest too")
	must(t, os.Remove(w.file("gone")))
	held, err := os.OpenFile(w.file("open"), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer held.Close()
	opts := w.options()
	opts.KeepLate = true
	written := 0
	faults := &faults{before: func(op, name string) {
		if op == "rename" && name == "deleted" { // all is in its place by then
			written++
			_, err := held.WriteString(" and more")
			must(t, err)
		}
	}}
	p.o.FS, p.o.Workers = faults.wrap(p.o.FS), 1
	out, err := p.Apply(t.Context(), opts)
	must(t, err)
	w.noTemps()
	if written != 1 {
		t.Fatalf("written %d times", written)
	}
	for name, want := range map[string]string{"replaced": "newest", "deleted": "newest too", "open": "new and more", "calm": "old"} {
		if got := w.read(w.file(name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if w.exists("gone") || len(out.Skips) != 4 || len(out.Changes) != 1 || out.Exact || len(out.Late) != 0 {
		t.Errorf("outcome %+v", out)
	}
}

// What cannot be captured late is put back.
func TestChangedAndUnreadableAfterThePlan(t *testing.T) {
	w := newWorld(t)
	w.write("a", "old")
	target := w.now()
	w.write("a", "new")
	w.write("b", "new")
	p := w.plan(target)
	for _, name := range []string{"a", "b"} {
		must(t, os.Remove(w.file(name)))
		must(t, syscall.Mkfifo(w.file(name), 0o644))
	}
	out, err := p.Apply(t.Context(), w.options())
	must(t, err)
	w.noTemps()
	if len(out.Skips) != 2 || len(out.Changes) != 0 {
		t.Errorf("outcome %+v", out)
	}
	for _, name := range []string{"a", "b"} {
		if w.stat(w.file(name)).Mode&syscall.S_IFMT != syscall.S_IFIFO {
			t.Errorf("%s is no FIFO any more", name)
		}
	}
}

// A directory that gets something while it is about to go stays whole.
func TestDirectoryFilledAfterThePlan(t *testing.T) {
	w := newWorld(t)
	w.write("p", "a file")
	target := w.now()
	must(t, os.Remove(w.file("p")))
	w.write("p/in", "captured")
	p := w.plan(target)
	w.write("p/late", "in no checkpoint")
	out, err := p.Apply(t.Context(), w.options())
	must(t, err)
	w.noTemps()
	if len(out.Skips) != 1 || w.read(w.file("p/late")) != "in no checkpoint" || w.read(w.file("p/in")) != "captured" {
		t.Errorf("outcome %+v", out)
	}
}

// Ctrl-C puts everything back: the same inodes, with their times.
func TestCancelPutsBack(t *testing.T) {
	for _, at := range []string{"create", "exchange", "rename", "record"} {
		w := newWorld(t)
		w.o.Workers = 1
		w.variety(1)
		target := w.now()
		w.variety(0)
		start := w.now()
		old := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(w.file("changed"), old, old))
		before := *w.stat(w.file("changed"))
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		f := &faults{before: func(op, name string) {
			if op == at {
				if seen++; seen == 3 {
					cancel()
				}
			}
		}}
		w.wrap = f.wrap
		p := w.plan(target)
		opts := w.options()
		opts.Record = func(*Outcome) error {
			if at == "record" {
				return errors.New("no space for the record")
			}
			return nil
		}
		_, err := p.Apply(ctx, opts)
		cancel()
		if err == nil {
			t.Fatalf("%s: not cancelled", at)
		}
		w.same(start, "put back at "+at)
		w.noTemps()
		if now := w.stat(w.file("changed")); now.Ino != before.Ino || now.Size != before.Size || mtime(now) != mtime(&before) {
			t.Errorf("%s: the file is not the one that it was", at)
		}
	}
}

// flip swaps a directory for a link to the outside, and for one into .git/hooks,
// until its input ends. It is what the second process of TestSymlinkSwaps does.
func flip(root, outside string) {
	d, away := filepath.Join(root, "d"), filepath.Join(root, "away")
	var stop atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop.Store(true)
	}()
	n := 0
	for ; !stop.Load(); n++ {
		link := outside
		if n%2 == 0 {
			link = ".git/hooks"
		}
		if os.Rename(d, away) != nil {
			continue
		}
		os.Symlink(link, d)
		for range n % 5 {
			os.Lstat(d) // some time passes, never the same
		}
		os.Remove(d)
		if os.Rename(away, d) != nil { // a directory was made in the meantime
			os.RemoveAll(away)
		}
		for range n % 30 {
			os.Lstat(d)
		}
	}
	fmt.Println("flips:", n)
}

// While a restore runs, another process flips a directory to a link to the
// outside, and to one into .git/hooks. Nothing is ever written or deleted there.
func TestSymlinkSwaps(t *testing.T) {
	if root := os.Getenv("REWIND_TEST_FLIP"); root != "" {
		flip(root, os.Getenv("REWIND_TEST_FLIP_TO"))
		return
	}
	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	symlinkSwaps(t, func(round int) bool { return round < rounds })
}

func TestSoakSymlinkSwaps(t *testing.T) {
	soak, err := time.ParseDuration(os.Getenv("REWIND_SOAK"))
	if err != nil {
		t.Skip("set REWIND_SOAK to a duration, as make soak does")
	}
	end := time.Now().Add(soak / 4)
	symlinkSwaps(t, func(int) bool { return time.Now().Before(end) })
}

func symlinkSwaps(t *testing.T, more func(round int) bool) {
	w := newWorld(t)
	outside := filepath.Join(filepath.Dir(w.root), "outside")
	for _, dir := range []string{outside, w.file(".git/hooks")} {
		must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
		for i := range 6 {
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", i)), []byte("not yours"), 0o600))
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("sub/f%d", i)), []byte("not yours"), 0o600))
		}
	}
	fill := func(tag string, n int) oid.ID {
		must(t, os.RemoveAll(w.file("d")))
		for i := range n {
			w.write(fmt.Sprintf("d/f%d", i), tag)
			w.write(fmt.Sprintf("d/sub/f%d", i), tag)
		}
		return w.now()
	}
	one, two := fill("one", 6), fill("second", 3)
	cmd := exec.Command(os.Args[0], "-test.run=^TestSymlinkSwaps$", "-test.v")
	cmd.Env = append(os.Environ(), "REWIND_TEST_FLIP="+w.root, "REWIND_TEST_FLIP_TO="+outside)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	var said strings.Builder
	cmd.Stdout = &said
	must(t, cmd.Start())
	state := func() string {
		out := ""
		for _, dir := range []string{outside, w.file(".git/hooks")} {
			out += outsideState(t, dir) + outsideState(t, filepath.Join(dir, "sub"))
		}
		return out
	}
	before := state()
	restores, changed := 0, 0
	for i := 0; more(i) || changed == 0 && i < 5000; i++ { // the flips may win a while
		target := one
		current := two
		if i%2 == 0 {
			target, current = two, one
		}
		f, err := rootfs.Open(w.root)
		must(t, err)
		p, err := NewPlan(t.Context(), Options{FS: calm{f}, Source: w.memStore, Current: current, Target: target})
		must(t, err)
		must(t, p.Read(t.Context(), memSink{w.memStore}))
		opts := w.options()
		opts.NoSync = true
		if out, err := p.Apply(t.Context(), opts); err == nil {
			restores++
			changed += len(out.Changes)
		}
		must(t, removeJournal(&ApplyOptions{Dir: w.store}))
		f.Close()
	}
	stdin.Close()
	must(t, cmd.Wait())
	_, flips, _ := strings.Cut(said.String(), "flips: ")
	flips, _, _ = strings.Cut(flips, "\n")
	t.Logf("%d restores, %d paths changed, %s flips", restores, changed, flips)
	if changed == 0 {
		t.Error("nothing was restored at all")
	}
	if after := state(); after != before {
		t.Errorf("the outside changed from\n%s\nto\n%s", before, after)
	}
}

// outsideState is everything about a directory that a restore could change.
func outsideState(t *testing.T, dir string) string {
	var out strings.Builder
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		fi, err := e.Info()
		must(t, err)
		if fi.IsDir() {
			fmt.Fprintln(&out, e.Name(), "dir")
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		fmt.Fprintf(&out, "%s %v %v %d %q\n", e.Name(), fi.Mode(), fi.ModTime(), fi.Sys().(*syscall.Stat_t).Ino, data)
	}
	return out.String()
}
