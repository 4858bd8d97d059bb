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
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
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
	l.t.Helper()
	if err := settings.Set(filepath.Join(l.root, ".agent", "rewind", account.ConfigName), key, value); err != nil {
		l.t.Fatal(err)
	}
}

// What is precious comes back, and stays where the target has none: in the root, and in a
// directory that goes. What belongs to a database's version goes with it.
func TestPreciousStays(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", ".env\n*.db*\n")
	l.write("a", "1")
	l.write("x.db", "rows")
	first := l.init()
	l.write(".env", "mine")
	l.write("new/.env", "mine")
	l.write("new/b", "b")
	l.write("x.db", "more rows")
	l.write("x.db-wal", "and more")
	l.must(restore.Restore, restore.Options{Checkpoint: first.Checkpoint})
	const rules = ".gitignore=.env\n*.db*\n"
	l.want(".env=mine " + rules + " a=1 new/.env=mine x.db=rows")
	l.must(restore.UndoRestore, restore.Options{})
	l.want(".env=mine " + rules + " a=1 new/.env=mine new/b=b x.db=more rows x.db-wal=and more")
	second := l.save()
	if got := l.marked(second.Checkpoint); len(got) != 4 {
		t.Errorf("marked: %q", got)
	}
	l.write(".env", "another")
	l.remove("new")
	done := l.must(restore.Undo, restore.Options{})
	l.want(".env=mine " + rules + " a=1 new/.env=mine new/b=b x.db=more rows x.db-wal=and more")
	if got := l.marked(*done.Safety); len(got) != 3 {
		t.Errorf("the safety checkpoint has marked: %q", got)
	}

	// Displaced by a marked file, what nobody captured is marked too.
	l.set("captureIgnored", "none")
	l.write(".env", "in no checkpoint")
	done = l.must(restore.Restore, restore.Options{Checkpoint: second.Checkpoint, Paths: []string{".env"}})
	if got := l.marked(*done.Safety); len(got) != 1 || got[0] != ".env" {
		t.Errorf("the safety checkpoint has marked: %q", got)
	}
	l.verify()
}

// A directory that holds something precious does not make way for a file.
func TestPreciousInTheWay(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", ".env\n")
	l.write("was", "a file")
	first := l.init()
	l.remove("was")
	l.write("was/.env", "mine")
	l.do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		if err == nil && (len(done.Skip) != 1 || done.Skip[0].Path != "was" || !done.Skip[0].Failed) {
			t.Errorf("skipped: %v", done.Skip)
		}
		return err
	})
	l.want(".gitignore=.env\n was/.env=mine")
}

// The mark alone is no change: nothing to restore, nothing to undo, no difference.
func TestMarkIsNoChange(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", ".env\n")
	l.write(".env", "mine")
	l.write("a", "1")
	l.init()
	l.set("forceInclude", ".env")
	forced := l.save()
	l.set("forceInclude", "[]")
	l.set("captureIgnored", "precious")
	marked := l.save()
	if len(l.marked(forced.Checkpoint)) != 0 || len(l.marked(marked.Checkpoint)) != 1 || forced.Checkpoint.Root == marked.Checkpoint.Root {
		t.Fatal("the mark does not come")
	}
	if c := marked.Checkpoint; c.Added+c.Modified+c.Deleted != 0 {
		t.Errorf("the mark counts as a change: %+v", c)
	}
	done := l.must(restore.Restore, restore.Options{Checkpoint: forced.Checkpoint})
	if len(done.Create)+len(done.Replace)+len(done.Delete)+len(done.Mode) != 0 {
		t.Errorf("restored: %+v", done)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
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
	unpack(t, filepath.Join(fixtures, "v1.tar.gz"), filepath.Join(l.root, ".agent", "rewind"))
	trusted, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.options(), Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	trusted.Close()
	var old manifest.Checkpoint
	l.do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{Limit: 1})
		if err == nil {
			old = list[0].Checkpoint
		}
		return err
	})
	l.must(restore.Restore, restore.Options{Checkpoint: old})
	mine := map[string]string{"sub/.gitignore": "*.key\n", "sub/my.key": "mine", ".claude/settings.json": "{}", "plain": "goes"}
	for path, text := range mine {
		l.write(path, text)
	}
	l.must(restore.Restore, restore.Options{Checkpoint: old})
	left := l.read()
	for path := range mine {
		if _, there := left[path]; there != (path == "sub/my.key" || path == ".claude/settings.json") {
			t.Errorf("%s is there: %v", path, there)
		}
	}
}
