//go:build unix

package gitrepo_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO, a directory or an endless device in the place of a file is passed
// over or refused, and nobody waits for it.
func TestFilesThatAreNone(t *testing.T) {
	b := newBox(t)
	b.run("init", "-q")
	fifo := func(path string) {
		file := filepath.Join(b.dir, path)
		_ = os.Remove(file) // it may not be there
		mkdir(t, filepath.Dir(file))
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := b.find(b.dir)
	fifo(".git/info/exclude")
	if _, _, err := r.Excludes(b.home); err == nil {
		t.Error("a FIFO as exclude file: no error")
	}
	fifo(".git/index")
	if _, err := r.Tracked(); err == nil {
		t.Error("a FIFO as index: no error")
	}
	fifo(".git/HEAD")
	if _, _, err := r.Head(); err == nil {
		t.Error("a FIFO as HEAD: no error")
	}
	fifo(".git/config")
	fifo(".git/commondir")
	fifo(".git/packed-refs")
	if _, ok := b.findMaybe(b.dir); !ok {
		t.Error("a repository with a FIFO as configuration is not found")
	}
	fifo("sub/.git")
	if found, ok := b.findMaybe(filepath.Join(b.dir, "sub")); !ok || found != b.dir {
		t.Errorf("below a FIFO called .git: %q %v", found, ok)
	}
	if err := os.Remove(filepath.Join(b.dir, ".git", "info", "exclude")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(b.dir, ".git", "info", "exclude")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Excludes(b.home); err == nil {
		t.Error("a device as exclude file: no error")
	}
}
