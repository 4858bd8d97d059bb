package ignore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

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
