package ignore_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"rewind/engine/gitrepo"
	"rewind/engine/ignore"
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

// tree is a random work tree.
type tree struct {
	rnd       *rand.Rand
	dir, home string
	files     int
	paths     []string
	tracked   []string
	rules     map[string]string // rule files, for messages
}

var nastyNames = []string{
	"a", "b", "c", "ab", "abc", "foo", "bar", "foo.o", "bar.o", "foo.c", "x.y.z", "build", "out", "src", "packages",
	"a b", " a", "a ", "#h", "!n", "[c]", "*", "a*b", "?", "-", "a-b", "é", "\xff\xfe", "A", "Foo", "back\\slash",
	"tab\t", "new\nline", "cr\r", "..a", "...", "a]", "^", "~", "{a,b}", ".hidden", "0", "9z", "\x01", "ab\x7f", "\xef\xbb\xbfb",
}

func newTree(t *testing.T, seed uint64) *tree {
	base := scratch(t)
	g := &tree{
		rnd: rand.New(rand.NewPCG(seed, 42)), dir: filepath.Join(base, "work"), home: filepath.Join(base, "home"),
		rules: map[string]string{},
	}
	mkdir(t, g.home)
	mkdir(t, filepath.Join(g.dir, ".git", "objects"))
	mkdir(t, filepath.Join(g.dir, ".git", "refs"))
	g.fill(t, "", 0)
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	write(t, filepath.Join(g.dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	if g.one(3) {
		mkdir(t, filepath.Join(g.dir, ".git", "info"))
		g.rule(t, ".git/info/exclude")
	}
	switch g.rnd.IntN(4) {
	case 0:
		g.rule(t, "../home/excludes")
		config += "\texcludesFile = ~/excludes\n"
	case 1:
		mkdir(t, filepath.Join(g.home, ".config", "git"))
		g.rule(t, "../home/.config/git/ignore")
	}
	write(t, filepath.Join(g.dir, ".git", "config"), config)
	g.rule(t, ".gitignore")
	writeIndex(t, filepath.Join(g.dir, ".git", "index"), g.tracked)
	return g
}

func (g *tree) one(in int) bool { return g.rnd.IntN(in) == 0 }

func (g *tree) pick(list []string) string { return list[g.rnd.IntN(len(list))] }

func (g *tree) fill(t *testing.T, dir string, depth int) {
	seen := map[string]bool{}
	for range 3 + g.rnd.IntN(4) {
		name := g.pick(nastyNames)
		if g.one(2) {
			name = nastyNames[g.rnd.IntN(8)] // the same names often, so that patterns hit
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		path := filepath.Join(dir, name)
		file := filepath.Join(g.dir, path)
		if depth < 3 && g.one(2+depth) {
			mkdir(t, file)
			g.paths = append(g.paths, path+"/")
			g.fill(t, path, depth+1)
			if g.one(3) {
				g.rule(t, path+"/.gitignore")
			}
			continue
		}
		if g.one(12) {
			if err := os.Symlink(g.pick([]string{".", "gone", "a"}), file); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, file, "")
		}
		g.files++
		g.paths = append(g.paths, path)
		if g.one(6) {
			g.tracked = append(g.tracked, path)
		}
	}
}

// rule writes a rule file of random lines.
func (g *tree) rule(t *testing.T, path string) {
	var b strings.Builder
	if g.one(10) {
		b.WriteString("\xef\xbb\xbf")
	}
	for range 1 + g.rnd.IntN(8) {
		b.WriteString(g.line(filepath.Dir(path)))
		b.WriteString(g.pick([]string{"\n", "\n", "\n", "\n", "\r\n", "\n\n", " \n", "\r\r\n"}))
	}
	text := b.String()
	if g.one(4) {
		text = strings.TrimRight(text, "\n")
	}
	g.rules[path] = text
	write(t, filepath.Join(g.dir, path), text)
}

// line is a pattern: an existing path bent here and there, or tokens at random.
func (g *tree) line(dir string) string {
	var s string
	if len(g.paths) > 0 && !g.one(4) {
		s = g.bend(strings.TrimPrefix(g.pick(g.paths), strings.TrimPrefix(dir+"/", "./")))
	} else {
		tokens := []string{"*", "**", "?", "/", "a", "b", "foo", ".o", "[", "]", "[a-c]", "[!a]", "[^b]", "[[:alpha:]]", "[[:punct:]]",
			"[[:nope:]]", "[a\\]", "[]a]", "[-a]", "[a-]", "\\", "\\*", " ", "\\ ", "!", "#", "**/", "/**", "/**/", "*/", "é", "\xff", "\x00", "\t", "~", "{a,b}", "[[:space:]]", "[\\a-\\c]", "[z-a]", "[a-c-e]", "[[:digit:]z-]", "[[:alpha]"}
		for range 1 + g.rnd.IntN(5) {
			s += g.pick(tokens)
		}
	}
	if g.one(4) {
		s = "!" + s
	}
	if g.one(40) {
		s = "#" + s
	}
	return s
}

func (g *tree) bend(path string) string {
	parts := strings.Split(strings.TrimSuffix(path, "/"), "/")
	slash := strings.HasSuffix(path, "/")
	if g.one(2) {
		parts = parts[len(parts)-1:]
	} else if g.one(3) {
		from := g.rnd.IntN(len(parts))
		parts = parts[from : from+1+g.rnd.IntN(len(parts)-from)]
	}
	for i, p := range parts {
		if p == "" {
			continue
		}
		at := g.rnd.IntN(len(p))
		switch g.rnd.IntN(16) {
		case 0:
			p = "*"
		case 1:
			p = "**"
		case 2:
			p = p[:at] + "*"
		case 3:
			p = "*" + p[at:]
		case 4:
			p = p[:at] + "*" + p[at+1:]
		case 5:
			p = p[:at] + "?" + p[at+1:]
		case 6:
			p = p[:at] + "[" + p[at:at+1] + "-z]" + p[at+1:]
		case 7:
			p = p[:at] + "\\" + p[at:]
		case 8:
			p = p[:at] + "**" + p[at:]
		case 9:
			p = p[:at] + "[!" + p[at:at+1] + "]" + p[at+1:]
		case 10:
			p = p[:at] + "[[:" + g.pick([]string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"}) + ":]]" + p[at+1:]
		}
		parts[i] = p
	}
	if g.one(8) {
		parts = slices.Insert(parts, g.rnd.IntN(len(parts)+1), "**")
	}
	s := strings.Join(parts, "/")
	if g.one(4) {
		s = "/" + s
	}
	if slash && g.one(2) || g.one(12) {
		s += "/"
	}
	return s
}

// capture is what the packages under test take.
func (g *tree) capture(t *testing.T) []string {
	return scan(t, g.dir, gitRules(t, g.dir, g.home, ignore.Config{}))
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
	if c.Exclude, err = repo.Excludes(home); err != nil {
		t.Fatal(err)
	}
	rules, err := ignore.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func (g *tree) explain(got, want []string) string {
	var b strings.Builder
	for _, f := range got {
		if !slices.Contains(want, f) {
			fmt.Fprintf(&b, "captured, but git leaves it out: %q\n", f)
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			fmt.Fprintf(&b, "left out, but git takes it: %q\n", f)
		}
	}
	for name, text := range g.rules {
		fmt.Fprintf(&b, "%q:\n", name)
		for _, line := range strings.SplitAfter(text, "\n") {
			fmt.Fprintf(&b, "\t%q\n", line)
		}
	}
	fmt.Fprintf(&b, "tracked: %q\n", g.tracked)
	return b.String()
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
