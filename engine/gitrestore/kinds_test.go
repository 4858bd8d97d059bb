package gitrestore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKindsOfRepositories loses and restores in repositories that are laid out in other ways.
func TestKindsOfRepositories(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *box{
		"sha256": func(t *testing.T) *box {
			b := newBox(t, "--object-format=sha256")
			b.commit("a", "1")
			b.commit("a", "2")
			return b
		},
		"split index": func(t *testing.T) *box {
			b := started(t)
			b.git("config", "core.splitIndex", "true")
			b.git("update-index", "--split-index")
			return b
		},
		"shallow": func(t *testing.T) *box { return cloned(t, "--depth=1") },
		"partial": func(t *testing.T) *box { return cloned(t, "--filter=blob:none", "--no-checkout") },
		"alternates": func(t *testing.T) *box {
			b := cloned(t, "--shared")
			b.git("repack", "-adlq")
			return b
		},
		"packed": func(t *testing.T) *box {
			b := started(t)
			b.git("gc", "-q")
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := make(t)
			b.git("branch", "topic")
			b.stash("b", "untracked")
			if name != "partial" {
				b.write("a", "staged")
				b.git("add", "a")
			}
			s, was := b.save(), b.look(b.dir)
			b.git("branch", "-D", "topic")
			b.git("stash", "clear")
			b.git("checkout", "-q", "--orphan", "nothing")
			b.git("rm", "-qrf", "--cached", ".")
			if name != "partial" { // of which a gc lets no object of its own go
				b.forget()
			}
			b.restore(s, b.target(), Exact)
			b.same(was, b.look(b.dir), "refs", "stash", "index", "head", "status")

			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			if _, err := b.plan(s, b.target(), Missing).Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.same(was, b.look(b.dir), "refs", "stash", "index", "head", "status")
			b.git("fsck", "--full")
		})
	}
}

// cloned is a box whose repository is a clone.
func cloned(t *testing.T, options ...string) *box {
	b := started(t)
	origin := b.dir
	b.git("config", "uploadpack.allowFilter", "true")
	b.dir = filepath.Join(filepath.Dir(b.dir), "clone")
	b.at(origin, append(append([]string{"clone", "-q"}, options...), "file://"+origin, b.dir)...)
	return b
}

// TestLayoutsThatAreRefused has a sentence for each.
func TestLayoutsThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(*box){
		"reftable": func(b *box) {
			b.git("config", "core.repositoryFormatVersion", "1")
			b.git("config", "extensions.refStorage", "reftable")
		},
		"sha256": func(b *box) {
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			b.git("init", "-q", "--object-format=sha256")
		},
		"is no git directory": func(b *box) {
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			b.write(".git", "what is this")
		},
	} {
		b := started(t)
		s := b.save()
		change(b)
		if p := b.plan(s, b.target(), Missing); len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0], name) {
			t.Errorf("%s: refusals %q", name, p.Refusals)
		}
	}
}

// TestObjectsOnAnotherFileSystem copies where no hard link can be made.
func TestObjectsOnAnotherFileSystem(t *testing.T) {
	other, err := os.MkdirTemp("/tmp", "gitrestore")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(other)
	b := started(t)
	b.git("branch", "topic")
	b.git("checkout", "-q", "topic")
	b.commit("b", "x")
	b.git("checkout", "-q", "main")
	b.held = other
	s, was := b.save(), b.look(b.dir)
	b.git("branch", "-qD", "topic")
	b.forget()
	b.restore(s, b.target(), Missing)
	b.same(was, b.look(b.dir), "refs", "status")
}

// TestWorktreesOfABareRepository has the worktree of a bare repository as its target, and a branch that is lost.
func TestWorktreesOfABareRepository(t *testing.T) {
	b := started(t)
	bare, dir := b.dir+".git", b.dir+"-of-bare"
	b.git("clone", "-q", "--bare", b.dir, bare)
	b.at(bare, "worktree", "add", "-q", "-b", "topic", dir)
	if err := os.Rename(b.dir, b.dir+"-origin"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bare, filepath.Join(b.dir, ".git")); err != nil { // where the box looks
		t.Fatal(err)
	}
	b.at(filepath.Join(b.dir, ".git"), "worktree", "repair", dir)
	b.at(dir, "commit", "-q", "--allow-empty", "-m", "there")
	b.at(dir, "branch", "gone")
	s, was := b.save(), b.look(dir)
	b.at(dir, "branch", "-D", "gone")
	b.at(dir, "checkout", "-q", "--detach", "main")
	b.at(dir, "branch", "-D", "topic")
	b.restore(s, b.linked(dir), Exact)
	b.same(was, b.look(dir), "refs", "index", "head", "status")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	b.restore(s, b.linked(dir), Missing)
	b.same(was, b.look(dir), "refs", "index", "head", "status")
}

// TestSubmodule has a git directory that is not in its work tree.
func TestSubmodule(t *testing.T) {
	b := started(t)
	b.git("init", "-q", "--separate-git-dir", b.dir+"-separate")
	target := Target{WorkTree: b.dir, GitDir: b.dir + "-separate", CommonDir: b.dir + "-separate"}
	was := b.look(b.dir)
	file := filepath.Join(b.dir, ".git")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target.GitDir, file); err != nil { // where the box looks
		t.Fatal(err)
	}
	s := b.saveOf(target.CommonDir)
	for _, gone := range [][]string{{file}, {file, target.GitDir}, {target.GitDir}} {
		for _, name := range gone {
			if err := os.RemoveAll(name); err != nil {
				t.Fatal(err)
			}
		}
		b.restore(s, target, Missing)
		b.same(was, b.look(b.dir), "refs", "index", "head", "status")
	}
}
