package gitrepo_test

import (
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

func TestStashHoldingAsGitMadeIt(t *testing.T) {
	b := newBox(t)
	b.run("init", "-q")
	b.write("a", "one")
	b.commit()
	repo, ok := gitrepo.Find(b.dir)
	if !ok {
		t.Fatal("no repository")
	}
	if n, ok := repo.StashHolding(".agent/rewind"); ok {
		t.Errorf("nothing is stashed: %d", n)
	}
	b.write(".agent/rewind/.gitignore", "*\n")
	b.write(".agent/rewind/format", "x")
	b.write("a", "two")
	b.write("u", "untracked")
	b.run("stash", "-u")
	if n, ok := repo.StashHolding(".agent/rewind"); ok {
		t.Errorf("-u leaves it: %d", n)
	}
	b.run("stash", "-a")
	b.write("a", "three")
	b.run("stash")
	if n, ok := repo.StashHolding(".agent/rewind"); !ok || n != 1 {
		t.Errorf("stash@{%d}, %v; want 1", n, ok)
	}
	if n, ok := repo.StashHolding(".agent/other"); ok {
		t.Errorf("stash@{%d}", n)
	}
	b.run("stash", "clear")
	if _, ok := repo.StashHolding(".agent/rewind"); ok {
		t.Error("the stash is empty")
	}
}
