package gitstate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/manifest"
)

// manyBranches gives the repository 700 branches with a reflog each, as files.
func (b *box) manyBranches() {
	b.Helper()
	head := strings.TrimSpace(b.git("rev-parse", "HEAD"))
	for _, dir := range []string{"refs/heads/many", "logs/refs/heads/many"} {
		if err := os.MkdirAll(filepath.Join(b.dir, ".git", dir), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 700 {
		name := fmt.Sprintf("refs/heads/many/b%03d", i)
		b.write(".git/"+name, head+"\n")
		b.write(".git/logs/"+name, fmt.Sprintf("%040d %s a <a@b> 1 +0000\tbranch %d\n", 0, head, i))
	}
}

// raw is a directory of the files of a captured state, as it is stored.
func (b *box) raw(state oid.ID, path string) manifest.Dir {
	b.Helper()
	e, ok, err := manifest.Find(b.p.LoadDir, state, "files/"+path)
	if err != nil || !ok {
		b.Fatalf("%v, %v", ok, err)
	}
	dir, err := b.p.LoadDir(e.ID)
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// TestManyReferencesAreInPieces: what a commit does not change is not stored again, what is captured beside the last state is what is
// captured from nothing, and it reads as one directory.
func TestManyReferencesAreInPieces(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.manyBranches()
	settle()
	was := b.save().Git
	before := map[oid.ID]bool{}
	for _, dir := range []string{"refs/heads/many", "logs/refs/heads/many"} {
		list := b.raw(was, dir).Entries
		if len(list) < 2 || len(list) > 100 {
			t.Errorf("%s is in %d pieces", dir, len(list))
		}
		for _, e := range list {
			before[e.ID] = true
		}
	}
	cache := filepath.Join(b.p.StoreDir(), "git")
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a branch moves", func() { b.commit("a", "two"); b.git("branch", "-f", "many/b350", "HEAD") }},
		{"another one, and a new one", func() { b.git("branch", "-f", "many/b001", "HEAD~1"); b.git("branch", "many/b3501") }},
		{"packed", func() { b.git("pack-refs", "--all") }},
		{"a packed one moves", func() { b.git("branch", "-f", "many/b350", "HEAD~1") }},
	} {
		step.do()
		settle()
		is := b.save().Git
		again := 0
		for _, e := range b.raw(is, "logs/refs/heads/many").Entries {
			if !before[e.ID] {
				again++
			}
		}
		if again > 3 {
			t.Errorf("%s: %d pieces are new", step.name, again)
		}
		aside := filepath.Join(b.TempDir(), "aside")
		if err := os.Rename(cache, aside); err != nil {
			t.Fatal(err)
		}
		if whole := b.save().Git; whole != is {
			t.Errorf("%s: not all was captured", step.name)
		}
		if err := os.RemoveAll(cache); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(aside, cache); err != nil {
			t.Fatal(err)
		}
		b.readsAsGitHas(is)
		b.differsAsWhole(was, is)
	}
}

// readsAsGitHas compares the reflogs that a state writes with those of the repository.
func (b *box) readsAsGitHas(id oid.ID) {
	b.Helper()
	state, err := gitstate.Load(gitstate.InStore(b.p), id, b.dir)
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := state.WriteFiles(dir, nil); err != nil {
		b.Fatal(err)
	}
	logs := "logs/refs/heads/many"
	names, err := os.ReadDir(filepath.Join(b.dir, ".git", logs))
	if err != nil || len(names) < 700 {
		b.Fatalf("%d reflogs: %v", len(names), err)
	}
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(b.dir, ".git", logs, name.Name()))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, logs, name.Name())); string(got) != string(want) {
			b.Errorf("%s is %q, not %q: %v", name.Name(), got, want, err)
		}
	}
}

// differsAsWhole compares the differences of two states with those of their directories read whole.
func (b *box) differsAsWhole(was, is oid.ID) {
	b.Helper()
	objects := gitstate.InStore(b.p)
	list := func(diff func(func(manifest.Change) error) error) (lines []string) {
		if err := diff(func(c manifest.Change) error { lines = append(lines, fmt.Sprint(c.Path, c.Old, c.New)); return nil }); err != nil {
			b.Fatal(err)
		}
		return lines
	}
	got := list(func(visit func(manifest.Change) error) error { return gitstate.Diff(objects, was, is, visit) })
	want := list(func(visit func(manifest.Change) error) error {
		return manifest.Diff(gitstate.Whole(objects).Load, was, is, visit)
	})
	if len(want) == 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		b.Errorf("%q\nand not\n%q", got, want)
	}
}
