package lives

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// beforeWindows is the last commit whose program left no windows.
const beforeWindows = "b45c4f712a75"

// olderStore is a project with a store that such a program made: a session edited a.txt and generated
// b.txt, a person wrote into c.txt, a second session came, and one of both wrote into c.txt; then the
// first one edited a.txt again.
func olderStore(t *testing.T) *life {
	t.Helper()
	base := t.TempDir()
	l := &life{truth: &truth{files: map[string][]*version{}}, root: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	store := filepath.Join(l.root, ".agent", "rewind")
	for _, dir := range []string{store, l.home} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unpack(t, filepath.Join("testdata", "older.tar.gz"), store)
	for _, args := range [][]string{{"init", "--trust", "--quiet"}, {"restore", "last", "--quiet", "--code-only"}} {
		if _, err := l.rewind(args...); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestOlderStore: what a store without windows can tell is told, and no more.
func TestOlderStore(t *testing.T) {
	l := olderStore(t)
	before, err := l.tree()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ file, line, session, class string }{
		{"a.txt", "A edits", "aaaaaaaa", "shell"}, // nothing tells when the edit ended
		{"a.txt", "1", "", ""},
		{"b.txt", "A generates", "aaaaaaaa", "shell"},
		{"c.txt", "person", "", "outside"},
		{"c.txt", "of B or A", "*", "shared"},
	} {
		out, err := l.rewind("blame", c.file, "--json")
		if err != nil {
			t.Fatal(err)
		}
		var blame struct {
			Lines []struct {
				N, Count  int
				SessionID string `json:"session_id"`
				Class     string
			}
		}
		if err := json.Unmarshal([]byte(out), &blame); err != nil {
			t.Fatal(err)
		}
		n := slices.Index(strings.Split(before[c.file], "\n"), c.line) // the first is the mode
		found := false
		for _, b := range blame.Lines {
			if b.N <= n && n < b.N+b.Count {
				found = true
				if b.Class != c.class || c.session != "*" && !strings.HasPrefix(b.SessionID, c.session) || c.session == "" && b.SessionID != "" {
					t.Errorf("%s: %q is said to be of %q, %s", c.file, c.line, b.SessionID, b.Class)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of line %d: %s", c.file, n, out)
		}
	}
	for n := 1; n <= 10; n++ {
		if _, err := l.rewind("show", fmt.Sprint(n)); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := l.revert("--session", "aaaaaaaa", "--conflicts", "keep"); err != nil {
		t.Fatal(err)
	}
	after, err := l.tree()
	if err != nil {
		t.Fatal(err)
	}
	// Of the last edit of a.txt nobody knows whether the other session made it.
	if want := (map[string]string{"a.txt": "0\n0\n1\n2\n3\n", "b.txt": "0\n1\n2\n3\n", "c.txt": before["c.txt"]}); !maps.Equal(after, want) {
		t.Errorf("the revert leaves %q", after)
	}
	if _, err := l.rewind("undo-restore"); err != nil {
		t.Fatal(err)
	}
	if got, err := l.tree(); err != nil || !maps.Equal(got, before) {
		t.Errorf("%v: undo-restore leaves %q", err, got)
	}
}

// TestOlderProgram: the present program works on in a store that the one of before made and worked in. That one then refuses the
// store, says what helps, and changes nothing. $REWIND_OLDER is that program; else it is built from the history.
func TestOlderProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	older := os.Getenv("REWIND_OLDER")
	if older == "" {
		older = buildOlder(t)
	}
	s := draw(4, manner{Tier: "aggressive", Sessions: 2, Person: true, Paths: 6, Shell: time.Second, Shells: 0.5, Turns: 4, Interval: 15 * time.Second})
	half := len(s.Events) / 2
	first, second := s, s
	first.Events, second.Events = s.Events[:half], s.Events[half:]
	l, err := newLife(scratch(t), older, first)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.play(); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) {
		t.Helper()
		if _, err := l.rewind(args...); err != nil {
			t.Fatal(err)
		}
	}
	tree := func() map[string]string {
		t.Helper()
		files, err := l.tree()
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	do("save", "--quiet", "by the program of before")
	l.program = ""
	before := tree()
	do("list", "--all", "--json")
	do("show", "1")
	do("verify", "--read-data")
	do("restore", "5", "--code-only", "--quiet")
	do("undo-restore", "--quiet")
	if got := tree(); !maps.Equal(got, before) {
		t.Fatalf("undo-restore leaves other files: %v", differing(before, got))
	}
	l.script = second
	if err := l.play(); err != nil {
		t.Fatal(err)
	}
	do("save", "--quiet", "by the present one")
	before = tree()

	store := os.DirFS(filepath.Join(l.root, ".agent", "rewind", "objects"))
	packs := func() map[string]string {
		t.Helper()
		names, err := fs.Glob(store, "*.pack")
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, name := range names {
			data, err := fs.ReadFile(store, name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(data)
		}
		return all
	}
	held := packs()
	l.program = older
	for _, args := range [][]string{{"list"}, {"save"}, {"restore", "5", "--code-only"}, {"gc", "--keep", "1"}, {"verify"}} {
		if a := l.call("", args...); a.code == 0 || !strings.Contains(a.err, "install a newer rewind") {
			t.Errorf("%v of the program of before ended with %d: %s", args, a.code, a.err)
		}
	}
	l.program = ""
	if got := packs(); !maps.Equal(got, held) {
		t.Error("the program of before changed a store that it does not understand")
	}
	if got := tree(); !maps.Equal(got, before) {
		t.Errorf("the program of before changed files: %v", differing(before, got))
	}

	if _, _, err := l.revert("--session", l.sessions["A"], "--conflicts", "keep"); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(tree(), before) {
		do("undo-restore")
	}
	if got := tree(); !maps.Equal(got, before) {
		t.Errorf("undo-restore leaves other files: %v", differing(before, got))
	}
	do("gc", "--keep", "3")
	do("verify", "--read-data")
}

// buildOlder builds the program of beforeWindows, where the repository's history has it.
func buildOlder(t *testing.T) string {
	t.Helper()
	source, program := t.TempDir(), filepath.Join(t.TempDir(), "older")
	archive := exec.Command("sh", "-c", `git -C ../.. archive "$1" | tar -x -C "$2"`, "sh", beforeWindows, source)
	if out, err := archive.CombinedOutput(); err != nil || len(out) > 0 {
		t.Skipf("NOT TESTED HERE: the history lacks %s, and $REWIND_OLDER names no program: %s", beforeWindows, out)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./cli/rewind")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
