package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// TestUndoBelowTheRuleFile: what comes into sight because an undo takes a rule file away is no edit: undo goes on.
func TestUndoBelowTheRuleFile(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	l.write("a", "2")
	l.save()
	l.write(".gitignore", "out/\n")
	l.write("out/x", "built")
	l.save()
	l.write("a", "3")
	l.save()
	l.must(restore.Undo, restore.Options{})
	l.want(".gitignore=out/\n a=2 out/x=built")
	l.must(restore.Undo, restore.Options{})
	l.want("a=2 out/x=built")
	l.must(restore.Undo, restore.Options{})
	l.want("a=1")
	l.must(restore.UndoRestore, restore.Options{})
	l.want("a=2 out/x=built")
	// What is edited there starts over all the same.
	l.write("out/x", "edited")
	l.write("b", "new")
	l.must(restore.Undo, restore.Options{})
	l.want("a=2 out/x=built")
}

// TestUndoAfterRedo: an undo after a redo goes to the same place again, also where an edit
// came before the undo that was taken back, and it had started over.
func TestUndoAfterRedo(t *testing.T) {
	for name, redo := range map[string]restoreCall{"redo": restore.Redo, "undo-restore": restore.UndoRestore} {
		l := newLab(t)
		l.write("a", "1")
		l.init()
		l.write("a", "2")
		l.save()
		l.write("a", "3")
		l.save()
		l.must(restore.Undo, restore.Options{})
		l.want("a=2")
		l.write("a", "edited")
		for range 2 {
			l.must(restore.Undo, restore.Options{})
			l.want("a=2")
			l.must(redo, restore.Options{})
			l.want("a=edited")
		}
		l.must(restore.Undo, restore.Options{})
		l.must(restore.Undo, restore.Options{})
		l.want("a=1")
		l.must(redo, restore.Options{})
		l.must(restore.Undo, restore.Options{})
		if l.contents() != "a=1" {
			t.Errorf("undo after %s of the second: %s", name, l.contents())
		}
	}
}

// TestUndoPassesOverImported: what was imported in between is older than all that was saved here.
func TestUndoPassesOverImported(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	l.write("a", "2")
	l.save()
	dir := filepath.Join(t.TempDir(), "older")
	if err := os.MkdirAll(filepath.Join(dir, "one"), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{
		"snapshot.tar.gz": archiveOf(t, fileHeader("a")),
		"metadata.json":   []byte(`{"timestamp":"2024-12-29T14:30:52Z"}`),
	} {
		if err := os.WriteFile(filepath.Join(dir, "one", file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
		return err
	})
	l.write("a", "3")
	for _, want := range []string{"2", "1", "x"} {
		l.must(restore.Undo, restore.Options{})
		l.want("a=" + want)
	}
	l.must(restore.Redo, restore.Options{Steps: 3})
	l.want("a=3")
	l.must(restore.Undo, restore.Options{Steps: 2})
	l.want("a=1")
	l.must(restore.Redo, restore.Options{})
	l.must(restore.Undo, restore.Options{Steps: 3})
	l.want("a=x")
}
