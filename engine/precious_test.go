package engine

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// marked lists the marked paths of a checkpoint.
func (l *lab) marked(c manifest.Checkpoint) (out []string) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		return inspect.Tree(ctx, p, c, "", func(e inspect.TreeEntry) error {
			if e.Precious {
				out = append(out, e.Path)
			}
			return nil
		})
	})
	return out
}

func (l *lab) set(key, value string) {
	l.T.Helper()
	if err := settings.Set(filepath.Join(l.Root, ".agent", "rewind", account.ConfigName), key, value); err != nil {
		l.T.Fatal(err)
	}
}

// What is precious comes back, and stays where the target has none: in the root, and in a
// directory that goes. What belongs to a database's version goes with it.
func TestPreciousStays(t *testing.T) {
	l := newLab(t)
	l.Write(".gitignore", ".env\n*.db*\n")
	l.Write("a", "1")
	l.Write("x.db", "rows")
	first := l.Init()
	l.Write(".env", "mine")
	l.Write("new/.env", "mine")
	l.Write("new/b", "b")
	l.Write("x.db", "more rows")
	l.Write("x.db-wal", "and more")
	l.Must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	const rules = ".gitignore=.env\n*.db*\n"
	l.Want(".env=mine " + rules + " a=1 new/.env=mine x.db=rows")
	l.Must(restore.UndoRestore, restore.Options{})
	l.Want(".env=mine " + rules + " a=1 new/.env=mine new/b=b x.db=more rows x.db-wal=and more")
	second := l.Save()
	if got := l.marked(second.Checkpoint); len(got) != 4 {
		t.Errorf("marked: %q", got)
	}
	l.Write(".env", "another")
	l.Remove("new")
	done := l.Must(restore.Undo, restore.Options{})
	l.Want(".env=mine " + rules + " a=1 new/.env=mine new/b=b x.db=more rows x.db-wal=and more")
	if got := l.marked(*done.Safety); len(got) != 3 {
		t.Errorf("the safety checkpoint has marked: %q", got)
	}

	// Displaced by a marked file, what nobody captured is marked too.
	l.set("captureIgnored", "none")
	l.Write(".env", "in no checkpoint")
	done = l.Must(restore.Restore, restore.Options{Checkpoint: second.Checkpoint, Paths: []string{".env"}})
	if got := l.marked(*done.Safety); len(got) != 1 || got[0] != ".env" {
		t.Errorf("the safety checkpoint has marked: %q", got)
	}
	l.Verify()
}

// A directory that holds something precious does not make way for a file.
func TestPreciousInTheWay(t *testing.T) {
	l := newLab(t)
	l.Write(".gitignore", ".env\n")
	l.Write("was", "a file")
	first := l.Init()
	l.Remove("was")
	l.Write("was/.env", "mine")
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		if err == nil && (len(done.Skip) != 1 || done.Skip[0].Path != "was" || !done.Skip[0].Failed) {
			t.Errorf("skipped: %v", done.Skip)
		}
		return err
	})
	l.Want(".gitignore=.env\n was/.env=mine")
}

// The mark alone is no change: nothing to restore, nothing to undo, no difference.
func TestMarkIsNoChange(t *testing.T) {
	l := newLab(t)
	l.Write(".gitignore", ".env\n")
	l.Write(".env", "mine")
	l.Write("a", "1")
	l.Init()
	l.set("forceInclude", ".env")
	forced := l.Save()
	l.set("forceInclude", "[]")
	l.set("captureIgnored", "precious")
	marked := l.Save()
	if len(l.marked(forced.Checkpoint)) != 0 || len(l.marked(marked.Checkpoint)) != 1 || forced.Checkpoint.Root == marked.Checkpoint.Root {
		t.Fatal("the mark does not come")
	}
	if c := marked.Checkpoint; c.Added+c.Modified+c.Deleted != 0 {
		t.Errorf("the mark counts as a change: %+v", c)
	}
	done := l.Must(restore.Restore, restore.Options{Checkpoint: forced.Checkpoint})
	if len(done.Create)+len(done.Replace)+len(done.Delete)+len(done.Mode) != 0 {
		t.Errorf("restored: %+v", done)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		diff, err := inspect.Diff(ctx, p, inspect.DiffOptions{A: forced.Checkpoint, B: &marked.Checkpoint, Patch: true})
		if len(diff) != 0 {
			t.Errorf("differs: %+v", diff)
		}
		return err
	})
}

// A checkpoint from before captured neither what is precious nor the agents'
// directories: a restore of it deletes none of either.
func TestPreciousOfOldRules(t *testing.T) {
	l := newLab(t)
	unpack(t, filepath.Join(fixtures, "v1.tar.gz"), filepath.Join(l.Root, ".agent", "rewind"))
	trusted, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.Options(), Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	trusted.Close()
	var old manifest.Checkpoint
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{Limit: 1})
		if err == nil {
			old = list[0].Checkpoint
		}
		return err
	})
	l.Must(restore.Restore, restore.Options{Checkpoint: old})
	mine := map[string]string{"sub/.gitignore": "*.key\n", "sub/my.key": "mine", ".claude/settings.json": "{}", "plain": "goes"}
	for path, text := range mine {
		l.Write(path, text)
	}
	l.Must(restore.Restore, restore.Options{Checkpoint: old})
	left := l.Read()
	for path := range mine {
		if _, there := left[path]; there != (path == "sub/my.key" || path == ".claude/settings.json") {
			t.Errorf("%s is there: %v", path, there)
		}
	}
}
