//go:build unix

package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
)

// TestThroughSymlinks reaches the project, and the store, through symbolic links:
// both work as they do without, the store is no part of what is saved, and no restore
// touches the link.
func TestThroughSymlinks(t *testing.T) {
	for _, way := range []string{"the root", ".agent", "the store"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t)
			base := filepath.Dir(l.Root)
			elsewhere := filepath.Join(base, "elsewhere")
			link := map[string]string{"the root": filepath.Join(base, "link"), ".agent": filepath.Join(l.Root, ".agent"), "the store": filepath.Join(l.Root, ".agent", "rewind")}[way]
			target := elsewhere
			if way == "the root" {
				target = l.Root
				l.Env.Dir = link
			} else if err := os.MkdirAll(elsewhere, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			open := project.OpenOptions{Env: l.Env} // found from the directory that a person is in
			use := func(call func(ctx context.Context, p *project.Project) error) {
				t.Helper()
				p, err := project.Open(t.Context(), open)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if p.Root() != l.Root {
					t.Errorf("the root is %s", p.Root())
				}
				if err := call(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			l.Write("a", "1")
			l.Write("dir/b", "1")
			before := l.Read()
			p, first, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: open, Force: way != "the root"})
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			if first.Checkpoint.Files != 2 {
				t.Errorf("%d files, want 2: is the store one of them?", first.Checkpoint.Files)
			}
			l.Write("a", "2")
			l.Remove("dir")
			use(func(ctx context.Context, p *project.Project) error {
				s, err := save.Save(ctx, p, checkpoint.Options{})
				if err == nil && s.Checkpoint.Files != 1 {
					t.Errorf("%d files, want 1", s.Checkpoint.Files)
				}
				return err
			})
			use(func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
				return err
			})
			l.Is(before, "restored")
			use(func(ctx context.Context, p *project.Project) error {
				if _, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 5}); err != nil {
					return err
				}
				v, err := maintain.Verify(ctx, p, true)
				if err == nil && !v.OK() {
					t.Errorf("damaged: %+v", v.Damaged)
				}
				return err
			})
			if got, err := os.Readlink(link); err != nil || got != target {
				t.Errorf("the link leads to %q: %v", got, err)
			}
		})
	}
}

// TestClockJumps saves while the clock goes back an hour and ahead a year. The
// order stays that of the saves, each is what it was, and no sweep removes anything for its age.
func TestClockJumps(t *testing.T) {
	l := newLab(t)
	now := time.Now()
	l.Env.Now = func() time.Time { return now }
	l.Write("a", "---")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Mode: account.GlobalMode}) // its moments come from Now
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	saved := []*checkpoint.Saved{}
	for i, jump := range []time.Duration{time.Second, -time.Hour, time.Second, time.Second, 365 * 24 * time.Hour, time.Second, -400 * 24 * time.Hour, time.Second, 800 * 24 * time.Hour, time.Minute} {
		now = now.Add(jump)
		l.Write("a", fmt.Sprintf("%03d", i)) // the same size each time
		saved = append(saved, l.Save())
		l.Do(func(ctx context.Context, p *project.Project) error {
			got, err := maintain.GC(ctx, p, maintain.GCOptions{Auto: true, MaxAge: 30 * 24 * time.Hour})
			if err == nil && len(got.Removed) > 0 {
				t.Errorf("after a jump of %v a sweep removes %d checkpoints", jump, len(got.Removed))
			}
			return err
		})
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{})
		if err != nil {
			return err
		}
		for i := range saved {
			s, c := saved[len(saved)-1-i].Checkpoint, list[i]
			if c.ID != s.ID || !c.Time.After(list[i+1].Time) {
				t.Errorf("place %d of the list is %s of %v", i, c.ID, c.Time)
			}
		}
		return nil
	})
	for i, s := range saved {
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: s.Checkpoint})
			return err
		})
		if got, err := os.ReadFile(filepath.Join(l.Root, "a")); string(got) != fmt.Sprintf("%03d", i) {
			t.Errorf("checkpoint %d holds %q: %v", i, got, err)
		}
	}
	l.Verify()
}
