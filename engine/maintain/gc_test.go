//go:build unix

package maintain_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

// TestManySavesAtOnce: sixteen at once, all succeed, none lost, ids unique.
func TestManySavesAtOnce(t *testing.T) {
	l := newLab(t)
	l.Write("a", "0")
	l.Init()
	ids := make([]string, 16)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			err := l.Try(func(ctx context.Context, p *project.Project) error {
				l.Write(fmt.Sprintf("f%d", i), fmt.Sprint(i))
				s, err := save.Save(ctx, p, checkpoint.Options{})
				if err == nil {
					ids[i] = s.Checkpoint.ID.String()
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{})
		if len(list) != 17 {
			t.Errorf("%d checkpoints, want 17", len(list))
		}
		seen := map[string]bool{}
		for _, c := range list {
			seen[c.ID.String()] = true
		}
		for _, id := range ids {
			if !seen[id] {
				t.Errorf("checkpoint %q was reported and is not there", id)
			}
		}
		return err
	})
}

// TestCollectBesideEverything: gc beside saves, an export and restores of single paths.
func TestCollectBesideEverything(t *testing.T) {
	l := newLab(t)
	for i := range 40 {
		l.Write(fmt.Sprintf("d%d/f", i), strings.Repeat(fmt.Sprint(i), 2000))
	}
	first := l.Init()
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	var all sync.WaitGroup
	work := func(name string, call func(i int, ctx context.Context, p *project.Project) error) {
		all.Go(func() {
			for i := range rounds {
				if err := l.Try(func(ctx context.Context, p *project.Project) error { return call(i, ctx, p) }); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		return maintain.Pin(ctx, p, first.Checkpoint, true)
	})
	work("save", func(i int, ctx context.Context, p *project.Project) error {
		l.Write("d1/f", strings.Repeat(fmt.Sprint("v", i), 900))
		_, err := save.Save(ctx, p, checkpoint.Options{})
		return err
	})
	work("gc", func(i int, ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 2})
		return err
	})
	work("export", func(i int, ctx context.Context, p *project.Project) error {
		return port.Export(ctx, p, &bytes.Buffer{}, port.ExportOptions{Checkpoint: first.Checkpoint, Format: "tar"})
	})
	work("restore", func(i int, ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint, Paths: []string{"d7"}})
		return err
	})
	all.Wait()
	l.Do(func(ctx context.Context, p *project.Project) error {
		return inspect.Tree(ctx, p, first.Checkpoint, "", func(e inspect.TreeEntry) error {
			if e.Kind != manifest.File {
				return nil
			}
			r, err := inspect.Content(ctx, p, e.Entry)
			if err != nil {
				return err
			}
			return r.Close()
		})
	})
}

func TestCollectGivesBackSpace(t *testing.T) {
	l := newLab(t)
	big := make([]byte, 12<<20)
	rand.NewChaCha8([32]byte{1}).Read(big)
	l.Write("big", string(big))
	l.Init()
	rand.NewChaCha8([32]byte{2}).Read(big)
	l.Write("big", string(big))
	l.Save()
	l.Do(func(ctx context.Context, p *project.Project) error {
		dry, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1, DryRun: true})
		if err != nil {
			return err
		}
		if len(dry.Removed) != 1 || dry.Freed < 11<<20 {
			t.Errorf("a dry run would remove %d and free %d", len(dry.Removed), dry.Freed)
		}
		if list, err := p.List(ctx, project.ListOptions{}); err != nil || len(list) != 2 {
			t.Errorf("after a dry run there are %d checkpoints, %v", len(list), err)
		}
		got, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		if err != nil {
			return err
		}
		if len(got.Removed) != 1 || got.Kept != 1 || got.Freed < 11<<20 {
			t.Errorf("gc did %+v", got)
		}
		return nil
	})
	if s := l.Save(); !s.Unchanged {
		t.Error("after gc the tree is not as it was")
	}
}

// TestUnreadableLogIsNotCollected: gc that cannot read the whole log deletes nothing.
func TestUnreadableLogIsNotCollected(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	for i := range 4 {
		l.Write("a", fmt.Sprint(i))
		l.Save()
	}
	logs, err := filepath.Glob(filepath.Join(l.Root, ".agent/rewind/objects/log-*.pack"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	good, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(good)
	bad[len(bad)/3] ^= 0xff
	if err := os.WriteFile(logs[0], bad, 0o600); err != nil {
		t.Fatal(err)
	}
	before := l.packBytes()
	err = l.Try(func(ctx context.Context, p *project.Project) error {
		got, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		if err == nil && len(got.Removed) > 0 {
			t.Errorf("gc removed %v", got.Removed)
		}
		return err
	})
	t.Logf("gc says: %v", err)
	if after := l.packBytes(); after < before {
		t.Errorf("the packs had %d bytes, and have %d", before, after)
	}
	if err := os.WriteFile(logs[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (l *lab) packBytes() (total int64) {
	l.T.Helper()
	files, err := filepath.Glob(filepath.Join(l.Root, ".agent/rewind/objects/*.pack"))
	if err != nil {
		l.T.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			l.T.Fatal(err)
		}
		total += info.Size()
	}
	return total
}

func TestForgetLeavesNoTrace(t *testing.T) {
	l := newLab(t)
	secret := "a secret that must go"
	l.Write("secret.txt", secret)
	l.Write("sub/other.txt", "stays")
	l.Init()
	l.Write("sub/secret.txt", secret+" too")
	l.Save()
	l.Do(func(ctx context.Context, p *project.Project) error {
		got, err := maintain.Forget(ctx, p, []string{"**/secret.txt"}, false)
		if err != nil {
			return err
		}
		if len(got.Paths) != 2 || got.Checkpoints != 2 {
			t.Errorf("forgotten: %+v", got)
		}
		list, err := p.List(ctx, project.ListOptions{})
		if err != nil {
			return err
		}
		for _, c := range list {
			err := inspect.Tree(ctx, p, c.Checkpoint, "", func(e inspect.TreeEntry) error {
				if strings.Contains(e.Path, "secret") {
					t.Errorf("checkpoint %d still has %s", c.N, e.Path)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, dir := range []string{filepath.Join(l.Root, ".agent/rewind"), filepath.Join(l.Home, ".rewind")} {
		err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(file)
			if bytes.Contains(data, []byte("secret")) {
				t.Errorf("%s still has it", file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	l.Save()
}
