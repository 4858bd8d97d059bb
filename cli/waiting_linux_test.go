package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A person who waits for a lock is told for whom; nobody else is.
func TestTerminalWaiting(t *testing.T) {
	for _, name := range []string{"tree", "append"} {
		t.Run(name, func(t *testing.T) {
			x := newTerminal(t)
			x.write("a.txt", "one\n")
			x.mustRun("init")
			x.write("a.txt", "two\n")
			lock, err := os.Open(filepath.Join(x.dir, ".agent/rewind/lock", name))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			cmd := x.start("save")
			x.expect(fmt.Sprintf("Waiting for another rewind (pid %d) to finish…", os.Getpid()))
			if err := unix.Flock(int(lock.Fd()), unix.LOCK_UN); err != nil {
				t.Fatal(err)
			}
			if code := x.wait(cmd); code != 0 {
				t.Errorf("exit code %d: %q", code, x.take())
			}
			if screen := x.mustRun("save"); strings.Contains(screen, "Waiting") {
				t.Errorf("%q", screen)
			}
		})
	}
}

// gc asks before checkpoints go that its flags name; no is an answer, not something to advise on.
func TestTerminalGCAsks(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.mustRun("save")
	x.mustRun("save")
	cmd := x.start("gc", "--keep", "1")
	x.expect("This removes 2 checkpoints, keeps 1, and cannot be undone. Continue? [y/N]")
	x.send("n\r")
	if code := x.wait(cmd); code != 1 {
		t.Errorf("exit code %d", code)
	}
	x.settle()
	if screen := x.take(); !strings.Contains(screen, "nothing was changed") || strings.Contains(screen, "hint") {
		t.Errorf("%q", screen)
	}
	if screen := x.mustRun("list", "--oneline"); strings.Count(screen, "\n") != 3 {
		t.Errorf("%q", screen)
	}
	x.mustRun("gc") // the settings name nothing
	x.mustRun("gc", "--keep", "1", "--dry-run")
	x.mustRun("gc", "--keep", "5")
	x.mustRun("gc", "--keep", "2", "--yes")
	cmd = x.start("gc", "--keep", "1")
	x.expect("This removes 1 checkpoint, keeps 1")
	x.send("y\r")
	if code := x.wait(cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
