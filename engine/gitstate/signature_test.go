package gitstate_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestChangedPathsAreEnough: what is captured beside the last state is what is captured from nothing.
func TestChangedPathsAreEnough(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "index/x")
	linked := filepath.Join(b.TempDir(), "linked")
	b.git("worktree", "add", "-q", linked)
	in := func(args ...string) { b.git(append([]string{"-C", linked}, args...)...) }
	in("commit", "-q", "--allow-empty", "-m", "two")
	settle()
	b.save()
	cache := filepath.Join(b.p.StoreDir(), "git")
	steps := []struct {
		name string
		do   func()
	}{
		{"a commit", func() { b.commit("a", "two") }},
		{"an empty commit in the linked worktree", func() { in("commit", "-q", "--allow-empty", "-m", "three") }},
		{"its branch changed from outside", func() { b.git("update-ref", "-m", "moved", "refs/heads/linked", "main") }},
		{"a reset in it", func() { in("reset", "-q", "--hard", "HEAD@{1}") }},
		{"a reference of its own", func() { in("update-ref", "--create-reflog", "refs/worktree/x/y", "HEAD") }},
		{"the same once more", func() { in("update-ref", "refs/worktree/x/y", "HEAD~1") }},
		{"a line of a reflog alone", func() { b.git("update-ref", "--no-deref", "-m", "seen", "HEAD", "HEAD") }},
		{"a nested branch", func() { b.git("branch", "d/e/f") }},
		{"the same moved", func() { b.git("branch", "-f", "d/e/f", "HEAD~1") }},
		{"a branch beside a directory that is called index", func() { b.git("branch", "index/y") }},
		{"packed references", func() { b.git("pack-refs", "--all") }},
		{"a packed branch that moves", func() { b.git("branch", "-f", "d/e/f", "HEAD") }},
		{"a directory of branches that goes", func() { b.git("branch", "-D", "d/e/f") }},
		{"a branch in the place of a directory", func() { b.git("branch", "d") }},
		{"a reflog that is shortened", func() { b.git("reflog", "expire", "--expire=now", "d") }},
		{"a stash", func() { b.write("a", "stashed"); b.git("stash") }},
		{"the worktree removed", func() { b.git("worktree", "remove", "--force", linked) }},
		{"the configuration", func() { b.git("config", "x.y", "z") }},
	}
	for i, step := range steps {
		step.do()
		if i%2 == 0 {
			settle()
		}
		beside := b.save().Git
		aside := filepath.Join(b.TempDir(), "aside")
		if err := os.Rename(cache, aside); err != nil {
			t.Fatal(err)
		}
		if whole := b.save().Git; whole != beside {
			t.Errorf("%s: not all was captured", step.name)
		}
		if err := os.RemoveAll(cache); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(aside, cache); err != nil {
			t.Fatal(err)
		}
	}
}
