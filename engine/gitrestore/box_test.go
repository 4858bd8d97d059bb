package gitrestore

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// box is a home and a work tree with a repository, and a directory that holds its objects as the store does.
type box struct {
	t               testing.TB
	home, dir, held string
}

func newBox(t testing.TB, init ...string) *box {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t, filepath.Join(base, "home"), filepath.Join(base, "work"), filepath.Join(base, "held")}
	for _, dir := range []string{b.home, b.dir, b.held} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	b.git(append([]string{"init", "-q", "-b", "main"}, init...)...)
	return b
}

func (b *box) env() []string {
	return []string{
		"HOME=" + b.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "PATH=" + os.Getenv("PATH"), "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
}

func (b *box) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, b.env()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if err != nil {
		return out.String() + complaints.String(), err
	}
	return out.String(), nil
}

func (b *box) at(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.try(dir, args...)
	if err != nil {
		b.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimRight(out, "\n")
}

func (b *box) git(args ...string) string { b.t.Helper(); return b.at(b.dir, args...) }

func (b *box) write(path, text string) {
	b.t.Helper()
	file := filepath.Join(b.dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) commit(path, text string) string {
	b.t.Helper()
	b.write(path, text)
	b.git("add", path)
	b.git("commit", "-qm", path+": "+text)
	return b.git("rev-parse", "HEAD")
}

func (b *box) stash(path, text string) {
	b.t.Helper()
	b.write(path, text)
	b.git("stash", "push", "-qm", text)
}

func (b *box) target() Target {
	gitDir := filepath.Join(b.dir, ".git")
	return Target{WorkTree: b.dir, GitDir: gitDir, CommonDir: gitDir}
}

// linked is the target of the linked worktree in a directory.
func (b *box) linked(dir string) Target {
	common := filepath.Join(b.dir, ".git")
	return Target{WorkTree: dir, GitDir: filepath.Join(common, "worktrees", filepath.Base(dir)), CommonDir: common}
}

// save makes the saved state of the repository as the store would give it.
func (b *box) save() Source { b.t.Helper(); return b.saveOf(filepath.Join(b.dir, ".git")) }

func (b *box) saveOf(common string) Source {
	b.t.Helper()
	s := Source{Dir: filepath.Join(b.t.TempDir(), "saved"), Indexes: map[string]string{}, Objects: []string{b.held}}
	err := filepath.WalkDir(common, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(common, path)
		if err != nil {
			return err
		}
		to := filepath.Join(s.Dir, rel)
		switch {
		case rel == "objects":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case rel == "index" || strings.HasPrefix(rel, "worktrees/") && strings.Count(rel, "/") == 2 && d.Name() == "index":
			name := ""
			if rel != "index" {
				name = filepath.Base(filepath.Dir(path))
			}
			to = s.Dir + ".index." + name
			s.Indexes[name] = to
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return copyFile(path, to, info.Mode())
	})
	if err == nil {
		var links []link
		if links, err = everyObject(filepath.Join(common, "objects")); err == nil {
			_, err = addObjects(context.Background(), b.held, links)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *box) plan(s Source, t Target, mode Mode) *Plan {
	b.t.Helper()
	b.t.(interface{ Setenv(string, string) }).Setenv("HOME", b.home)
	p, err := MakePlan(context.Background(), s, t, mode, "42")
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// restore plans and applies, and then nothing may be left to do.
func (b *box) restore(s Source, t Target, mode Mode) *Plan {
	b.t.Helper()
	p := b.plan(s, t, mode)
	if len(p.Refusals) > 0 {
		b.t.Fatalf("refused: %v", p.Refusals)
	}
	if _, err := p.Apply(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	again := b.plan(s, t, mode)
	if !again.build {
		again.Lines = slices.DeleteFunc(again.Lines, func(l Line) bool { return l.Change == Unable || l.Change == Stays })
		if len(again.Lines) > 0 {
			b.t.Errorf("a second plan has %+v", again.Lines)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(t.CommonDir, workPrefix+"*")); len(left) > 0 {
		b.t.Errorf("left: %v", left)
	}
	b.git("fsck", "--full", "--no-dangling", "--strict")
	return p
}

// look is what git says of a worktree.
type look map[string]string

func (b *box) look(dir string) look {
	b.t.Helper()
	l := look{}
	for name, args := range map[string][]string{
		"refs":   {"for-each-ref", "--format=%(refname) %(objectname) %(symref)"},
		"stash":  {"stash", "list", "--format=%gd %gs %H %ad"},
		"index":  {"ls-files", "-s"},
		"status": {"status", "--porcelain=v2", "--branch"},
		"head":   {"rev-parse", "--symbolic-full-name", "HEAD"},
	} {
		out, err := b.try(dir, args...)
		if err != nil && name != "head" {
			b.t.Fatalf("git %v: %v: %s", args, err, out)
		}
		l[name] = out
	}
	return l
}

func (b *box) same(was, is look, names ...string) {
	b.t.Helper()
	for _, name := range names {
		if was[name] != is[name] {
			b.t.Errorf("%s was\n%s\nand is\n%s", name, was[name], is[name])
		}
	}
}

// lines are a plan's, in short.
func lines(p *Plan) (list []string) {
	for _, l := range p.Lines {
		text := []string{"gitdir", "worktree", "ref", "stash", "head", "index", "progress", "reflog", "objects"}[l.What] + " " +
			[]string{"returns", "returns as", "moves", "goes", "stays", "unable"}[l.Change]
		if l.As != "" {
			text += " " + l.As
		}
		if l.Name != "" && l.What != GitDir {
			text += " " + l.Name
		}
		list = append(list, text)
	}
	return list
}

func (b *box) wantLines(p *Plan, want ...string) {
	b.t.Helper()
	if got := lines(p); !slices.Equal(got, want) {
		b.t.Errorf("lines\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
