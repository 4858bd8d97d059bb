package patch

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// content of a path: a file, or a link.
type content struct {
	mode uint32
	data string
}

type tree map[string]content

func files(t tree) map[string]*File {
	out := map[string]*File{}
	for path, c := range t {
		out[path] = &File{Path: path, Mode: c.mode, Key: fmt.Sprint(c.mode == Symlink, c.data), Size: int64(len(c.data))}
	}
	return out
}

// differing are the pairs between two trees, in the order in which diff gives them.
func differing(a, b tree) (pairs []Pair, others []*File, read Source) {
	old, new := files(a), files(b)
	at := map[*File]string{}
	var paths []string
	for p, f := range old {
		at[f] = a[p].data
		if new[p] == nil {
			paths = append(paths, p)
		}
	}
	for p, f := range new {
		at[f] = b[p].data
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		o, n := old[p], new[p]
		if o != nil && n != nil && a[p] == b[p] {
			others = append(others, o)
			continue
		}
		pairs = append(pairs, Pair{Old: o, New: n})
	}
	return pairs, others, func(f *File) ([]byte, error) { return []byte(at[f]), nil }
}

func patchOf(t *testing.T, a, b tree, o Options, renames bool) string {
	t.Helper()
	pairs, others, read := differing(a, b)
	if renames {
		var err error
		if pairs, err = Detect(context.Background(), pairs, others, true, read); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	for _, p := range pairs {
		w, err := Write(p, read, o)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(w.Text)
	}
	return out.String()
}

func put(t *testing.T, dir string, x tree) {
	t.Helper()
	for path, c := range x {
		file := filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil && c.mode == Symlink {
			err = os.Symlink(c.data, file)
		} else if err == nil {
			if err = os.WriteFile(file, []byte(c.data), 0o644); err == nil {
				err = os.Chmod(file, fs.FileMode(c.mode&0o777))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func look(t *testing.T, dir string) tree {
	t.Helper()
	out := tree{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path := strings.TrimPrefix(file, dir+"/")
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(file)
			out[path] = content{Symlink, target}
			return err
		}
		data, err := os.ReadFile(file)
		c := content{Regular, string(data)}
		if info, err := d.Info(); err != nil {
			return err
		} else if info.Mode()&0o100 != 0 {
			c.mode = Executable
		}
		out[path] = c
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// apply has a program apply a patch to a tree.
func apply(t *testing.T, a tree, text string, argv ...string) (tree, string) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, a)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Sprintf("%v: %s", err, out)
	}
	return look(t, dir), ""
}

func same(a, b tree) bool {
	if len(a) != len(b) {
		return false
	}
	for p, c := range a {
		if b[p] != c {
			return false
		}
	}
	return true
}

func binaryData(seed byte, n int) string {
	var b bytes.Buffer
	for i := range n {
		b.WriteByte(byte(i*i>>3) ^ seed*31)
	}
	return "\x00" + b.String()
}

var long = strings.Repeat("a line\nanother one\n", 10) + "func main() {\n\tthe end\n}\n"

// kinds are what a path can be.
var kinds = []struct {
	name   string
	c      *content
	binary bool
}{
	{"absent", nil, false},
	{"empty", &content{Regular, ""}, false},
	{"text", &content{Regular, "one\ntwo\nthree\n"}, false},
	{"no end", &content{Regular, "one\ntwo\nthree"}, false},
	{"text 2", &content{Regular, "one\n2\nthree\n-- x\n++ y\n"}, false},
	{"long", &content{Regular, long}, false},
	{"exec", &content{Executable, "one\ntwo\nthree\n"}, false},
	{"empty exec", &content{Executable, ""}, false},
	{"crlf", &content{Regular, "one\r\ntwo\r\nthree\r\n"}, false},
	{"latin", &content{Regular, "caf\xe9\n\ttwo\n"}, false},
	{"binary", &content{Regular, binaryData(1, 3000)}, true},
	{"binary 2", &content{Executable, binaryData(9, 53)}, true},
	{"symlink", &content{Symlink, "some/where"}, false},
	{"symlink 2", &content{Symlink, "else where"}, false},
}

var names = []string{"f", "dir/f", "with space", " lead", "tab\there", "quote\"d", "back\\slash", "new\nline", "caf\xc3\xa9", "no\xffutf", "-dash", "a b/c d", "bell\a\x01"}

func tools(t *testing.T) (git, gnu bool) {
	_, err := exec.LookPath("git")
	_, err2 := exec.LookPath("patch")
	if err != nil && err2 != nil {
		t.Skip("neither git nor patch is here")
	}
	return err == nil, err2 == nil
}

var gitApply = []string{"git", "apply", "--whitespace=nowarn", "-"}

var gnuPatch = []string{"patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "--binary"}

// judge has both programs apply the patch from a to b, and git take it back.
func judge(t *testing.T, what string, a, b tree, gnu bool, renames bool) {
	t.Helper()
	hasGit, hasGNU := tools(t)
	text := patchOf(t, a, b, Options{Context: 3, Binary: true}, renames)
	if text == "" {
		if !same(a, b) {
			t.Errorf("%s: nothing is written", what)
		}
		return
	}
	if hasGNU && gnu {
		if got, fail := apply(t, a, text, gnuPatch...); fail != "" || !same(got, b) {
			t.Errorf("%s: patch: %s\n%.2000s", what, fail, text)
		}
	}
	if hasGit {
		if got, fail := apply(t, a, text, gitApply...); fail != "" || !same(got, b) {
			t.Errorf("%s: git apply: %s\n%.2000s", what, fail, text)
		}
		// git itself cannot take a copy back: it looks for where it came from.
		if strings.Contains(text, "\ncopy from ") {
			return
		}
		if got, fail := apply(t, b, text, append([]string{"git", "apply", "-R"}, gitApply[2:]...)...); fail != "" || !same(got, a) {
			t.Errorf("%s: git apply -R: %s\n%.2000s", what, fail, text)
		}
	}
	if hasGNU && gnu {
		if got, fail := apply(t, a, text, gnuPatch...); fail != "" || !same(got, b) {
			t.Errorf("%s: patch: %s\n%.2000s", what, fail, text)
		}
	}
}

// TestKindsApply: from every kind of path to every other, with git apply, and with patch where it can: not
// binary content.
func TestKindsApply(t *testing.T) {
	stay := content{Regular, "another file, so that no tree is empty\n"}
	for _, from := range kinds {
		for _, to := range kinds {
			a, b := tree{"stay": stay}, tree{"stay": stay}
			if from.c != nil {
				a["f"] = *from.c
			}
			if to.c != nil {
				b["f"] = *to.c
			}
			judge(t, from.name+" to "+to.name, a, b, !from.binary && !to.binary, true)
		}
	}
}

// TestNamesApply: names of every sort that come, go, change and are renamed.
func TestNamesApply(t *testing.T) {
	text, other := content{Regular, long}, content{Regular, long + "more\n"}
	for _, name := range names {
		base := tree{"stay": {Regular, "stay\n"}}
		with := func(path string, c content) tree { return tree{"stay": base["stay"], path: c} }
		// patch 2.7 cannot name what has a line feed, and refuses it.
		gnu := !strings.Contains(name, "\n")
		judge(t, fmt.Sprintf("%q comes", name), base, with(name, text), gnu, true)
		judge(t, fmt.Sprintf("%q goes", name), with(name, text), base, gnu, true)
		judge(t, fmt.Sprintf("%q comes empty", name), base, with(name, content{Regular, ""}), gnu, true)
		judge(t, fmt.Sprintf("%q changes", name), with(name, text), with(name, other), gnu, true)
		judge(t, fmt.Sprintf("%q gets x", name), with(name, text), with(name, content{Executable, long}), gnu, true)
		judge(t, fmt.Sprintf("%q is binary", name), with(name, text), with(name, content{Regular, "\x00"}), false, true)
		judge(t, fmt.Sprintf("%q is renamed", name), with(name, text), with("to "+name, text), gnu, true)
		judge(t, fmt.Sprintf("%q is renamed and changes", name), with(name, text), with("to/"+name, other), gnu, true)
	}
}

// TestMovesApply: renames and copies together with other changes.
func TestMovesApply(t *testing.T) {
	f := func(s string) content { return content{Regular, s} }
	x := func(s string) content { return content{Executable, s} }
	link := content{Symlink, "target/that/is/long"}
	for _, c := range []struct {
		name     string
		a, b     tree
		statuses string
	}{
		{"rename", tree{"a": f(long)}, tree{"d/b": f(long)}, "R"},
		{"rename with edit", tree{"a": f(long)}, tree{"b": f("first\n" + long)}, "R"},
		{"rename with x", tree{"a": f(long)}, tree{"b": x(long)}, "R"},
		{"rename of a binary", tree{"a": f(binaryData(1, 500))}, tree{"b": f(binaryData(1, 500))}, "R"},
		{"rename of a link", tree{"a": link}, tree{"b": link}, "R"},
		{"copy", tree{"a": f(long)}, tree{"a": f(long), "b": f(long)}, "C"},
		{"copy of what changes", tree{"a": f(long)}, tree{"a": f(long + "x\n"), "b": f(long)}, "MC"},
		{"copy with edits, of what changes", tree{"a": f(long)}, tree{"a": f(long + "x\n"), "b": f("y\n" + long)}, "MC"},
		{"copy before what changes", tree{"b": f(long)}, tree{"a": f(long), "b": f(long + "x\n")}, "CM"},
		{"rename and copy", tree{"m": f(long)}, tree{"a": f(long), "z": f("y\n" + long)}, "CR"},
		{"copy and rename", tree{"m": f(long)}, tree{"z": f(long), "a": f("y\n" + long)}, "CR"},
		{"swap", tree{"a": f(long), "b": f("other\n")}, tree{"a": f("other\n"), "b": f(long)}, "MM"},
		{"ring", tree{"a": f(long), "b": f("other\n" + long)}, tree{"b": f(long), "c": f("other\n" + long)}, "MR"},
		{"case", tree{"a": f(long)}, tree{"A": f(long)}, "R"},
		{"file to directory", tree{"a": f("x\n")}, tree{"a/b": f("other\n")}, "DA"},
		{"directory to file", tree{"a/b": f("x\n")}, tree{"a": f("other\n")}, "AD"},
		{"empty files", tree{"a": f("")}, tree{"b": f("")}, "R"},
		{"too little", tree{"a": f(long)}, tree{"b": f("nothing\nof\nthat\n")}, "DA"},
	} {
		pairs, others, read := differing(c.a, c.b)
		pairs, err := Detect(context.Background(), pairs, others, true, read)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range pairs {
			got += string(p.Status())
		}
		if got != c.statuses {
			t.Errorf("%s: %s, not %s", c.name, got, c.statuses)
		}
		// patch 2.7 has no binary content, renames no links, and sees no room that it has made itself.
		room := !strings.Contains(c.name, "directory")
		judge(t, c.name, c.a, c.b, room && c.name != "rename of a link", true)
		judge(t, c.name+", without renames", c.a, c.b, room && c.name != "rename of a binary", false)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range [][3]string{
		{"a", "b", "a => b"}, {"d/a", "d/b", "d/{a => b}"}, {"a/f", "b/f", "{a => b}/f"}, {"x/a/f", "x/b/c/f", "x/{a => b/c}/f"},
		{"a/b/c", "a/c", "a/{b => }/c"}, {"a/c", "a/b/c", "a/{ => b}/c"},
	} {
		if got := Between(c[0], c[1]); got != c[2] {
			t.Errorf("%s to %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
}
