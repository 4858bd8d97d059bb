package ignore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// REWIND_TREES names work trees (as in PATH) on this machine that are to be
// compared with git, read only; they hold no nested repositories.
func TestAgainstGitOnGivenTrees(t *testing.T) {
	trees := filepath.SplitList(os.Getenv("REWIND_TREES"))
	if len(trees) == 0 {
		t.Skip("REWIND_TREES names no work tree to compare")
	}
	git := needGit(t)
	for _, dir := range trees {
		home := t.TempDir()
		start := time.Now()
		want := gitFiles(t, git, dir, home)
		byGit := time.Since(start)
		start = time.Now()
		rules := gitRules(t, dir, home, ignore.Config{})
		setUp := time.Since(start)
		got := scan(t, dir, rules)
		want = slices.DeleteFunc(want, func(f string) bool { return neverSource(t, git, dir, home, f) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d files, git has %d", dir, len(got), len(want))
			for _, f := range got {
				if _, ok := slices.BinarySearch(want, f); !ok {
					t.Logf("captured, but git leaves it out: %q", f)
				}
			}
			for _, f := range want {
				if _, ok := slices.BinarySearch(got, f); !ok {
					t.Logf("left out, but git takes it: %q", f)
				}
			}
		}
		names, deciding := timeDecide(t, dir, rules)
		t.Logf("%s: %d files captured; git %v; index and excludes %v; deciding %d names %v", dir, len(got), byGit, setUp, names, deciding)
	}
}

// neverSource tells what we leave out by design, if git does not track it.
func neverSource(t *testing.T, git, dir, home, file string) bool {
	for _, part := range strings.Split(file, "/") {
		if slices.Contains([]string{"node_modules", ".venv", "__pycache__", ".cache", ".next", ".nuxt"}, part) || strings.HasSuffix(part, ".swp") {
			cmd := exec.Command(git, "ls-files", "--error-unmatch", "--", file)
			cmd.Dir, cmd.Env = dir, cleanEnv(home)
			return cmd.Run() != nil
		}
	}
	return false
}

// timeDecide measures what the rules cost in a whole walk, reading apart.
func timeDecide(t *testing.T, root string, rules *ignore.Rules) (names int, spent time.Duration) {
	var walk func(dir string, s *ignore.Scope)
	walk = func(dir string, s *ignore.Scope) {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		name := make([]string, len(entries))
		isDir := make([]bool, len(entries))
		for i, e := range entries {
			name[i], isDir[i] = e.Name(), e.IsDir()
		}
		texts := map[string]map[string][]byte{}
		for i := range entries {
			if isDir[i] {
				read := reader(root, filepath.Join(dir, name[i]))
				texts[name[i]] = map[string][]byte{".gitignore": read(".gitignore")}
			}
		}
		below := map[string]*ignore.Scope{}
		start := time.Now()
		for i, n := range name {
			if d, _ := s.Decide(n, isDir[i]); isDir[i] && d != ignore.Skip {
				below[n] = s.Child(n, func(rule string) []byte { return texts[n][rule] })
			}
		}
		spent += time.Since(start)
		names += len(name)
		for n, c := range below {
			walk(filepath.Join(dir, n), c)
		}
	}
	walk("", rules.Root(reader(root, "")))
	return names, spent
}
