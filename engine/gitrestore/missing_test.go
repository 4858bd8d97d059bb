package gitrestore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forget loses for good what nothing names.
func (b *box) forget() {
	b.t.Helper()
	b.git("reflog", "expire", "--expire=now", "--all")
	b.git("gc", "-q", "--prune=now")
}

func started(t *testing.T) *box {
	b := newBox(t)
	b.commit("a", "1")
	b.commit("a", "2")
	return b
}

func TestGitDirectoryIsGone(t *testing.T) {
	b := started(t)
	b.git("branch", "other", "HEAD~1")
	b.git("tag", "-am", "v1", "v1")
	b.stash("a", "stashed")
	b.commit("b", "packed")
	b.git("gc", "-q")
	b.commit("c", "loose")
	b.write("a", "staged")
	b.git("add", "a")
	b.git("config", "some.thing", "kept")
	hook := filepath.Join(b.dir, ".git", "hooks", "pre-commit")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, was := b.save(), b.look(b.dir)
	log := b.git("reflog")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // no git is needed
	p := b.plan(s, b.target(), Missing)
	_, err := p.Apply(t.Context())
	t.Setenv("PATH", path)
	if err != nil {
		t.Fatal(err)
	}
	b.same(was, b.look(b.dir), "refs", "stash", "index", "status", "head")
	if now := b.git("reflog"); now != log {
		t.Errorf("reflog %s, not %s", now, log)
	}
	b.git("fsck", "--full", "--strict")
	if b.git("config", "some.thing") != "kept" {
		t.Error("the configuration is another")
	}
	if info, err := os.Stat(hook); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the hook: %v, %v", info, err)
	}
	like, err := os.Stat(b.dir) // a new directory
	if info, serr := os.Stat(filepath.Join(b.dir, ".git")); err != nil || serr != nil || info.Mode() != like.Mode() {
		t.Errorf("the git directory: %v, %v, %v", info, serr, err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, ".git?*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

var path = os.Getenv("PATH")

func TestHalfOfTheGitDirectoryIsGone(t *testing.T) {
	b := started(t)
	b.stash("a", "stashed")
	s, was := b.save(), b.look(b.dir)
	later := b.commit("a", "after the checkpoint")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git", "refs")); err != nil {
		t.Fatal(err)
	}
	b.restore(s, b.target(), Missing)
	b.same(was, b.look(b.dir), "refs", "stash", "index", "head")
	b.git("cat-file", "-e", later)
	if log, err := os.ReadFile(filepath.Join(b.dir, ".git", remainsName, "logs", "HEAD")); err != nil || !strings.Contains(string(log), later) {
		t.Errorf("the remains have %s, %v", log, err)
	}
}

func TestStashCleared(t *testing.T) {
	b := started(t)
	b.stash("a", "first")
	b.stash("a", "second")
	b.stash("a", "third")
	s, was := b.save(), b.look(b.dir)
	b.git("stash", "drop", "-q", "stash@{1}")
	b.forget()
	p := b.restore(s, b.target(), Missing)
	b.wantLines(p, "stash returns On main: first", "stash returns On main: second", "stash returns On main: third", "reflog returns")
	b.same(was, b.look(b.dir), "refs", "stash")

	b.git("stash", "clear")
	b.forget()
	b.restore(s, b.target(), Missing)
	b.same(was, b.look(b.dir), "refs", "stash")

	b.git("stash", "clear")
	b.stash("a", "new")
	p = b.restore(s, b.target(), Missing)
	b.wantLines(p, "stash returns On main: first", "stash returns On main: second", "stash returns On main: third")
	if got := b.git("stash", "list", "--format=%gs"); got != "On main: new\nOn main: third\nOn main: second\nOn main: first" {
		t.Errorf("stash %s", got)
	}
	b.git("stash", "pop", "-q")
	b.git("checkout", "-q", "a")
	b.git("stash", "drop", "-q")
	if got := b.git("stash", "list", "--format=%gs"); got != "On main: second\nOn main: first" {
		t.Errorf("stash %s", got)
	}
}

func TestBranchDeleted(t *testing.T) {
	b := started(t)
	b.git("checkout", "-qb", "topic/one")
	b.commit("b", "topic")
	b.commit("b", "more")
	b.git("tag", "-am", "note", "v1")
	b.git("checkout", "-q", "main")
	s, was := b.save(), b.look(b.dir)
	log := b.git("reflog", "show", "topic/one")
	b.git("branch", "-qD", "topic/one")
	b.git("tag", "-d", "v1")
	b.forget()
	p := b.restore(s, b.target(), Missing)
	b.wantLines(p, "ref returns refs/heads/topic/one", "ref returns refs/tags/v1", "reflog returns")
	b.same(was, b.look(b.dir), "refs", "status")
	if now := b.git("reflog", "show", "topic/one"); len(now) < len(log) {
		t.Errorf("reflog\n%s\nnot\n%s", now, log)
	}
}

func TestResetAndAmended(t *testing.T) {
	b := started(t)
	tip := b.commit("a", "3")
	s := b.save()
	b.git("reset", "-q", "--hard", "HEAD~2")
	b.forget()
	p := b.restore(s, b.target(), Missing)
	b.wantLines(p, "ref returns as refs/heads/rewind/42/main refs/heads/main", "reflog returns")
	if got := b.git("rev-parse", "rewind/42/main"); got != tip {
		t.Errorf("it returned as %s", got)
	}

	b.git("merge", "-q", "rewind/42/main")
	b.git("branch", "-qD", "rewind/42/main")
	b.wantLines(b.restore(s, b.target(), Missing)) // it is part of main
}

func TestNamesThatAreTaken(t *testing.T) {
	b := started(t)
	tip := b.commit("a", "3")
	b.git("branch", "a/b")
	b.git("tag", "t")
	b.git("update-ref", "refs/remotes/origin/main", "HEAD")
	b.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	b.git("checkout", "-q", "--detach")
	detached := b.commit("a", "detached")
	s := b.save()
	b.git("checkout", "-q", "main")
	b.git("reset", "-q", "--hard", "HEAD~1")
	b.git("branch", "-qD", "a/b")
	b.git("branch", "a")
	b.git("branch", "rewind")
	b.git("tag", "-f", "t")
	b.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
	b.git("update-ref", "refs/remotes/origin/main", "HEAD")
	b.forget()
	p := b.restore(s, b.target(), Missing)
	b.wantLines(p,
		"ref returns as refs/heads/rewind-2/42/a/b refs/heads/a/b",
		"ref returns refs/remotes/origin/HEAD",
		"head returns as refs/heads/rewind-2/42/HEAD HEAD",
		"reflog returns")
	if got := b.git("rev-parse", "rewind-2/42/a/b"); got != tip {
		t.Errorf("a/b is %s", got)
	}
	if got := b.git("rev-parse", "rewind-2/42/HEAD"); got != detached {
		t.Errorf("HEAD is %s", got)
	}
}

func TestNothingIsLost(t *testing.T) {
	b := started(t)
	b.stash("a", "stashed")
	s := b.save()
	b.commit("b", "more")
	b.git("branch", "new")
	b.wantLines(b.restore(s, b.target(), Missing))
}

func TestInitialisedAnew(t *testing.T) {
	b := started(t)
	b.stash("a", "stashed")
	tip := b.git("rev-parse", "HEAD")
	s, was := b.save(), b.look(b.dir)
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.git("init", "-q", "-b", "main")
	b.commit("a", "all anew")
	b.restore(s, b.target(), Missing)
	if got := b.git("rev-parse", "rewind/42/main"); got != tip {
		t.Errorf("main is %s", got)
	}
	b.same(was, b.look(b.dir), "stash")
}

// TestStashWithoutAReflogLine: after reflog expire, the reference alone has an entry; it returns as one that git lists.
func TestStashWithoutAReflogLine(t *testing.T) {
	b := started(t)
	b.stash("a", "one")
	b.git("reflog", "expire", "--expire=now", "--all")
	id := b.git("rev-parse", "refs/stash")
	s := b.save()
	b.stash("a", "two")
	b.forget()
	b.restore(s, b.target(), Missing)
	if got := b.git("stash", "list", "--format=%H %gs"); !strings.Contains(got, id+" On main: one\n") && !strings.HasSuffix(got, id+" On main: one") {
		t.Errorf("the stash has %s and lacks %s On main: one", got, id)
	}
	log, err := os.ReadFile(filepath.Join(b.dir, ".git", "logs", "refs", "stash"))
	if who := " " + b.git("log", "-1", "--date=raw", "--format=%cn <%ce> %cd", id) + "\tOn main: one\n"; err != nil || !strings.Contains(string(log), id+who) {
		t.Errorf("the reflog has %s, %v", log, err)
	}
}

// TestStashThatWasNotListed: an undo of what gave an entry of the stash its line in the reflog takes the line away again.
func TestStashThatWasNotListed(t *testing.T) {
	for _, older := range []bool{false, true} {
		b := started(t)
		if older {
			b.stash("a", "zero")
		}
		b.stash("a", "one")
		with := b.save()
		if older {
			b.git("reflog", "delete", "refs/stash@{0}") // the reference keeps it
		} else {
			b.git("reflog", "expire", "--expire=now", "refs/stash")
		}
		id := b.git("rev-parse", "refs/stash")
		without, was := b.save(), b.look(b.dir)
		b.restore(with, b.target(), Missing)
		is := b.look(b.dir)
		if !strings.Contains(is["stash"], id) {
			t.Fatalf("the stash has %s", is["stash"])
		}
		for range 2 {
			p := b.restore(without, b.target(), Back)
			b.wantLines(p, "stash goes On main: one")
			b.same(was, b.look(b.dir), "stash", "refs")
			b.restore(with, b.target(), Back)
			b.same(is, b.look(b.dir), "stash", "refs")
		}
	}
}
