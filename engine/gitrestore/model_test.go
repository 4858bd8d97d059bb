package gitrestore

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLives plays random lives of repositories; TestSoakLives plays them for long.
func TestLives(t *testing.T) {
	n := 6
	if testing.Short() {
		n = 3
	}
	for seed := range uint64(n) {
		life(t, seed)
	}
}

func TestSoakLives(t *testing.T) {
	soak, err := time.ParseDuration(os.Getenv("REWIND_SOAK"))
	if err != nil {
		t.Skip("set REWIND_SOAK to a duration, as make soak does")
	}
	n := 0
	for start := time.Now(); time.Since(start) < soak && !t.Failed(); n++ {
		life(t, uint64(time.Now().UnixNano()))
	}
	t.Logf("%d lives", n)
}

// life saves a random repository, works on and loses things, and restores.
func life(t *testing.T, seed uint64) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := started(t)
		for range 2 {
			for range 4 + r.IntN(10) {
				b.work(r)
			}
			b.again()
			s, was, files := b.save(), b.look(b.dir), b.files()
			saved := b.reach("--single-worktree") // of another worktree, what only its reflog has does not return
			for range 3 + r.IntN(8) {
				b.work(r)
			}
			b.lose(r)
			mode := Mode(r.IntN(2))
			before, there := "", false
			if _, err := os.Lstat(filepath.Join(b.dir, ".git")); err == nil {
				before, there = b.reach(), true
			}
			var now look
			if there {
				now = b.look(b.dir)
			}
			p := b.plan(s, b.target(), mode)
			if len(p.Refusals) > 0 && strings.Contains(p.Refusals[0], "in progress") {
				b.abort()
				now = b.look(b.dir)
				p = b.plan(s, b.target(), mode)
			}
			if len(p.Refusals) > 0 {
				t.Fatalf("refused: %q", p.Refusals)
			}
			if _, err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if again := b.plan(s, b.target(), mode); !again.build && len(again.Lines) > 0 {
				if left := lines(again); slices.ContainsFunc(left, func(l string) bool { return !strings.Contains(l, " stays ") }) {
					t.Fatalf("a second plan has %v", left)
				}
			}
			if before != "" {
				b.haveAll(before)
			}
			b.haveAll(saved)
			b.git("fsck", "--full", "--no-dangling")
			switch {
			case mode == Exact || !there:
				b.putFiles(files)
				is := b.look(b.dir)
				for _, l := range p.Lines {
					if l.Change == Stays {
						is["refs"] = strings.ReplaceAll(is["refs"], l.Name+" "+l.From+" \n", "")
					}
				}
				b.same(was, is, "refs", "stash", "index", "head", "status")
			default:
				is := b.look(b.dir)
				b.same(now, is, "index", "head")
				for line := range strings.Lines(now["refs"]) {
					if !strings.HasPrefix(line, stashRef) && !strings.Contains(is["refs"], line) {
						t.Errorf("%s moved or went", line)
					}
				}
				b.reachable(was)
			}
			if t.Failed() {
				t.Fatalf("seed %d, mode %d: %s", seed, mode, strings.Join(lines(p), "\n"))
			}
			b.abort()
		}
	})
}

// again has a branch checked out, or whatever; the work tree has no half conflict that git refuses to save.
func (b *box) again() {
	if _, err := b.try(b.dir, "rev-parse", "HEAD"); err != nil {
		_, _ = b.try(b.dir, "checkout", "-qf", "main")
	}
}

func (b *box) abort() {
	for _, args := range [][]string{{"rebase", "--abort"}, {"merge", "--abort"}, {"cherry-pick", "--abort"}, {"rebase", "--quit"}, {"cherry-pick", "--quit"}, {"merge", "--quit"}} {
		_, _ = b.try(b.dir, args...) // most are not in progress
	}
}

// reach is objects, of a repository in any state.
func (b *box) reach(options ...string) string {
	b.t.Helper()
	return b.git(append(append([]string{"rev-list"}, options...), "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects")...)
}

