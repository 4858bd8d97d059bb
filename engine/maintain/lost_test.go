//go:build unix

package maintain_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// TestLostTree loses directories of checkpoints and of an operation for good: gc and forget go on with all that can be
// read and name the others, which can be removed; a sweep that nobody asked for removes nothing.
func TestLostTree(t *testing.T) {
	lose := func(what string) oid.ID { return oid.Sum([]byte(what)) }
	// all has checkpoints of which the whole tree is lost, the directory sub beside the secret, and the coverage, and an undo that
	// needs the first of them.
	all := func(t *testing.T) (l *lab, lost []manifest.Checkpoint) {
		l = newLab(t)
		l.Write("keep.txt", "keep\n")
		l.Init()
		l.Write("secret.txt", testlab.Secret)
		l.Save()
		l.Do(func(ctx context.Context, p *project.Project) error {
			tx := commit.Begin(p)
			file, err := tx.Put([]byte(testlab.Secret))
			if err != nil {
				return err
			}
			root, err := tx.Put((&manifest.Dir{Entries: []manifest.Entry{
				{Name: "secret.txt", Kind: manifest.File, Mode: 0o644, ID: file, Size: uint64(len(testlab.Secret))},
				{Name: "sub", Kind: manifest.Subdir, Mode: 0o755, ID: lose("sub"), Files: 1, Size: 1},
			}}).Append(nil))
			if err != nil {
				return err
			}
			empty, err := tx.Put((&manifest.Dir{}).Append(nil))
			if err != nil {
				return err
			}
			for i, c := range []manifest.Checkpoint{{Root: lose("root")}, {Root: root, Files: 2}, {Root: empty, Coverage: lose("coverage")}} {
				id, err := manifest.NewCheckpointID(rand.Reader)
				if err != nil {
					return err
				}
				c.ID, c.Kind, c.Time = id, manifest.Manual, time.Now().UTC().Add(time.Duration(i)*time.Second)
				lost = append(lost, c)
			}
			_, err = tx.Commit(ctx, func() (records []manifest.Record, err error) {
				for i := range lost {
					records = append(records, manifest.Record{Checkpoint: &lost[i]})
				}
				op := manifest.Operation{Kind: manifest.OpRestore, Time: time.Now().UTC(), Safety: lost[0].ID, Before: lost[0].Root, After: root, Paths: lose("paths")}
				return append(records, manifest.Record{Operation: &op}), nil
			}, nil)
			return err
		})
		l.Write("other.txt", "other\n")
		l.Save()
		return l, lost
	}
	ids := func(list []project.Listed) (out []manifest.CheckpointID) {
		for _, c := range list {
			out = append(out, c.ID)
		}
		return out
	}
	t.Run("gc", func(t *testing.T) {
		l, lost := all(t)
		if err := l.Try(func(ctx context.Context, p *project.Project) error {
			_, err := maintain.GC(ctx, p, maintain.GCOptions{Auto: true})
			return err
		}); !project.IsDamage(err) {
			t.Errorf("a sweep that nobody asked for: %v", err)
		}
		for _, o := range []maintain.GCOptions{{DryRun: true}, {}, {Keep: 10}} {
			l.Do(func(ctx context.Context, p *project.Project) error {
				done, err := maintain.GC(ctx, p, o)
				if err == nil && (len(done.Lost) != 2 || !slices.Contains(ids(done.Lost), lost[0].ID) || !slices.Contains(ids(done.Lost), lost[1].ID) || len(done.Removed) > 0) {
					t.Errorf("%+v: lost %v, removed %v", o, ids(done.Lost), done.Removed)
				}
				return err
			})
		}
		for _, c := range lost {
			l.Do(func(ctx context.Context, p *project.Project) error {
				done, err := maintain.GC(ctx, p, maintain.GCOptions{Checkpoint: c.ID})
				if err == nil && !slices.Equal(done.Removed, []manifest.CheckpointID{c.ID}) {
					t.Errorf("removed %v instead of %v", done.Removed, c.ID)
				}
				return err
			})
		}
		l.Verify()
	})
	t.Run("forget", func(t *testing.T) {
		l, lost := all(t)
		dry := l.forgetDry("secret.txt")
		done := l.forget("secret.txt")
		for _, f := range []*maintain.Forgotten{dry, done} {
			if !slices.Equal(f.Paths, []string{"secret.txt"}) || len(f.Unread) != 2 || f.Unread[0].ID != lost[1].ID || f.Unread[1].ID != lost[0].ID || f.Pending != "" {
				t.Errorf("forgot %v, not readable %v, pending %q", f.Paths, f.Unread, f.Pending)
			}
		}
		l.Remove("secret.txt")
		l.Nowhere(testlab.Secret, "after forget")
		l.forget("sub") // what is lost itself
		for _, c := range lost {
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.ForgetCheckpoint(ctx, p, c.ID, false)
				return err
			})
		}
		l.Verify()
		if err := l.Try(func(ctx context.Context, p *project.Project) error {
			_, err := maintain.Forget(ctx, p, []string{"nothing"}, false)
			return err
		}); !errors.As(err, new(*maintain.NotHeldError)) {
			t.Errorf("forget what never was: %v", err)
		}
	})
}
