package gitrestore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExact(t *testing.T) {
	b := started(t)
	b.git("branch", "moved")
	b.git("branch", "deleted")
	b.git("branch", "dir/file")
	b.git("tag", "-am", "v1", "v1")
	b.git("symbolic-ref", "refs/heads/alias", "refs/heads/moved")
	b.stash("a", "first")
	b.stash("a", "second")
	b.write("a", "staged")
	b.git("add", "a")
	b.write("a", "unstaged")
	s, was := b.save(), b.look(b.dir)
	b.git("commit", "-qam", "more")
	b.git("stash", "drop", "-q", "stash@{1}")
	b.stash("a", "third")
	b.git("branch", "-qf", "moved", "HEAD")
	b.git("branch", "-qD", "deleted", "dir/file")
	b.git("branch", "dir")
	b.git("symbolic-ref", "-d", "refs/heads/alias")
	b.git("checkout", "-q", "-b", "new")
	b.commit("b", "on new")
	b.forget()
	before := b.objects()
	p := b.restore(s, b.target(), Exact)
	b.write("a", "unstaged")
	if err := os.Remove(filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	b.same(was, b.look(b.dir), "refs", "stash", "index", "status", "head")
	b.haveAll(before)
	if text := strings.Join(lines(p), "\n"); !strings.Contains(text, "ref goes refs/heads/new") || !strings.Contains(text, "head moves HEAD") || !strings.Contains(text, "index moves index") {
		t.Errorf("lines %s", text)
	}
	if got := b.git("reflog", "-1", "--format=%gs", "main"); got != "rewind: restore to 42" {
		t.Errorf("reflog: %s", got)
	}
}

// objects are all that references, reflogs and the index reach.
func (b *box) objects() string {
	b.t.Helper()
	return b.git("rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects", "HEAD")
}

// haveAll expects the objects to be there.
func (b *box) haveAll(ids string) {
	b.t.Helper()
	file := filepath.Join(b.home, "ids")
	if err := os.WriteFile(file, []byte(ids+"\n"), 0o644); err != nil {
		b.t.Fatal(err)
	}
	out := b.at(b.dir, "-c", "alias.check=!git cat-file --batch-check <"+file, "check")
	if strings.Contains(out, "missing") {
		b.t.Errorf("objects are missing: %s", out)
	}
}

func TestDetachedAndInProgress(t *testing.T) {
	b := started(t)
	b.git("checkout", "-qb", "topic", "HEAD~1")
	b.commit("a", "topic")
	if _, err := b.try(b.dir, "rebase", "main"); err == nil {
		t.Fatal("no conflict")
	}
	s, was := b.save(), b.look(b.dir)
	conflict, err := os.ReadFile(filepath.Join(b.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	b.git("rebase", "--abort")
	b.git("checkout", "-q", "main")
	b.git("branch", "-qD", "topic")
	b.forget()
	p := b.restore(s, b.target(), Exact)
	b.write("a", string(conflict))
	b.same(was, b.look(b.dir), "refs", "index", "status", "head")
	if text := strings.Join(lines(p), "\n"); !strings.Contains(text, "progress returns rebase") {
		t.Errorf("lines %s", text)
	}
	b.write("a", "solved")
	b.git("add", "a")
	b.git("rebase", "--continue")
	if got := b.git("log", "-1", "--format=%s", "topic"); got != "a: topic" {
		t.Errorf("topic ends with %s", got)
	}
	before := b.save()
	if _, err := b.try(b.dir, "cherry-pick", "HEAD~2"); err == nil {
		t.Fatal("no conflict")
	}
	if p := b.plan(before, b.target(), Exact); len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0], "A cherry-pick is in progress") {
		t.Errorf("refusals %q", p.Refusals)
	}
}

func TestStagedContentIsKept(t *testing.T) {
	b := started(t)
	b.write("a", "an hour of staging")
	b.write("new", "new")
	b.git("add", "a", "new")
	b.git("add", "-N", ".")
	s := b.save()
	b.git("reset", "-q", "--hard")
	b.forget()
	p := b.restore(s, b.target(), Missing)
	b.wantLines(p, "reflog returns", "index returns as refs/heads/rewind/42/index index")
	if got := b.git("show", "rewind/42/index:a"); got != "an hour of staging" {
		t.Errorf("a is %s", got)
	}

	b.write("a", "then committed")
	b.git("add", "a")
	s = b.save()
	b.git("commit", "-qm", "c")
	b.commit("a", "and more")
	b.wantLines(b.restore(s, b.target(), Missing))

	b.write("a", "1") // as in the first commit
	b.git("add", "a")
	s = b.save()
	b.git("reset", "-q", "--hard")
	b.restore(s, b.target(), Missing) // and then nothing is left to do
}

func TestWorktreeRemoved(t *testing.T) {
	b := started(t)
	dir := filepath.Join(filepath.Dir(b.dir), "linked")
	b.git("worktree", "add", "-q", "-b", "topic", dir)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("staged there"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.at(dir, "add", "a")
	s, was := b.save(), b.look(dir)
	b.git("worktree", "remove", "--force", dir)
	b.git("branch", "-qD", "topic")
	b.forget()
	main := b.look(b.dir)
	p := b.plan(s, b.target(), Missing)
	if text := strings.Join(lines(p), "\n"); !strings.Contains(text, "index returns as refs/heads/rewind/42/linked-index") {
		t.Errorf("lines %s", text)
	}
	p = b.restore(s, b.linked(dir), Missing)
	if text := strings.Join(lines(p), "\n"); !strings.Contains(text, "worktree returns") {
		t.Errorf("lines %s", text)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("staged there"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.same(was, b.look(dir), "refs", "index", "status", "head")
	b.same(main, b.look(b.dir), "index", "status", "head")

	if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.restore(s, b.linked(dir), Exact)
	b.same(was, b.look(dir), "refs", "index", "status", "head")

	for _, d := range []string{filepath.Join(b.dir, ".git"), filepath.Join(dir, ".git")} { // both are gone
		if err := os.RemoveAll(d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.plan(s, b.linked(dir), Missing).Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.same(was, b.look(dir), "refs", "index", "status", "head")
}

func TestExactWhereAnotherWorktreeIs(t *testing.T) {
	b := started(t)
	s := b.save()
	dir := filepath.Join(filepath.Dir(b.dir), "linked")
	b.git("worktree", "add", "-q", "-b", "theirs", dir)
	p := b.restore(s, b.target(), Exact)
	b.wantLines(p, "ref stays refs/heads/theirs")
}

func TestEmptyReference(t *testing.T) {
	for _, mode := range []Mode{Missing, Exact} {
		b := started(t)
		s, was := b.save(), b.look(b.dir)
		if err := os.Truncate(filepath.Join(b.dir, ".git", "refs", "heads", "main"), 0); err != nil {
			t.Fatal(err)
		}
		b.wantLines(b.restore(s, b.target(), mode), "ref returns refs/heads/main")
		b.same(was, b.look(b.dir), "refs", "status")
	}
}

// TestSymbolicReferenceWhereOthersGo: it returns where references below its name go, and they return where it goes.
func TestSymbolicReferenceWhereOthersGo(t *testing.T) {
	for _, packed := range []bool{false, true} {
		b := started(t)
		b.git("branch", "other")
		b.git("symbolic-ref", "refs/heads/sym", "refs/heads/other")
		b.git("checkout", "-q", "sym")
		with, was := b.save(), b.look(b.dir)
		b.git("checkout", "-q", "main")
		b.git("symbolic-ref", "-d", "refs/heads/sym")
		b.git("checkout", "-qb", "sym/x/y")
		b.commit("b", "x")
		if packed {
			b.git("pack-refs", "--all")
		}
		without, is := b.save(), b.look(b.dir)
		for range 2 {
			b.wantLines(b.restore(with, b.target(), Exact), "ref goes refs/heads/sym/x/y", "ref returns refs/heads/sym", "reflog returns refs/heads/sym", "head moves HEAD", "index moves index")
			b.same(was, b.look(b.dir), "refs", "head")
			b.restore(without, b.target(), Back)
			b.same(is, b.look(b.dir), "refs", "head")
		}
	}
}

// TestSquashMerge: what git prepared for the commit of a squash merge returns, and goes where there was none.
func TestSquashMerge(t *testing.T) {
	b := started(t)
	b.git("checkout", "-qb", "side")
	b.commit("a", "side")
	b.git("checkout", "-q", "main")
	without := b.save()
	b.commit("a", "main")
	if _, err := b.try(b.dir, "merge", "--squash", "side"); err == nil {
		t.Fatal("no conflict")
	}
	files := []string{"SQUASH_MSG", "MERGE_MSG"}
	read := func() (all string) {
		for _, name := range files {
			text, _ := os.ReadFile(filepath.Join(b.dir, ".git", name))
			all += name + string(text)
		}
		return all
	}
	s, was := b.save(), read()
	b.git("reset", "-q", "--hard")
	p := b.restore(s, b.target(), Exact)
	b.wantLines(p, "progress returns squash merge", "index moves index")
	if is := read(); is != was || !strings.Contains(is, "Squashed commit") {
		t.Errorf("%s, not %s", is, was)
	}
	p = b.restore(without, b.target(), Exact)
	if text := strings.Join(lines(p), "\n"); !strings.Contains(text, "progress goes squash merge") || read() != strings.Join(files, "") {
		t.Errorf("lines %s, and %s", text, read())
	}
}
