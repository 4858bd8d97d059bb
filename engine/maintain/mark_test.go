//go:build unix

package maintain_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

// underTheLock runs a verb on a project of its own while the test holds the append
// lock; meanwhile commits the records, and gives the lock back.
func (l *lab) underTheLock(verb func(context.Context, *project.Project) error, meanwhile ...manifest.Record) error {
	l.T.Helper()
	holder := l.Open()
	defer holder.Close()
	a, err := holder.Store.Append(context.Background())
	if err != nil {
		l.T.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- l.Try(verb) }()
	time.Sleep(150 * time.Millisecond) // it has chosen, and waits
	for _, r := range meanwhile {
		if _, err := a.Commit(nil, r.Append(nil)); err != nil {
			l.T.Error(err)
		}
	}
	if err := a.Close(); err != nil {
		l.T.Error(err)
	}
	return <-done
}

// history makes n checkpoints and returns them, oldest first.
func (l *lab) history(n int) []manifest.Checkpoint {
	l.T.Helper()
	l.Write("a.txt", "0")
	all := []manifest.Checkpoint{l.Init().Checkpoint}
	for i := range n - 1 {
		l.Write("a.txt", string(rune('1'+i)))
		all = append(all, l.Save().Checkpoint)
	}
	return all
}

// TestMarkBeforeTheDeletionIsHonoured: a checkpoint that a sweep chose, and that
// is pinned, named or put to use before the deletion is in the log, stays.
func TestMarkBeforeTheDeletionIsHonoured(t *testing.T) {
	yes, name := true, "keep-me"
	for what, record := range map[string]func(id manifest.CheckpointID) manifest.Record{
		"pin": func(id manifest.CheckpointID) manifest.Record {
			return manifest.Record{Mark: &manifest.Mark{Checkpoint: id, Pinned: &yes}}
		},
		"name": func(id manifest.CheckpointID) manifest.Record {
			return manifest.Record{Mark: &manifest.Mark{Checkpoint: id, Name: &name}}
		},
		"use": func(id manifest.CheckpointID) manifest.Record {
			return manifest.Record{Operation: &manifest.Operation{Kind: manifest.OpRestore, Safety: id}}
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			all := l.history(5)
			var got *maintain.Collected
			err := l.underTheLock(func(ctx context.Context, p *project.Project) (err error) {
				got, err = maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			}, record(all[1].ID))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Removed) != 3 || got.Kept != 2 {
				t.Errorf("%d removed and %d kept, want 3 and 2", len(got.Removed), got.Kept)
			}
			for _, id := range got.Removed {
				if id == all[1].ID {
					t.Error("it is reported as removed")
				}
			}
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: all[1]})
				return err
			})
			l.Verify()
		})
	}
}

// TestVerbsOnWhatIsGone: whoever named a checkpoint, waited, and finds it
// removed says so; nothing is said to be done, and nothing is damaged.
func TestVerbsOnWhatIsGone(t *testing.T) {
	for what, verb := range map[string]func(context.Context, *project.Project, manifest.Checkpoint) error{
		"pin": func(ctx context.Context, p *project.Project, c manifest.Checkpoint) error {
			return maintain.Pin(ctx, p, c, true)
		},
		"unpin": func(ctx context.Context, p *project.Project, c manifest.Checkpoint) error {
			return maintain.Pin(ctx, p, c, false)
		},
		"rename": func(ctx context.Context, p *project.Project, c manifest.Checkpoint) error {
			return maintain.Rename(ctx, p, c, "gone")
		},
		"unname": func(ctx context.Context, p *project.Project, c manifest.Checkpoint) error {
			return maintain.Rename(ctx, p, c, "")
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			c := l.history(3)[0]
			err := l.underTheLock(func(ctx context.Context, p *project.Project) error { return verb(ctx, p, c) },
				manifest.Record{Delete: &manifest.Delete{Checkpoints: []manifest.CheckpointID{c.ID}}})
			wantGone(t, err)
		})
	}
	l := newLab(t)
	all := l.history(3)
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		return err
	})
	c := all[0]
	for what, verb := range map[string]func(context.Context, *project.Project) error{
		"restore": func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c})
			return err
		},
		"restore -n": func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c, DryRun: true})
			return err
		},
		"export": func(ctx context.Context, p *project.Project) error {
			return port.Export(ctx, p, io.Discard, port.ExportOptions{Checkpoint: c, Format: "tar"})
		},
		"diff": func(ctx context.Context, p *project.Project) error {
			_, err := inspect.Diff(ctx, p, inspect.DiffOptions{A: all[2], B: &c})
			return err
		},
		"ls": func(ctx context.Context, p *project.Project) error {
			return inspect.Tree(ctx, p, c, "", func(inspect.TreeEntry) error { return nil })
		},
		"cat": func(ctx context.Context, p *project.Project) error {
			_, err := inspect.Entry(ctx, p, c, "a.txt")
			return err
		},
		"show": func(ctx context.Context, p *project.Project) error { _, err := inspect.Coverage(ctx, p, c); return err },
		"conversation": func(ctx context.Context, p *project.Project) error {
			_, err := conversation.Open(ctx, p, c)
			return err
		},
		"pin": func(ctx context.Context, p *project.Project) error { return maintain.Pin(ctx, p, c, true) },
	} {
		t.Run(what, func(t *testing.T) { wantGone(t, l.Try(verb)) })
	}
	l.Verify()
}

func wantGone(t *testing.T, err error) {
	t.Helper()
	var gone *project.NoCheckpointError
	if !errors.As(err, &gone) {
		t.Errorf("got %v, want that the checkpoint is not there", err)
	}
}

// TestOneNameForTwo: of two that take the same name at once, one gets it.
func TestOneNameForTwo(t *testing.T) {
	l := newLab(t)
	all := l.history(3)
	name := "v1"
	err := l.underTheLock(func(ctx context.Context, p *project.Project) error { return maintain.Rename(ctx, p, all[0], name) },
		manifest.Record{Mark: &manifest.Mark{Checkpoint: all[1].ID, Name: &name}})
	var taken *project.NameTakenError
	if !errors.As(err, &taken) {
		t.Errorf("rename: %v, want that the name is taken", err)
	}
	err = l.underTheLock(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{Name: "v2"})
		return err
	}, func() manifest.Record {
		n := "v2"
		return manifest.Record{Mark: &manifest.Mark{Checkpoint: all[2].ID, Name: &n}}
	}())
	if !errors.As(err, &taken) {
		t.Errorf("save --name: %v, want that the name is taken", err)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		for name, want := range map[string]manifest.CheckpointID{"v1": all[1].ID, "v2": all[2].ID} {
			if c, err := inspect.Resolve(ctx, p, name); err != nil || c.ID != want {
				t.Errorf("%s is %s (%v), want %s", name, c.ID, err, want)
			}
		}
		return nil
	})
}
