package restore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// TestUndoBelowTheRuleFile: what comes into sight because an undo takes a rule file away is no edit: undo goes on.
func TestUndoBelowTheRuleFile(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	l.Write("a", "2")
	l.Save()
	l.Write(".gitignore", "out/\n")
	l.Write("out/x", "built")
	l.Save()
	l.Write("a", "3")
	l.Save()
	l.Must(restore.Undo, restore.Options{})
	l.Want(".gitignore=out/\n a=2 out/x=built")
	l.Must(restore.Undo, restore.Options{})
	l.Want("a=2 out/x=built")
	l.Must(restore.Undo, restore.Options{})
	l.Want("a=1")
	l.Must(restore.UndoRestore, restore.Options{})
	l.Want("a=2 out/x=built")
	// What is edited there starts over all the same.
	l.Write("out/x", "edited")
	l.Write("b", "new")
	l.Must(restore.Undo, restore.Options{})
	l.Want("a=2 out/x=built")
}

// TestUndoAfterRedo: an undo after a redo goes to the same place again, also where an edit
// came before the undo that was taken back, and it had started over.
func TestUndoAfterRedo(t *testing.T) {
	for name, redo := range map[string]testlab.RestoreCall{"redo": restore.Redo, "undo-restore": restore.UndoRestore} {
		l := newLab(t)
		l.Write("a", "1")
		l.Init()
		l.Write("a", "2")
		l.Save()
		l.Write("a", "3")
		l.Save()
		l.Must(restore.Undo, restore.Options{})
		l.Want("a=2")
		l.Write("a", "edited")
		for range 2 {
			l.Must(restore.Undo, restore.Options{})
			l.Want("a=2")
			l.Must(redo, restore.Options{})
			l.Want("a=edited")
		}
		l.Must(restore.Undo, restore.Options{})
		l.Must(restore.Undo, restore.Options{})
		l.Want("a=1")
		l.Must(redo, restore.Options{})
		l.Must(restore.Undo, restore.Options{})
		if l.Contents() != "a=1" {
			t.Errorf("undo after %s of the second: %s", name, l.Contents())
		}
	}
}

// TestUndoPassesOverImported: what was imported in between is older than all that was saved here.
func TestUndoPassesOverImported(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	l.Write("a", "2")
	l.Save()
	dir := filepath.Join(t.TempDir(), "older")
	if err := os.MkdirAll(filepath.Join(dir, "one"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{
		"snapshot.tar.gz": testlab.ArchiveOf(t, testlab.FileHeader("a")),
		"metadata.json":   []byte(`{"timestamp":"2024-12-29T14:30:52Z"}`),
	} {
		if err := os.WriteFile(filepath.Join(dir, "one", file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
		return err
	})
	l.Write("a", "3")
	for _, want := range []string{"2", "1", "x"} {
		l.Must(restore.Undo, restore.Options{})
		l.Want("a=" + want)
	}
	l.Must(restore.Redo, restore.Options{Steps: 3})
	l.Want("a=3")
	l.Must(restore.Undo, restore.Options{Steps: 2})
	l.Want("a=1")
	l.Must(restore.Redo, restore.Options{})
	l.Must(restore.Undo, restore.Options{Steps: 3})
	l.Want("a=x")
	// What an undo of some paths brought there stays there.
	l.Must(restore.Redo, restore.Options{})
	l.Write("b", "1")
	l.Save()
	for range 3 {
		l.Must(restore.Undo, restore.Options{Paths: []string{"a"}})
	}
	l.Want("a=x b=1")
	l.Must(restore.Undo, restore.Options{})
	l.Want("a=x")
}

// TestUndoKeepsWhatWentFurther: what an undo of some paths brought further back stays there, through all undos of the
// rest until they come to where it is.
func TestUndoKeepsWhatWentFurther(t *testing.T) {
	l := newLab(t)
	l.Write("a", "0")
	l.Write("b", "0")
	l.Init()
	l.Write("a", "1")
	l.Save()
	for _, text := range []string{"1", "2", "3"} {
		l.Write("b", text)
		l.Save()
	}
	l.Must(restore.Undo, restore.Options{Paths: []string{"a"}})
	for _, want := range []string{"a=0 b=2", "a=0 b=1", "a=0 b=0"} {
		l.Must(restore.Undo, restore.Options{})
		l.Want(want)
	}
	l.Must(restore.Redo, restore.Options{Steps: 4})
	l.Want("a=1 b=3")
}

// TestUndoOfSomeAndAll: each path is where the undos that had it in them brought it, against a model: saves in a row, and the
// save that each path is at. An undo of everything goes to the newest save that is older than the one of the last such undo and in which a
// path differs, and leaves alone the paths that are further back already.
func TestUndoOfSomeAndAll(t *testing.T) {
	paths := []string{"a", "b", "c"}
	for seed := uint64(0); seed < 16; seed += testlab.Every(uint64(5)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 11))
			l := newLab(t)
			now := map[string]int{"a": 0, "b": 0, "c": 0}
			var saves []map[string]int
			for range 7 {
				saves = append(saves, maps.Clone(now))
				for p, n := range now {
					l.Write(p, fmt.Sprint(n))
				}
				if len(saves) == 1 {
					l.Init()
				} else {
					l.Save()
				}
				now[paths[rnd.IntN(3)]]++
			}
			all := len(saves) - 1
			at := map[string]int{"a": all, "b": all, "c": all}
			var did []string
			for range 12 {
				o, from := restore.Options{}, all
				moves := paths
				if rnd.IntN(2) == 0 {
					moves = []string{paths[rnd.IntN(3)]}
					o.Paths, from = moves, at[moves[0]]
				}
				to := from - 1
				for to >= 0 && !slices.ContainsFunc(moves, func(p string) bool { return at[p] > to && saves[to][p] != saves[at[p]][p] }) {
					to--
				}
				_, err := l.Run(restore.Undo, o)
				did = append(did, "undo "+strings.Join(o.Paths, " "))
				if nothing := new(project.NothingError); errors.As(err, &nothing) != (to < 0) || err != nil && to >= 0 {
					t.Fatalf("%q: %v, want save %d", did, err, to)
				}
				if to >= 0 {
					for _, p := range moves {
						at[p] = min(at[p], to)
					}
					if o.Paths == nil {
						all = to
					}
				}
				want := fmt.Sprintf("a=%d b=%d c=%d", saves[at["a"]]["a"], saves[at["b"]]["b"], saves[at["c"]]["c"])
				if got := l.Contents(); got != want {
					t.Fatalf("%q: %s, want %s of %v", did, got, want, saves)
				}
			}
		})
	}
}
