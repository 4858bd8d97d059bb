package gitrestore

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// What a git that was killed with its restore has left is no other git's: the next one removes it. A lock that was there before, or
// came later, is.
func TestLocksOfAKilledGit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	s := b.save()
	b.git("branch", "-qD", "topic")
	b.git("branch", "new")
	b.git("pack-refs", "--all")
	left := []string{"HEAD.lock", "packed-refs.lock", "packed-refs.new", "refs/heads/topic.lock"}
	began := time.Now().Add(-time.Hour)
	const ended = 1 << 30 // of a process
	killed := func(at time.Time) {
		dir := workPrefix + strconv.Itoa(ended) + "-1"
		text := ""
		for _, name := range left {
			text += b.gitFile(name) + "\x00"
			b.write(filepath.Join(".git", name), "")
			if err := os.Chtimes(b.gitFile(name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		b.write(filepath.Join(".git", dir, gitName), text)
		if err := os.Chtimes(b.gitFile(dir+"/"+gitName), began, began); err != nil {
			t.Fatal(err)
		}
	}
	for _, others := range []time.Time{began.Add(-time.Second), began.Add(2 * gitTakes)} {
		killed(others)
		if p := b.plan(s, b.target(), Exact); len(p.Refusals) != len(left) {
			t.Errorf("refused: %q", p.Refusals)
		}
	}
	killed(began)
	b.restore(s, b.target(), Exact)
	b.git("rev-parse", "topic")
	killed(began)
	if err := b.plan(s, b.target(), Exact).ClearUp(); err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if _, err := os.Lstat(b.gitFile(name)); !vfs.IsMissing(err) {
			t.Errorf("%s is there", name)
		}
	}
}

// The locks that git may take are written down while it runs.
func TestLocksOfGitAreWrittenDown(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	id := b.git("rev-parse", "HEAD")
	p := b.plan(b.save(), b.target(), Exact)
	w, err := startWork(b.target().CommonDir)
	if err != nil {
		t.Fatal(err)
	}
	lock := b.gitFile("refs/heads/topic.lock")
	b.write(".git/refs/heads/topic.lock", "") // another git's
	var r Result
	if err := p.applyRefs(t.Context(), w, []refChange{{name: "refs/heads/topic", new: id}}, &r); err == nil {
		t.Error("no error")
	}
	if _, err := os.Lstat(filepath.Join(w.dir, gitName)); !vfs.IsMissing(err) {
		t.Error("git has ended, and its locks are still named")
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(lock); err != nil {
		t.Error("another git's lock was removed")
	}
	if left := leftLocks(b.target().CommonDir); len(left) > 0 || slices.Contains(sorted(left), lock) {
		t.Errorf("left: %v", left)
	}
}
