package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func TestSaveAndRestore(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one\n")
	l.Write("dir/b.txt", "two\n")
	l.Write("gone/c.txt", "three\n")
	if err := os.Symlink("nowhere", filepath.Join(l.Root, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(l.Root, "empty"), 0o750); err != nil {
		t.Fatal(err)
	}
	first := l.Init()
	before := l.Read()
	if first.Checkpoint.Files != 4 || first.Checkpoint.Added != 4 {
		t.Errorf("files %d, added %d, want 4 and 4", first.Checkpoint.Files, first.Checkpoint.Added)
	}
	if again := l.Save(); !again.Unchanged || again.Checkpoint.Added+again.Checkpoint.Modified+again.Checkpoint.Deleted != 0 {
		t.Errorf("nothing was changed, the save says %+v", again.Checkpoint)
	}
	l.Write("a.txt", "ONE\n")
	l.Remove("gone")
	l.Write("new/d.txt", "four\n")
	second := l.Save()
	if c := second.Checkpoint; c.Added != 1 || c.Modified != 1 || c.Deleted != 1 {
		t.Errorf("added %d modified %d deleted %d, want 1 each", c.Added, c.Modified, c.Deleted)
	}
	after := l.Read()
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		return err
	})
	l.Is(before, "after restore")
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.UndoRestore(ctx, p, restore.Options{})
		return err
	})
	l.Is(after, "after undo-restore")
}

func TestResolve(t *testing.T) {
	l := newLab(t)
	l.Write("a", "0")
	var ids []string
	ids = append(ids, l.Init().Checkpoint.ID.String())
	for i := range 3 {
		l.Write("a", strings.Repeat("x", i+1))
		ids = append(ids, l.Save().Checkpoint.ID.String())
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Resolve(ctx, p, "2")
		if err != nil {
			return err
		}
		return maintain.Rename(ctx, p, c.Checkpoint, "before-lunch")
	})
	l.Do(func(ctx context.Context, p *project.Project) error {
		for spec, want := range map[string]int{
			"": 3, "last": 3, "prev": 2, "1": 3, "4": 0, "before-lunch": 2, ids[1]: 1, ids[0][:8]: 0, "@{0s}": 3,
		} {
			c, err := inspect.Resolve(ctx, p, spec)
			if err != nil {
				t.Errorf("%q: %v", spec, err)
				continue
			}
			if c.ID.String() != ids[want] || c.N != 4-want {
				t.Errorf("%q is %s (%d), want %s (%d)", spec, c.ID, c.N, ids[want], 4-want)
			}
		}
		for _, spec := range []string{"5", "0", "nope", "kkkkkkkkkkkkkkkk", "klm", "@{never}", "@{2001-01-01}"} {
			var missing *project.NoCheckpointError
			if c, err := inspect.Resolve(ctx, p, spec); !errors.As(err, &missing) {
				t.Errorf("%q gives %v, %v, want no checkpoint", spec, c.ID, err)
			}
		}
		for _, name := range []string{"last", "prev", "now", "123", "klmnopqr", "rtntlvoyoyzzzmvv", "", "-x", "a b", "é", strings.Repeat("a", 300)} {
			var bad *project.BadNameError
			if err := project.CheckName(name); !errors.As(err, &bad) {
				t.Errorf("the name %q gives %v", name, err)
			}
		}
		for _, name := range []string{"two", "top", "sort", "k", "klmn", "support"} {
			if err := project.CheckName(name); err != nil {
				t.Errorf("the name %q gives %v", name, err)
			}
		}
		// A name is found before an id that begins with it; with one letter more, the id is found.
		second, err := inspect.Resolve(ctx, p, ids[1])
		if err != nil {
			return err
		}
		if err := maintain.Rename(ctx, p, second.Checkpoint, ids[0][:7]); err != nil {
			return err
		}
		for spec, want := range map[string]string{ids[0][:7]: ids[1], ids[0][:8]: ids[0], ids[0]: ids[0]} {
			if c, err := inspect.Resolve(ctx, p, spec); err != nil || c.ID.String() != want {
				t.Errorf("%q is %s, %v, want %s", spec, c.ID, err, want)
			}
		}
		return nil
	})
}

func TestAges(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5m": 5 * time.Minute, "3d": 72 * time.Hour, "1w": 168 * time.Hour, "1w2d": 216 * time.Hour, "1d12h": 36 * time.Hour, "90s": 90 * time.Second,
	} {
		if got, err := inspect.ParseAge(text); err != nil || got != want {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "-5m", "1d-2h", "99999999999w", "9999999w9999999w", "h"} {
		if got, err := inspect.ParseAge(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestLargeFileChangedInTheMiddle(t *testing.T) {
	l := newLab(t)
	size := 24 << 20 / testlab.Every(3)
	data := make([]byte, size)
	state := uint64(1)
	for i := range data { // incompressible, reproducible
		state = state*6364136223846793005 + 1442695040888963407
		data[i] = byte(state >> 56)
	}
	l.Write("big", string(data))
	first := l.Init()
	copy(data[size/2:], bytes.Repeat([]byte("changed!"), 1<<17))
	l.Write("big", string(data))
	second := l.Save()
	if added := second.Checkpoint.StoredBytes; added > 4<<20 {
		t.Errorf("1 MB changed in the middle adds %d bytes", added)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		e, err := inspect.Entry(ctx, p, second.Checkpoint, "big")
		if err != nil {
			return err
		}
		if e.Kind != manifest.Chunked || e.Size != uint64(size) {
			t.Errorf("entry %+v", e)
		}
		r, err := inspect.Content(ctx, p, e)
		if err != nil {
			return err
		}
		defer r.Close()
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, data) {
			t.Error("the content differs")
		}
		return err
	})
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		return err
	})
}
