package gitrestore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/vfs"
)

func (b *box) gitFile(name string) string {
	return filepath.Join(b.dir, ".git", filepath.FromSlash(name))
}

func (b *box) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(b.gitFile(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(b.gitFile(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

// copied is a saved state whose files Apply can take.
func (b *box) copied(s Source) Source {
	b.t.Helper()
	from := s.Dir
	s.Dir = filepath.Join(b.t.TempDir(), "saved")
	if err := os.CopyFS(s.Dir, os.DirFS(from)); err != nil {
		b.t.Fatal(err)
	}
	return s
}

// A reflog whose reference is gone is moved where another's is written, and taking the operation back brings it back.
func TestReflogInTheWay(t *testing.T) {
	for was, is := range map[string]string{"topic": "topic/sub", "topic/sub": "topic"} {
		for _, mode := range []Mode{Missing, Exact} {
			for _, packed := range []bool{false, true} {
				b := newBox(t)
				b.commit("a", "one")
				b.git("branch", was)
				b.git("branch", "other")
				if packed { // the reference is there, and its reflog is not
					b.git("pack-refs", "--all")
				}
				s := b.save()
				if packed {
					b.remove("logs/refs/heads/topic")
					b.write(".git/logs/refs/heads/"+is, "")
				} else {
					b.git("branch", "-qD", was)
					b.git("branch", is)
					b.remove("refs/heads")
				}
				saved := b.copied(s)
				log := b.read("logs/refs/heads/" + is)
				before := b.save()
				p := b.restore(s, b.target(), mode)
				if got := strings.Join(lines(p), "\n"); !strings.Contains(got, "reflog moves refs/rewind/42/reflogs/heads/"+is+" refs/heads/"+is) {
					t.Errorf("%s", got)
				}
				if got := b.read("logs/refs/rewind/42/reflogs/heads/" + is); got != log {
					t.Errorf("it has %q", got)
				}
				b.git("rev-parse", "main", "other", was)
				if got := b.git("reflog", was, "--format=%gs"); !strings.HasSuffix(got, "Created from main") {
					t.Errorf("the reflog of %s has %q", was, got)
				}

				b.plan(before, b.target(), Back)
				if packed {
					continue // an empty file is no reflog
				}
				b.restore(before, b.target(), Back)
				for _, name := range []string{is, "main", "other"} {
					if got, want := b.read("logs/refs/heads/"+name), ""; got == want {
						t.Errorf("the reflog of %s is empty", name)
					}
				}
				if got := b.read("logs/refs/heads/" + is); got != log {
					t.Errorf("it is %q", got)
				}
				b.restore(b.copied(saved), b.target(), mode)
				if _, err := os.Lstat(b.gitFile("logs/refs/rewind/42/reflogs/heads/" + is + "-2")); !vfs.IsMissing(err) {
					t.Error("it is there twice")
				}
			}
		}
	}
}

// A file that is no reference keeps git from using its directory's name: what had that name returns under another one, and all
// others as they were.
func TestFileInTheWayOfAReference(t *testing.T) {
	for _, file := range []string{"topic/sub.lock", "topic/a b", "topic/dir/.hidden"} {
		for _, mode := range []Mode{Missing, Exact} {
			b := newBox(t)
			b.commit("a", "one")
			b.git("branch", "topic")
			b.git("branch", "other")
			s := b.save()
			b.git("branch", "-qD", "topic", "other")
			b.write(".git/refs/heads/"+file, "")
			p := b.plan(s, b.target(), mode)
			b.wantLines(p, "ref returns refs/heads/other", "ref returns as refs/heads/rewind/42/topic refs/heads/topic", "reflog returns")
			if want := b.gitFile("refs/heads/"+file) + " is in the way, and is no reference."; p.Lines[1].Note != want {
				t.Errorf("%q", p.Lines[1].Note)
			}
			if _, err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.git("rev-parse", "other", "rewind/42/topic")
			b.wantLines(b.plan(s, b.target(), mode), "ref unable refs/heads/rewind/42/topic refs/heads/topic")
		}
	}
}

// Of a packed reference that moves, the same holds.
func TestFileInTheWayOfAReferenceThatMoves(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	b.git("branch", "other")
	s := b.save()
	two := b.commit("a", "two")
	b.git("branch", "-qf", "topic", two)
	b.git("branch", "-qf", "other", two)
	b.git("pack-refs", "--all")
	b.write(".git/refs/heads/topic/junk~", "")
	p := b.plan(s, b.target(), Exact)
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := b.git("rev-parse", "other", "rewind/42/topic"); strings.Contains(got, two) {
		t.Errorf("%s", got)
	}
}

// Empty directories are no obstacle.
func TestEmptyDirectoriesInTheWay(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.stash("a", "stashed")
	b.git("branch", "topic")
	b.git("branch", "other")
	b.git("pack-refs", "--all")
	s := b.save()
	b.git("branch", "-qD", "topic")
	b.git("stash", "drop", "-q")
	b.remove("logs/refs/heads/other")
	for _, dir := range []string{"refs/heads/topic/a/b", "logs/refs/heads/topic/a/b", "logs/refs/heads/other/a", "refs/stash/a", "logs/refs/stash/a"} {
		if err := os.MkdirAll(b.gitFile(dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	b.restore(s, b.target(), Missing)
	b.git("rev-parse", "topic")
	if got := b.git("stash", "list"); !strings.Contains(got, "stashed") {
		t.Errorf("%q", got)
	}
	if b.read("logs/refs/heads/other") == "" {
		t.Error("no reflog")
	}
}

// References that somebody has put beside each other, as git does not: what can return does.
func TestReferencesThatGitDoesNotKeepBesideEachOther(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic/sub")
	b.git("branch", "other")
	b.git("pack-refs", "--all")
	s := b.save()
	b.git("branch", "-qD", "other")
	b.remove("refs/heads/topic")
	b.remove("logs/refs/heads/topic")
	b.write(".git/refs/heads/topic", b.git("rev-parse", "main")+"\n")
	p := b.plan(s, b.target(), Missing)
	b.wantLines(p, "ref returns refs/heads/other", "reflog unable refs/heads/topic/sub", "reflog returns refs/heads/other")
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.git("rev-parse", "other")
}

// The reflogs of the other worktrees' HEADs return, too.
func TestReflogsOfOtherWorktrees(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("worktree", "add", "-q", "-b", "one", b.dir+"-one")
	b.git("worktree", "add", "-q", "-b", "two", b.dir+"-two")
	for _, dir := range []string{b.dir, b.dir + "-one", b.dir + "-two"} {
		b.at(dir, "checkout", "-q", "--detach")
		b.at(dir, "commit", "-q", "--allow-empty", "-m", "detached in "+filepath.Base(dir))
	}
	s := b.save()
	logs := []string{"logs/HEAD", "worktrees/work-one/logs/HEAD", "worktrees/work-two/logs/HEAD"}
	var was []string
	for _, log := range logs {
		was = append(was, b.read(log))
	}
	for _, target := range []Target{b.target(), b.linked(b.dir + "-one")} {
		for _, log := range logs {
			if err := os.WriteFile(b.gitFile(log), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		b.restore(s, target, Missing)
		for i, log := range logs {
			if got := b.read(log); got != was[i] {
				t.Errorf("%s is %q", log, got)
			}
		}
	}
}

// What a restore brought back of another worktree's HEAD stays at the next one to the same state.
func TestWhatOnlyAnEarlierRestoreNamesStays(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("worktree", "add", "-q", "-b", "linked", b.dir+"-linked")
	b.git("checkout", "-q", "--detach")
	lost := b.commit("a", "detached")
	s := b.save()
	b.git("checkout", "-q", "main")
	b.forget()
	target := b.linked(b.dir + "-linked")
	b.restore(s, target, Missing)
	b.git("reflog", "expire", "--expire=now", "--all")
	b.git("branch", "new")
	b.restore(s, target, Exact)
	if got := b.git("for-each-ref", "--format=%(refname)", "--contains", lost); got != "refs/rewind/42/main-worktree/HEAD" {
		t.Errorf("%q", got)
	}
	if _, err := b.try(b.dir, "rev-parse", "--verify", "new"); err == nil {
		t.Error("a branch made since stays")
	}
	b.git("branch", "new", lost) // it has another name now, which goes
	b.git("update-ref", "-d", "refs/rewind/42/main-worktree/HEAD")
	b.restore(s, target, Exact)
	b.git("rev-parse", "--verify", "refs/rewind/42/main-worktree/HEAD")
}

// A file among the references that git takes for none is left alone, as one that a file manager leaves.
func TestFilesThatAreNoReferences(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	b.write(".git/refs/heads/.then", "1")
	s := b.save()
	saved := s
	b.git("branch", "-qD", "topic")
	for _, name := range []string{"a b", ".DS_Store", "x.lock/y"} {
		b.write(".git/refs/heads/"+name, "")
	}
	b.write(".git/refs/heads/broken", "no id")
	b.write(".git/refs/heads/zero", strings.Repeat("0", 40)+"\n")
	for _, mode := range []Mode{Missing, Exact} {
		s := b.copied(saved)
		p := b.plan(s, b.target(), mode)
		want := []string{"ref stays refs/heads/broken", "ref stays refs/heads/zero", "ref returns refs/heads/topic", "reflog returns refs/heads/topic"}
		if mode == Missing {
			want = want[2:]
		}
		b.wantLines(p, want...)
		if _, err := p.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.git("branch", "-qD", "topic")
	}
	for _, name := range []string{"a b", ".DS_Store", ".then", "broken", "zero"} {
		b.read("refs/heads/" + name)
	}
}