// reachable expects that references reach what those of then did, and that the stash has all entries.
func (b *box) reachable(was look) {
	b.t.Helper()
	var ids []string
	for line := range strings.Lines(was["refs"]) {
		if w := strings.Fields(line); w[0] != stashRef {
			ids = append(ids, w[1])
		}
	}
	if out := b.git(append(append([]string{"rev-list"}, ids...), "--not", "--all")...); out != "" {
		b.t.Errorf("no reference reaches %s", out)
	}
	stash := b.git("stash", "list", "--format=%H")
	for line := range strings.Lines(was["stash"]) {
		if w := strings.Fields(line); !strings.Contains(stash, w[len(w)-7]) && !slices.ContainsFunc(w, func(s string) bool { return len(s) == 40 && strings.Contains(stash, s) }) {
			b.t.Errorf("the stash lacks %s", line)
		}
	}
}

// work does something at random, which may fail.
func (b *box) work(r *rand.Rand) {
	name := []string{"one", "two", "dir/three", "dir", "four"}[r.IntN(5)]
	file := []string{"a", "b", "c/d"}[r.IntN(3)]
	try := func(args ...string) { _, _ = b.try(b.dir, args...) }
	edit := func() {
		_ = os.MkdirAll(filepath.Join(b.dir, "c"), 0o777)
		_ = os.WriteFile(filepath.Join(b.dir, file), []byte(fmt.Sprint(r.Uint32())), 0o666)
	}
	switch r.IntN(20) {
	case 0, 1, 2, 3:
		edit()
		try("add", "-A")
		try("commit", "-qm", name)
	case 4:
		edit()
		try("commit", "-qa", "--amend", "-m", "amended")
	case 5, 6:
		try("branch", name)
	case 7, 8:
		try("checkout", "-q", name)
	case 9:
		try("checkout", "-q", "--detach", "HEAD")
	case 10, 11:
		edit()
		try("stash", "push", "-qm", fmt.Sprint(r.Uint32()))
	case 12:
		edit()
		try("add", "-A")
	case 13:
		try("tag", "-f", "-am", "m", name)
	case 14:
		try("merge", "-q", name)
	case 15:
		try("rebase", "-q", name)
	case 16:
		try("cherry-pick", name)
	case 17:
		try("worktree", "add", "-q", "-f", "-b", "in-"+name, filepath.Join(filepath.Dir(b.dir), "linked-"+strings.ReplaceAll(name, "/", "-")))
	case 18:
		try("gc", "-q")
	case 19:
		try("pack-refs", "--all")
	}
}

// lose loses things.
func (b *box) lose(r *rand.Rand) {
	try := func(args ...string) { _, _ = b.try(b.dir, args...) }
	for _, name := range []string{"one", "two", "dir/three", "dir", "four"} {
		if r.IntN(3) == 0 {
			try("branch", "-qD", name)
		}
		if r.IntN(3) == 0 {
			try("tag", "-d", name)
		}
	}
	switch r.IntN(5) {
	case 0:
		try("stash", "clear")
	case 1:
		try("stash", "drop", "-q")
	case 2:
		_ = os.Remove(filepath.Join(b.dir, ".git", "index"))
	case 3:
		try("reset", "-q", "--hard", "HEAD~1")
	case 4:
		try("worktree", "remove", "--force", filepath.Join(filepath.Dir(b.dir), "linked-one"))
	}
	switch r.IntN(4) {
	case 0:
		_ = os.RemoveAll(filepath.Join(b.dir, ".git"))
	case 1:
		try("reflog", "expire", "--expire=now", "--all")
		try("gc", "-q", "--prune=now")
	}
}

// files are the files of the work tree.
func (b *box) files() map[string]string {
	b.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(b.dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(file)
		files[file] = string(data)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

func (b *box) putFiles(files map[string]string) {
	b.t.Helper()
	for file := range b.files() {
		if err := os.Remove(file); err != nil {
			b.t.Fatal(err)
		}
	}
	for file, text := range files {
		_ = os.MkdirAll(filepath.Dir(file), 0o777)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			b.t.Fatal(err)
		}
	}
}
