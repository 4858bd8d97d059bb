package ignore_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// judged lays out directories with a .gitignore and files each, and compares
// all of them with git in one go.
func judged(t *testing.T, dirs map[string]struct {
	rules string
	files []string
}) {
	t.Helper()
	git := needGit(t)
	base := scratch(t)
	root, home := filepath.Join(base, "work"), filepath.Join(base, "home")
	mkdir(t, home)
	mkdir(t, filepath.Join(root, ".git", "objects"))
	mkdir(t, filepath.Join(root, ".git", "refs"))
	write(t, filepath.Join(root, ".git", "HEAD"), "ref: refs/heads/main\n")
	for dir, d := range dirs {
		for _, f := range d.files {
			mkdir(t, filepath.Dir(filepath.Join(root, dir, f)))
			write(t, filepath.Join(root, dir, f), "")
		}
		write(t, filepath.Join(root, dir, ".gitignore"), d.rules)
	}
	want := gitFiles(t, git, root, home)
	got := scan(t, root, gitRules(t, root, home, ignore.Config{}))
	for _, f := range got {
		if !slices.Contains(want, f) {
			t.Errorf("captured, but git leaves it out: %q with %q", f, dirs[filepath.Dir(f)].rules)
		}
	}
	for _, f := range want {
		if !slices.Contains(got, f) {
			t.Errorf("left out, but git takes it: %q with %q", f, dirs[filepath.Dir(f)].rules)
		}
	}
}

type dirCase = struct {
	rules string
	files []string
}

// Every class, asked about every byte.
func TestClassesAsGitHasThem(t *testing.T) {
	var bytes []string
	for c := 1; c < 256; c++ {
		if c != '/' && c != '.' {
			bytes = append(bytes, string([]byte{byte(c)}))
		}
	}
	dirs := map[string]dirCase{}
	for i, class := range []string{
		"[[:alnum:]]", "[[:alpha:]]", "[[:blank:]]", "[[:cntrl:]]", "[[:digit:]]", "[[:graph:]]", "[[:lower:]]", "[[:print:]]",
		"[[:punct:]]", "[[:space:]]", "[[:upper:]]", "[[:xdigit:]]", "[![:alnum:]]", "[^[:punct:]]", "[[:alnum:][:space:]]",
		"[a-f]", "[!a-f]", "[]-a]", "[]a]", "[!]a]", "[a-]", "[-a]", "[\\]]", "[\\a-\\f]", "[a\\-z]", "[[-a]", "[[:alpha:]-z]", "[a-c-z]",
		"[[:alpha]", "[[:]", "[[::]]", "[[:nope:]]", "[a", "[", "[]", "[!]", "[z-a]", "[\x80-\xff]", "[\x01-\x1f]", "?", "*", "\\?", "\\", "[[:alpha:]", "[a[:digit:]z]", "[\\",
	} {
		dirs[fmt.Sprint(i)] = dirCase{class + "\n", bytes}
	}
	judged(t, dirs)
}

func TestHardCasesAsGitHasThem(t *testing.T) {
	files := []string{
		"a", "b", "foo", "foo ", "foo  ", "foo\t", "#x", "!x", "x", "ab/b", "ab/c/b", "axb", "a/b\x00"[:3], "d/a", "d/e/a", "d/e/f/a",
		"d/e/f/g/b", "build/x", "build/keep/x", "src/build/x", "src/build/keep/x", "cmd/out/x", "packages/p/deps/x", "deps/packages/x", "logs/a.log", "logs/b.log",
		"q/**/z", "q/*/z", "q/r/z", "q/r/s/z", "back\\slash", "tail\\", "\xef\xbb\xbfa", "Z", "z\r",
	}
	files = slices.DeleteFunc(files, func(f string) bool { return f == "a/b" })
	dirs := map[string]dirCase{}
	for i, rules := range []string{
		"foo \n", "foo\\ \n", "foo\\  \n", "foo \\ \n", "foo\t\n", "foo\r\n", "foo \r\n", "foo\r\r\n", "foo", "foo\r", "\r\n", "/\n", "//\n", "!\n", "!/\n", "#\n",
		"\\#x\n", "#x\n", "\\!x\n", "!x\n", "*\n!x\n", "*\n!*/\n!a\n", "/*\n!/d\n", "/*\n!/d/\n/d/*\n!/d/e/\n/d/e/*\n!/d/e/a\n",
		"d\n!d/a\n", "d/\n!d/e/\n", "d/*\n!d/e\n", "d/**\n!d/e\n", "d/**/a\n", "d/**/**/a\n", "**/a\n", "**/e/a\n", "**/d/**\n", "d**/a\n", "d/e**\n", "d/e/**/\n", "d/**/f/\n",
		"a**b\n", "a**/b\n", "/a**\n", "**\n", "**/\n", "/**\n", "/**/\n", "*/\n", "/*/\n", "*/a\n", "*/*\n", "*/*/a\n", "d/?/a\n", "d?e\n", "d[/]e\n", "d[!x]e\n", "d/[e-f]/a\n",
		"deps\n!/packages\n", "packages/*/deps\n", "build\n!src/build\n", "/build\n", "build/*\n!build/keep\n", "build/\n!build/keep/x\n", "src/build\n", "src/build/\n", "out/\n",
		"logs/*.log\n!logs/b.log\n", "*.log\n!b.log\n", "/logs/a.log/\n", "a\\\n", "tail\\\n", "tail\\\\\n", "back\\slash\n", "back\\\\slash\n", "q/\\*\\*/z\n", "q/\\*/z\n", "q/**\\/z\n", "q\\/r/z\n", "\\/q\n",
		"\xef\xbb\xbfa\n", "\xef\xbb\xbf\xef\xbb\xbfa\n", "b\n\xef\xbb\xbfa\n", "a\x00b\n", "\x00\na\n", "!a\na\n", "a\n!a\n", "a\n!a\na\n", "z\n", "z\r\n", "[z]\r\n", "z\r\r\n",
	} {
		dirs[fmt.Sprint(i)] = dirCase{rules, files}
	}
	judged(t, dirs)
}
