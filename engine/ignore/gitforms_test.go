package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/ignore"
)

// TestCaseAgainstGit: with core.ignoreCase rules and tracked paths match whatever the case of their letters.
func TestCaseAgainstGit(t *testing.T) {
	git := needGit(t)
	trees, bent := 600, 0
	if testing.Short() {
		trees = 80
	}
	for seed := range trees {
		g := newTree(t, uint64(seed)+2_000_000)
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		for path, text := range g.rules {
			b := []byte(text)
			for i, c := range b {
				if ('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') && rnd.IntN(3) == 0 && (i == 0 || b[i-1] != ':') && !strings.Contains(text, "[[:") {
					b[i] ^= 0x20
				}
			}
			if string(b) != text {
				bent++
			}
			g.rules[path] = string(b)
			write(t, filepath.Join(g.dir, path), string(b))
		}
		config := filepath.Join(g.dir, ".git", "config")
		text, err := os.ReadFile(config)
		if err != nil {
			t.Fatal(err)
		}
		write(t, config, strings.Replace(string(text), "[core]\n", "[core]\n\tignoreCase = true\n", 1))
		want := gitFiles(t, git, g.dir, g.home)
		got := scan(t, g.dir, gitRules(t, g.dir, g.home, ignore.Config{FoldCase: true}))
		// git lists one name of a tracked file; we take all that are the same to it.
		tracked := map[string]bool{}
		for _, p := range g.tracked {
			tracked[ignore.Fold(p)] = true
		}
		got = slices.DeleteFunc(got, func(p string) bool {
			for up := p; up != "."; up = filepath.Dir(up) { // a directory too, in the place of a file
				if tracked[ignore.Fold(up)] {
					return !slices.Contains(want, p)
				}
			}
			return false
		})
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%s", seed, g.explain(got, want))
		}
		if err := os.RemoveAll(filepath.Dir(g.dir)); err != nil {
			t.Fatal(err)
		}
	}
	if bent < trees/2 {
		t.Errorf("only %d rule files with other letters", bent)
	}
}

// TestRulesOfTheIndexAgainstGit: rule files that only the index holds decide as if they were there,
// whether it says so itself or by a directory's tree, split or not.
func TestRulesOfTheIndexAgainstGit(t *testing.T) {
	git := needGit(t)
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	for seed := range rounds {
		rnd := rand.New(rand.NewPCG(uint64(seed), 2))
		base := t.TempDir()
		home, dir := filepath.Join(base, "home"), filepath.Join(base, "work")
		mkdir(t, home)
		run := func(args ...string) {
			t.Helper()
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Env = dir, append(cleanEnv(home), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("seed %d: git %v: %v\n%s", seed, args, err, out)
			}
		}
		mkdir(t, dir)
		run("init", "-q")
		dirs := []string{"", "a/", "a/b/", "c/", "c/d/"}
		for _, d := range dirs {
			mkdir(t, filepath.Join(dir, d))
			for _, n := range []string{"x.o", "y.o", "z"} {
				write(t, filepath.Join(dir, d+n), n)
			}
			if rnd.IntN(3) > 0 {
				lines := []string{"x.o", "*.o", "!y.o", "b", "/z", "!x.o", "d/"}
				text := ""
				for range 1 + rnd.IntN(3) {
					text += lines[rnd.IntN(len(lines))] + "\n"
				}
				write(t, filepath.Join(dir, d+".gitignore"), text)
				run("add", "-f", d+".gitignore")
			}
		}
		run("add", "-A")
		run("add", "-f", "c/d/z", "a/x.o")
		run("commit", "-qm", "x")
		if rnd.IntN(2) == 0 {
			run("gc", "-q")
		}
		switch rnd.IntN(3) {
		case 0:
			run("sparse-checkout", "set", "--cone", "--sparse-index", "a")
		case 1:
			run("sparse-checkout", "set", "--no-cone", "/*", "!.gitignore")
			run("update-index", "--split-index")
		default:
			for _, d := range dirs {
				if _, err := os.Stat(filepath.Join(dir, d+".gitignore")); err == nil {
					run("update-index", "--skip-worktree", d+".gitignore")
					if err := os.Remove(filepath.Join(dir, d+".gitignore")); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for _, d := range dirs { // what a build leaves there
			mkdir(t, filepath.Join(dir, d))
			for _, n := range []string{"x.o", "y.o", "new.o", "z"} {
				write(t, filepath.Join(dir, d+n), fmt.Sprint("new ", n))
			}
		}
		repo, _ := gitrepo.Find(dir)
		lazy := repo.Lazy(false)
		want := gitFiles(t, git, dir, home)
		if got := scan(t, dir, gitRules(t, dir, home, ignore.Config{Indexed: lazy.Rule})); !slices.Equal(got, want) {
			t.Fatalf("seed %d:\ngot  %q\nwant %q", seed, got, want)
		}
	}
}
