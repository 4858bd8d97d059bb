package gitrepo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

func TestFind(t *testing.T) {
	b := newBox(t)
	b.init()
	b.run("add", "-A")
	b.run("commit", "-qm", "x")
	b.run("worktree", "add", "-q", "../linked", "-b", "side")
	linked := filepath.Join(filepath.Dir(b.dir), "linked")
	// A repository for the submodule, and one nested without being one.
	b.at(filepath.Dir(b.dir), "clone", "-q", "work", "source")
	b.run("-c", "protocol.file.allow=always", "submodule", "add", "-q", "../source", "mod")
	b.at(b.dir, "init", "-q", "nested")
	mkdir(t, filepath.Join(b.dir, "broken", ".git"))
	mkdir(t, filepath.Join(b.dir, "broken", "in"))
	b.at(filepath.Dir(b.dir), "clone", "-q", "--bare", "work", "bare.git")
	if err := os.Symlink(filepath.Join(b.dir, "dir"), filepath.Join(b.home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{
		"", "dir", "dir/y", "../linked", "../linked/dir/y", "mod", "mod/dir", "nested", "broken/in", "../home/link", "../home", "..",
		".git", ".git/refs", "../bare.git", "../bare.git/refs",
	} {
		abs := filepath.Join(b.dir, dir)
		out, err := b.try(abs, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir", "--show-prefix")
		r, ok := gitrepo.Find(abs)
		if ok != (err == nil) {
			t.Errorf("%q: found %v, git says %v %s", dir, ok, err, out)
			continue
		}
		if !ok {
			continue
		}
		if got := fmt.Sprintf("%s\n%s\n%s\n%s\n", r.WorkTree, r.GitDir, r.CommonDir, r.Prefix); got != out {
			t.Errorf("%q:\n%swant\n%s", dir, got, out)
		}
		b.checkIndex(abs)
	}
	// A work tree that lies elsewhere.
	moved := filepath.Join(b.home, "moved")
	mkdir(t, filepath.Join(moved, "sub"))
	b.run("config", "core.worktree", moved)
	if _, ok := gitrepo.Find(b.dir); ok {
		t.Error("the directory is outside the work tree")
	}
	b.run("config", "--unset", "core.worktree")
	b.run("config", "core.bare", "true")
	if r := b.find(filepath.Join(b.dir, "dir")); r.WorkTree != b.dir { // programs set it beside a work tree
		t.Errorf("a directory beside a .git that says it is bare: %q", r.WorkTree)
	}
	if r := b.find(linked); r.WorkTree != linked {
		t.Errorf("a linked work tree of a bare repository: %q", r.WorkTree)
	}
}

func TestHeadAsGitHasIt(t *testing.T) {
	for name, prepare := range map[string]func(*box) string{
		"unborn":   func(b *box) string { return b.dir },
		"branch":   func(b *box) string { b.commit(); return b.dir },
		"packed":   func(b *box) string { b.commit(); b.run("pack-refs", "--all"); return b.dir },
		"detached": func(b *box) string { b.commit(); b.run("checkout", "-q", "--detach"); return b.dir },
		"slashes":  func(b *box) string { b.commit(); b.run("checkout", "-qb", "a/b/ü"); return b.dir },
		"packed among many": func(b *box) string {
			b.commit()
			for _, n := range []string{"main2", "x/main", "mai"} {
				b.run("branch", n)
			}
			b.run("tag", "-am", "t", "main")
			b.run("pack-refs", "--all")
			b.write("a/b/c", "more")
			b.run("commit", "-qam", "y")
			return b.dir
		},
		"worktree": func(b *box) string {
			b.commit()
			b.run("worktree", "add", "-q", "../linked", "-b", "side")
			return filepath.Join(filepath.Dir(b.dir), "linked")
		},
		"worktree, packed": func(b *box) string {
			b.commit()
			b.run("worktree", "add", "-q", "../linked", "-b", "side")
			b.run("pack-refs", "--all")
			return filepath.Join(filepath.Dir(b.dir), "linked")
		},
		"symbolic branch": func(b *box) string {
			b.commit()
			b.run("symbolic-ref", "refs/heads/alias", "refs/heads/main")
			b.run("symbolic-ref", "HEAD", "refs/heads/alias")
			return b.dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.init()
			dir := prepare(b)
			want, _ := b.try(dir, "rev-parse", "-q", "--verify", "HEAD")
			branch, _ := b.try(dir, "symbolic-ref", "-q", "HEAD")
			commit, got, err := b.find(dir).Head()
			if err != nil || commit != strings.TrimSpace(want) || got != strings.TrimPrefix(strings.TrimSpace(branch), "refs/heads/") {
				t.Errorf("commit %q on %q (%v), want %q on %q", commit, got, err, want, branch)
			}
		})
	}
}

func (b *box) commit() { b.t.Helper(); b.run("add", "-A"); b.run("commit", "-qm", "x") }

func TestHeadOfAReftable(t *testing.T) {
	b := newBox(t)
	b.init()
	b.run("config", "extensions.refStorage", "reftable")
	write(t, filepath.Join(b.dir, ".git", "HEAD"), "ref: refs/heads/.invalid\n")
	if commit, branch, err := b.find(b.dir).Head(); commit != "" || branch != "" || err != nil {
		t.Errorf("%q %q %v", commit, branch, err)
	}
}

// findMaybe gives the work tree around dir.
func (b *box) findMaybe(dir string) (string, bool) {
	r, ok := gitrepo.Find(dir)
	return r.WorkTree, ok
}
