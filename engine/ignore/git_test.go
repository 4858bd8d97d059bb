package ignore_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/ignore"
)

// The judge of the matcher is git itself: random trees with random rule files
// at several levels, outer exclude files and tracked files; what a scan would
// capture has to be what "git ls-files -co --exclude-standard" names.
func TestAgainstGit(t *testing.T) {
	git := needGit(t)
	trees := 1600
	if testing.Short() {
		trees = 150
	}
	ignored, differ := 0, 0
	for seed := range trees {
		g := newTree(t, uint64(seed))
		want := gitFiles(t, git, g.dir, g.home)
		got := g.capture(t)
		ignored += g.files - len(want)
		if !slices.Equal(got, want) {
			differ++
			t.Errorf("seed %d:\n%s", seed, g.explain(got, want))
			if differ >= 5 {
				t.FailNow()
			}
		}
		if err := os.RemoveAll(filepath.Dir(g.dir)); err != nil { // not all trees at once
			t.Fatal(err)
		}
	}
	if ignored < trees {
		t.Errorf("only %d ignored files in %d trees: the generator is too tame", ignored, trees)
	}
}

// A project below the work tree's top: rule files above it, and git's index,
// are about paths that begin further up.
func TestAgainstGitBelowTheTop(t *testing.T) {
	git := needGit(t)
	trees, compared := 300, 0
	if testing.Short() {
		trees = 40
	}
	for seed := range trees {
		g := newTree(t, uint64(seed)+1_000_000)
		top := gitRules(t, g.dir, g.home, ignore.Config{})
		for _, p := range g.paths {
			sub, dir := strings.CutSuffix(p, "/")
			if !dir {
				continue
			}
			// What git ignores as a whole it does not look into; a project there is its own matter.
			if d, _ := top.Decide(sub, true, func(path string) []byte { return reader(g.dir, filepath.Dir(path))(filepath.Base(path)) }); d != ignore.Capture {
				continue
			}
			root := filepath.Join(g.dir, sub)
			want := gitFiles(t, git, root, g.home)
			if got := scan(t, root, gitRules(t, root, g.home, ignore.Config{})); !slices.Equal(got, want) {
				t.Fatalf("seed %d below %q:\n%s", seed, sub, g.explain(got, want))
			}
			compared++
			break
		}
		if err := os.RemoveAll(filepath.Dir(g.dir)); err != nil {
			t.Fatal(err)
		}
	}
	if compared < trees/4 {
		t.Errorf("only %d of %d trees had a directory to compare", compared, trees)
	}
}

func needGit(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git as the judge")
	}
	return git
}

// cleanEnv is an environment without anyone's configuration.
func cleanEnv(home string) []string {
	return []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "PATH=" + os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(home)}
}

// gitFiles is what git would commit or has: sorted, existing files only.
func gitFiles(t *testing.T, git, dir, home string) []string {
	t.Helper()
	cmd := exec.Command(git, "ls-files", "-co", "--exclude-standard", "-z")
	cmd.Dir, cmd.Env = dir, cleanEnv(home)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git: %v\n%s", err, stderr.Bytes())
	}
	var files []string
	for _, f := range strings.Split(string(out), "\x00") {
		if f == "" {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, f)); err != nil || info.IsDir() {
			continue // in the index only
		}
		files = append(files, f)
	}
	sort.Strings(files)
	return slices.Compact(files)
}

// scan captures as the scanner does: from the root down, only through what is not skipped.
func scan(t testing.TB, root string, rules *ignore.Rules) []string {
	var files []string
	var walk func(dir string, s *ignore.Scope)
	walk = func(dir string, s *ignore.Scope) {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			d, _ := s.Decide(e.Name(), e.IsDir())
			path := filepath.Join(dir, e.Name())
			switch {
			case d == ignore.Skip:
			case d == ignore.Precious && ignore.RuleFile(e.Name()): // which git leaves out
			case e.IsDir():
				walk(path, s.Child(e.Name(), reader(root, path)))
			case d == ignore.Descend:
				t.Fatalf("%s: Descend for a file", path)
			default:
				files = append(files, path)
			}
		}
	}
	walk("", rules.Root(reader(root, "")))
	sort.Strings(files)
	return files
}

func reader(root, dir string) func(string) []byte {
	return func(name string) []byte {
		file := filepath.Join(root, dir, name)
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		return text
	}
}

// gitRules compiles c for the repository around dir.
func gitRules(t testing.TB, dir, home string, c ignore.Config) *ignore.Rules {
	t.Helper()
	repo, ok := gitrepo.Find(dir)
	if !ok {
		t.Fatal("no repository found")
	}
	repo.Getenv = func(name string) string {
		if name == "GIT_CONFIG_NOSYSTEM" {
			return "1"
		}
		return ""
	}
	tracked, err := repo.Tracked()
	if err != nil {
		t.Fatal(err)
	}
	tracked = tracked.Sub(repo.Prefix)
	c.Tracked, c.TrackedBelow, c.TrackedHash = tracked.Has, tracked.HasBelow, tracked.Hash()
	if c.FoldCase {
		lazy := repo.Lazy(true)
		c.Tracked, c.TrackedBelow = lazy.Has, lazy.HasBelow
	}
	if c.Exclude, _, err = repo.Excludes(home); err != nil {
		t.Fatal(err)
	}
	rules, err := ignore.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// writeIndex writes an index of version 2 that holds the names and no objects.
func writeIndex(t testing.TB, file string, names []string) {
	sort.Strings(names)
	b := append([]byte("DIRC"), 0, 0, 0, 2)
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	for _, name := range names {
		start := len(b)
		b = append(b, make([]byte, 62)...)
		binary.BigEndian.PutUint32(b[start+24:], 0o100644)
		b[start+40] = 1 // git dislikes a null id
		binary.BigEndian.PutUint16(b[start+60:], uint16(min(len(name), 0xfff)))
		b = append(b, name...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	sum := sha1.Sum(b)
	write(t, file, string(append(b, sum[:]...)))
}

// scratch is a temporary directory, in memory where there is one: thousands of
// small trees are made ten times as fast there.
func scratch(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "ignore")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
}
