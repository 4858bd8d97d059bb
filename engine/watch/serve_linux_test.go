package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// served is a lab about which others are answered.
func served(t *testing.T) (*lab, func(cache string) []string) {
	l := open(t)
	s := Serve(l.root, func(string) map[string]bool { return map[string]bool{"": true, "sub": true} })
	if s == nil {
		t.Skip("the file system of the tests is not one that is trusted")
	}
	t.Cleanup(s.Close)
	s.Answer(l.tree)
	return l, func(cache string) []string {
		t.Helper()
		a := l.ask(Question{Cache: cache})
		defer a.Close()
		return told(a.Answer)
	}
}

// ask asks until it is answered: a watcher that is busy for longer than a hook waits gives no answer, and the hook walks.
func (l *lab) ask(q Question) *Asked {
	l.t.Helper()
	for range 1000 {
		if a := Ask(l.root, q); a != nil {
			return a
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Fatal("no watcher answers")
	return nil
}

// report tells of a look at everything, and waits until the tree knows of it.
func (l *lab) report(cache string, again ...[]byte) {
	l.t.Helper()
	l.ask(Question{Cache: "?"}).Report(Report{Cache: cache, Whole: true, Again: again})
	for range 1000 {
		tr := l.tree.(*tree)
		tr.mu.Lock()
		found := slices.ContainsFunc(tr.journal.looks, func(k look) bool { return k.id == cache })
		tr.mu.Unlock()
		if found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Fatal("the report did not arrive")
}

func TestAsked(t *testing.T) {
	l, ask := served(t)
	is := func(what, cache string, want ...string) {
		t.Helper()
		if got := ask(cache); !slices.Equal(got, slices.Concat([]string{}, want)) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	is("before a report", "x", "all")
	l.report("x", []byte("racy\xff"))
	is("after it", "x", "racy\xff")
	// What is done when the question comes has been seen, however short ago it was.
	for i := range 50 {
		name := string(rune('a' + i))
		l.write("sub/" + name)
		if got := ask("x"); !slices.Contains(got, "sub/"+name) {
			t.Fatalf("round %d: %q", i, got)
		}
	}
	l.report("y")
	f, err := os.OpenFile(filepath.Join(l.root, "sub/a"), os.O_RDWR, 0)
	do(err)
	is("a file that is open", "y", "sub/a")
	do(os.Rename(filepath.Join(l.root, "sub/a"), filepath.Join(l.root, "moved")))
	is("under its new name", "y", "moved", "moved", "sub/a")
	do(f.Close())
	l.report("z")
	is("a file that was closed", "z")
	do(os.Mkdir(filepath.Join(l.root, "new"), 0o755))
	is("a new directory", "z", "new/")
	l.write("sub/.gitignore")
	is("a rule", "z", "all")
	l.reopen()
	is("of a tree that was closed", "z", "all")
}

// A real overflow: nobody takes the events.
func TestAskedAfterAnOverflow(t *testing.T) {
	l, ask := served(t)
	l.report("x")
	tr := l.tree.(*tree)
	tr.mu.Lock()
	for i := range 20_000 {
		if err := os.Chmod(filepath.Join(l.root, []string{"sub", "sub/deep"}[i%2]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tr.mu.Unlock()
	if got := ask("x"); !slices.Equal(got, []string{"all"}) {
		t.Errorf("after an overflow: %q", got)
	}
	if !l.tree.Stale() {
		t.Error("not stale after an overflow")
	}
}

// One who does not answer in time, is another's, or is not there: everything is looked at.
func TestAskedNobody(t *testing.T) {
	l, ask := served(t)
	l.report("x")
	tr := l.tree.(*tree)
	tr.mu.Lock()
	if a := Ask(l.root, Question{Cache: "x"}); a != nil {
		t.Errorf("one who hangs: %q", told(a.Answer))
	}
	tr.mu.Unlock()
	if got := ask("x"); len(got) != 0 {
		t.Errorf("afterwards: %q", got)
	}
	if second := Serve(l.root, nil); second != nil {
		t.Error("two answer for one directory")
	}
	if a := Ask(t.TempDir(), Question{}); a != nil {
		t.Error("somebody answers for another directory")
	}
	if a := Ask(filepath.Join(l.root, "none"), Question{}); a != nil {
		t.Error("somebody answers for what is not there")
	}
	if address("/proc") != "" {
		t.Error("the kernel's own file system is trusted")
	}
}

// A process of another account gets no answer.
func TestAskedByAnotherAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED HERE: only root can be another account")
	}
	l, _ := served(t)
	name := address(l.root)
	n := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its other user
		defer close(n)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); errno != 0 {
			return
		}
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return
		}
		defer unix.Close(fd)
		if unix.Connect(fd, &unix.SockaddrUnix{Name: name}) != nil {
			return
		}
		_, _ = unix.Write(fd, []byte("{}\n"))
		got, _ := unix.Read(fd, make([]byte, 100))
		n <- got
	}()
	switch got, ok := <-n; {
	case !ok:
		t.Error("it could not be asked at all")
	case got > 0:
		t.Errorf("%d bytes were answered", got)
	}
}
