package engine

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"
)

// mapped gives a file's bytes for writing. After the first write those to a tmpfs leave no
// mark on its status: it is then as after a power cut, which took the content alone.
func mapped(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

// After a start of the system what was written shortly before it went down is read again,
// once, since its content may be lost though its status is not.
func TestContentLostWithThePower(t *testing.T) {
	for _, within := range []bool{false, true} {
		l := newLabAt(t, scratchfs.Tmpfs(t, "64m"))
		l.noFloor()
		l.Write("dir/a.txt", "one\n")
		b := mapped(t, filepath.Join(l.Root, "dir/a.txt"))
		b[0] = 'o'
		time.Sleep(250 * time.Millisecond) // else it may count as being written
		saved := l.Init()
		good := l.Read()
		l.Save() // what was racy
		clear(b)
		bad := l.Read()
		if got := l.Save(); !got.Unchanged {
			t.Fatal("the status tells of the change: this test shows nothing")
		}
		on := time.Now()
		l.Env.Booted = func() time.Time { return on }
		if within { // a hook that names other paths
			l.Do(func(ctx context.Context, p *project.Project) error {
				c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{From: saved.Checkpoint.Root, Changed: []string{"b.txt"}})
				if err != nil {
					return err
				}
				if c.Root() == saved.Checkpoint.Root {
					t.Error("only what was named was looked at")
				}
				return c.Discard()
			})
		}
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: saved.Checkpoint})
			return err
		})
		l.Is(good, "restored after the power went")
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := restore.UndoRestore(ctx, p, restore.Options{})
			return err
		})
		l.Is(bad, "after undo-restore: what the power cut left is kept too")
	}
}

// What was read again and is as it was is not read by every scan from then on.
func TestReadOnceAfterAStart(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one\n")
	l.Init()
	for range 3 {
		l.Write("b.txt", rand.Text())
		l.Save()
	}
	l.Remove("b.txt")
	l.Save()
	time.Sleep(20 * time.Millisecond)
	l.Save() // what was racy
	read := func() (n int64) {
		t.Helper()
		l.Do(func(ctx context.Context, p *project.Project) error {
			c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{})
			if err != nil {
				return err
			}
			n = c.Scan.Read
			return c.Discard()
		})
		return n
	}
	if n := read(); n != 0 {
		t.Fatalf("%d files read, want 0", n)
	}
	on := time.Now()
	l.Env.Booted = func() time.Time { return on }
	time.Sleep(20 * time.Millisecond)
	if n := read(); n != 1 {
		t.Errorf("after a start %d files read, want 1", n)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		got, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		if err == nil && len(got.Removed) == 0 {
			t.Error("the sweep removed nothing")
		}
		return err
	})
	if n := read(); n != 1 {
		t.Errorf("a sweep looked at no file, and %d are read after it, want 1", n)
	}
	if !l.Save().Unchanged {
		t.Error("nothing was changed")
	}
	if n := read(); n != 0 {
		t.Errorf("after a save %d files read, want 0", n)
	}
}

func TestUnsynced(t *testing.T) {
	boot := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name       string
		boot, was  time.Time
		doubt      bool
		trustsUpTo time.Time
	}{
		{"same start", boot, boot.Add(time.Minute), false, time.Time{}},
		{"before it", boot, boot.Add(-time.Minute), true, boot.Add(-11 * time.Minute)},
		{"long before", boot, boot.Add(-1000 * time.Hour), true, boot.Add(-1000*time.Hour - 10*time.Minute)},
		{"the clock was set back", boot, boot.Add(2 * time.Hour), true, boot.Add(110 * time.Minute)},
		{"of an older program", boot, time.Unix(0, 0), true, time.Unix(-600, 0)},
		{"the start is not known", time.Time{}, boot.Add(-time.Minute), false, time.Time{}},
	} {
		l := newLab(t)
		l.Write("a.txt", "one\n")
		l.Init()
		l.Env.Booted = func() time.Time { return c.boot }
		l.Do(func(_ context.Context, p *project.Project) error {
			if err := scan.Restamp(p.StatCacheFile(), project.Stamp{At: cas.Position{}, Start: c.was}.Encode()); err != nil {
				return err
			}
			cache, err := scan.LoadCache(p.StatCacheFile())
			if got := p.Unsynced(cache, boot.Add(time.Hour)); got.IsZero() == c.doubt || !got.Equal(c.trustsUpTo) {
				t.Errorf("%s: %v, want %v", c.name, got, c.trustsUpTo)
			}
			return err
		})
	}
}
