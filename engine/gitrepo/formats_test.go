package gitrepo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// checkHas compares what the set says of every path with what git lists.
func (b *box) checkHas(what string) *gitrepo.Tracked {
	b.t.Helper()
	tracked, err := b.find(b.dir).Tracked()
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	list := lines(b.run("ls-files", "-z", "--full-name", ":/"), "\x00")
	below := map[string]bool{}
	for _, p := range list {
		for i := range len(p) {
			if p[i] == '/' {
				below[p[:i]] = true
			}
		}
	}
	ask := append([]string{"none", "a/none", "dir/none/x", ".gitignore"}, list...)
	for d := range below {
		ask = append(ask, d, d+"/none", d+"x")
	}
	for _, p := range ask {
		if got, want := tracked.Has(p), slices.Contains(list, p); got != want {
			b.t.Fatalf("%s: Has(%q) = %v", what, p, got)
		}
		if got := tracked.HasBelow(p); got != below[p] {
			b.t.Fatalf("%s: HasBelow(%q) = %v", what, p, got)
		}
		// As a project further down asks.
		if dir, name, ok := cutFirst(p); ok {
			if sub := tracked.Sub(dir); sub.Has(name) != tracked.Has(p) || sub.HasBelow(name) != tracked.HasBelow(p) {
				b.t.Fatalf("%s: %q below %q", what, name, dir)
			}
		}
	}
	return tracked
}

func cutFirst(p string) (dir, rest string, ok bool) { return strings.Cut(p, "/") }

// TestIndexFormats plays random edits on random trees in every format of the
// index, and wants to know of every path what git knows.
func TestIndexFormats(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 6
	}
	for seed := range rounds {
		rnd := rand.New(rand.NewPCG(uint64(seed), 9))
		b := newBox(t)
		if rnd.IntN(3) == 0 {
			b.run("init", "-q", "-b", "main", "--object-format=sha256")
		} else {
			b.run("init", "-q", "-b", "main")
		}
		dirs := []string{"a", "a/b", "a/b/c", "a-", "dir", "dir/x", "d", "é"}
		name := func() string {
			d := dirs[rnd.IntN(len(dirs))] + "/"
			if rnd.IntN(6) == 0 {
				d = ""
			}
			return d + []string{"f", "g", "h.txt", ".gitignore", "z" + strings.Repeat("y", rnd.IntN(80))}[rnd.IntN(5)]
		}
		for range 30 {
			b.write(name(), fmt.Sprint(rnd.Int()))
		}
		b.run("add", "-A", "-f")
		b.run("commit", "-qm", "x")
		version := []string{"2", "3", "4"}[rnd.IntN(3)]
		b.run("update-index", "--index-version", version)
		if rnd.IntN(2) == 0 {
			b.run("update-index", "--force-untracked-cache")
		}
		switch kind := rnd.IntN(3); kind {
		case 0:
			b.run("config", "splitIndex.maxPercentChange", "100")
			b.run("update-index", "--split-index")
			b.checkHas(fmt.Sprintf("seed %d: split", seed))
		case 1:
			b.run("sparse-checkout", "set", "--cone", "--sparse-index", dirs[rnd.IntN(len(dirs))])
			b.checkHas(fmt.Sprintf("seed %d: sparse", seed))
		}
		if rnd.IntN(2) == 0 {
			b.run("gc", "-q")
		}
		for i := range 12 {
			switch rnd.IntN(6) {
			case 0:
				list := lines(b.run("ls-files", "-z"), "\x00")
				b.try(b.dir, "rm", "-qf", "--cached", "--sparse", list[rnd.IntN(len(list))])
			case 1:
				list := lines(b.run("ls-files", "-z"), "\x00")
				b.run("update-index", "--skip-worktree", list[rnd.IntN(len(list))])
			case 2:
				b.run("commit", "-q", "--allow-empty", "-m", "y")
			default:
				n := name()
				b.write(n, fmt.Sprint(rnd.Int()))
				b.run("add", "-f", "--sparse", n)
			}
			b.checkHas(fmt.Sprintf("seed %d, step %d, version %s", seed, i, version))
		}
		os.RemoveAll(filepath.Dir(b.dir))
	}
}

// TestRulesOfTheIndex: the text of a rule file that is in the index alone.
func TestRulesOfTheIndex(t *testing.T) {
	for _, packed := range []bool{false, true} {
		b := newBox(t)
		b.run("init", "-q")
		long := strings.Repeat("# a comment, so that deltas pay\n", 300)
		for i := range 8 {
			b.write(fmt.Sprintf("v%d/.gitignore", i), long+fmt.Sprintf("*.%d\n", i))
			b.write(fmt.Sprintf("v%d/file", i), "x")
		}
		b.write(".gitignore", "top\n")
		b.write("file", "x")
		b.run("add", "-A")
		b.run("commit", "-qm", "x")
		if packed {
			b.run("gc", "-q")
		}
		b.run("update-index", "--skip-worktree", ".gitignore", "v3/.gitignore")
		b.run("sparse-checkout", "set", "--cone", "--sparse-index", "v0")
		b.run("update-index", "--skip-worktree", ".gitignore")
		tracked, err := b.find(b.dir).Tracked()
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			".gitignore": "top\n", "v5/.gitignore": long + "*.5\n", "v3/.gitignore": long + "*.3\n",
			"v0/.gitignore": "", "v5/none": "", "none/.gitignore": "",
		} {
			if text, err := tracked.Rule(path); err != nil || string(text) != want || (text == nil) != (want == "") {
				t.Errorf("packed %v: %s: %.40q, %v", packed, path, text, err)
			}
		}
		if text, err := tracked.Sub("v5").Rule(".gitignore"); err != nil || string(text) != long+"*.5\n" {
			t.Errorf("below: %.40q, %v", text, err)
		}
	}
}

// TestIndexThatCannotBeRead: what is missing or newer is an error, and tracked paths
// whose trees are elsewhere still count.
func TestIndexThatCannotBeRead(t *testing.T) {
	b := newBox(t)
	b.init()
	b.run("add", "-A")
	b.run("commit", "-qm", "x")
	b.run("update-index", "--split-index")
	halves, err := filepath.Glob(filepath.Join(b.dir, ".git", "sharedindex.*"))
	if err != nil || len(halves) != 1 {
		t.Fatal(halves, err)
	}
	if err := os.Remove(halves[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := b.find(b.dir).Tracked(); err == nil {
		t.Error("half of an index is taken for all of it")
	}

	b = newBox(t)
	b.init()
	b.run("add", "-A")
	b.run("commit", "-qm", "x")
	b.run("sparse-checkout", "set", "--cone", "--sparse-index", "dir")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git", "objects")); err != nil {
		t.Fatal(err)
	}
	mkdir(t, filepath.Join(b.dir, ".git", "objects"))
	tracked, err := b.find(b.dir).Tracked()
	if err != nil {
		t.Fatal(err)
	}
	if !tracked.Has("a/b/c") || !tracked.HasBelow("a/b") || !tracked.Has("dir/x") {
		t.Error("tracked files drop out when their tree is elsewhere")
	}
}
