package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// TestFullDisk lets a real disk run full in the middle of a save and of a
// restore, with ever more room left. Nothing is lost, each file is as it was, and once
// there is room the next command needs no hand.
func TestFullDisk(t *testing.T) {
	base := scratchfs.Tmpfs(t, "14m")
	l := newLabAt(t, base)
	noise := func(tag byte) {
		for i := range 6 {
			data := make([]byte, 200<<10)
			rand.NewChaCha8([32]byte{tag, byte(i)}).Read(data)
			l.Write(fmt.Sprintf("dir%d/noise", i), string(data))
		}
	}
	noise(1)
	l.Write(".gitignore", "*.ignored\n")
	l.Write("mine.ignored", "in no checkpoint")
	l.Write("small", "1")
	l.noFloor()
	first := l.Init().Checkpoint
	l.Do(func(ctx context.Context, p *project.Project) error { return maintain.Pin(ctx, p, first, true) })
	start := l.Read()
	full := func(err error) bool {
		var floor *project.DiskFullError
		return errors.Is(err, syscall.ENOSPC) || errors.As(err, &floor)
	}
	failures := map[string]int{}
	tag := byte(2)
	for _, room := range []int64{0, 40 << 10, 400 << 10, 1000 << 10, 1500 << 10, 3 << 20} {
		noise(tag)
		l.Write("small", fmt.Sprint(tag))
		tag++
		now := l.Read()
		for _, what := range []string{"restore", "save"} {
			empty := l.ballast(room)
			err := l.Try(func(ctx context.Context, p *project.Project) (err error) {
				if what == "save" {
					_, err = save.Save(ctx, p, checkpoint.Options{})
				} else {
					_, err = restore.Restore(ctx, p, restore.Options{Checkpoint: first})
				}
				return err
			})
			if err != nil {
				failures[what]++
				if !full(err) {
					t.Errorf("%s with room for %d bytes: %v", what, room, err)
				}
			}
			if err != nil || what == "save" {
				l.Is(now, fmt.Sprintf("after a %s with room for %d bytes (%v)", what, room, err))
			}
			l.Verify() // on the full disk, too
			empty()
			if err == nil && what == "restore" {
				l.Do(func(ctx context.Context, p *project.Project) error {
					_, err := restore.UndoRestore(ctx, p, restore.Options{})
					return err
				})
				l.Is(now, "after undo-restore")
			}
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			})
			l.Verify()
		}
	}
	if failures["save"] < 3 || failures["restore"] < 3 || failures["save"] > 5 || failures["restore"] > 5 {
		t.Errorf("the disk was full too seldom, or always: %v", failures)
	}
	t.Logf("the disk was full in the middle: %v", failures)
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		return err
	})
	l.Is(start, "at the end")
}

// noFloor lets rewind use a disk up.
func (l *lab) noFloor() {
	l.T.Helper()
	account := filepath.Join(l.Home, ".rewind")
	if err := os.Mkdir(account, 0o700); err != nil {
		l.T.Fatal(err)
	}
	if err := settings.Set(filepath.Join(account, "config.json"), "minFreeDisk", "0"); err != nil {
		l.T.Fatal(err)
	}
}

// ballast fills the disk but for so many bytes, until the function that it returns is called.
func (l *lab) ballast(room int64) (empty func()) {
	l.T.Helper()
	file := filepath.Join(filepath.Dir(l.Root), "ballast")
	var st syscall.Statfs_t
	if err := syscall.Statfs(l.Root, &st); err != nil {
		l.T.Fatal(err)
	}
	size := int64(st.Bavail)*st.Bsize - room
	f, err := os.Create(file)
	if err != nil {
		l.T.Fatal(err)
	}
	defer f.Close()
	if size > 0 {
		if err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
			l.T.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(file); err != nil {
			l.T.Fatal(err)
		}
	}
}

// TestCollectOnAFullDisk: gc removes what takes no space to remove on a disk without a free byte. Where it must write first, it
// says how much, removes nothing, and its dry run says so too.
func TestCollectOnAFullDisk(t *testing.T) {
	l := newLabAt(t, scratchfs.Tmpfs(t, "96m"))
	l.noFloor()
	noise := func(tag byte) {
		data := make([]byte, 12<<20) // in a pack of its own
		rand.NewChaCha8([32]byte{tag}).Read(data)
		l.Write("noise", string(data))
	}
	noise(1)
	l.Init()
	for tag := range byte(3) {
		noise(tag + 2)
		l.Save()
	}
	l.Do(func(ctx context.Context, p *project.Project) error { // so that the log is small
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 3})
		return err
	})
	gc := func(o maintain.GCOptions) (got *maintain.Collected, err error) {
		l.Do(func(ctx context.Context, p *project.Project) error {
			got, err = maintain.GC(ctx, p, o)
			return nil
		})
		return got, err
	}
	empty := l.ballast(0)
	dry, err := gc(maintain.GCOptions{Keep: 1, DryRun: true})
	if err != nil || dry.Room == 0 && dry.Freed < 23<<20 {
		t.Fatalf("%+v %v", dry, err)
	}
	got, err := gc(maintain.GCOptions{Keep: 1})
	var lacks *maintain.GCSpaceError
	switch {
	case errors.As(err, &lacks):
		if dry.Room != lacks.Need {
			t.Errorf("needs %d bytes, by its dry run %d", lacks.Need, dry.Room)
		}
		if n := len(l.Newest(10)); n != 3 {
			t.Errorf("%d checkpoints are left", n)
		}
		empty()
		empty = l.ballast(lacks.Need + 64<<10)
		if got, err = gc(maintain.GCOptions{Keep: 1}); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	}
	if len(got.Removed) != 2 || got.Freed < 23<<20 {
		t.Errorf("%+v", got)
	}
	empty()
	l.Verify()
}

// TestFreeingOnAFullDisk: what only frees space does so on a disk without a free byte: the removal of a deleted project's
// store, and a gc that finds nothing to remove is none that fails.
func TestFreeingOnAFullDisk(t *testing.T) {
	l := newLabAt(t, scratchfs.Tmpfs(t, "48m"))
	l.noFloor()
	l.Write("a.txt", "1")
	p, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		t.Fatal(err)
	}
	id := p.Format.ID
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	empty := l.ballast(0)
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{})
		return err
	})
	if err := os.RemoveAll(l.Root); err != nil {
		t.Fatal(err)
	}
	empty()
	if err := os.Mkdir(l.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	l.ballast(0)
	r, err := stores.PlanRemoval(context.Background(), l.Env, id)
	if err != nil || r.Refused != "" {
		t.Fatalf("%+v %v", r, err)
	}
	if err := r.Apply(context.Background(), 0); err != nil {
		t.Error(err)
	}
	if known, err := account.Registry(l.Env); err != nil || len(known) > 0 || account.Exists(r.Mirror) {
		t.Errorf("%+v %v", known, err)
	}
}

// A checkout that has no room for its first byte leaves nothing.
func TestCheckoutOnAFullDisk(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	saved := l.Init().Checkpoint
	base := scratchfs.Tmpfs(t, "1m")
	if f, err := os.Create(filepath.Join(base, "ballast")); err == nil {
		for err == nil {
			_, err = f.Write(make([]byte, 4<<10))
		}
		f.Close()
	}
	dir := filepath.Join(base, "out")
	err := l.Try(func(ctx context.Context, p *project.Project) error {
		_, err := port.Checkout(ctx, p, port.CheckoutOptions{Checkpoint: saved, Dir: dir})
		return err
	})
	if !errors.Is(err, syscall.ENOSPC) || account.Exists(dir) {
		t.Errorf("%v, left: %v", err, account.Exists(dir))
	}
}

// TestCollectSaysWhatItNeeds: small files share packs, and what stays of these is written anew first.
func TestCollectSaysWhatItNeeds(t *testing.T) {
	// Without the garbage collector only what is closed lets the file system be unmounted.
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	l := newLabAt(t, scratchfs.Tmpfs(t, "48m"))
	l.noFloor()
	for tag := range byte(3) {
		data := make([]byte, 5<<20)
		rand.NewChaCha8([32]byte{tag}).Read(data)
		l.Write("noise", string(data))
		if tag == 0 {
			l.Init()
		} else {
			l.Save()
		}
	}
	empty := l.ballast(0)
	defer func() { empty() }()
	gc := func(o maintain.GCOptions) (got *maintain.Collected, err error) {
		l.Do(func(ctx context.Context, p *project.Project) error {
			got, err = maintain.GC(ctx, p, o)
			return nil
		})
		return got, err
	}
	dry, err := gc(maintain.GCOptions{Keep: 1, DryRun: true})
	var lacks *maintain.GCSpaceError
	if _, full := gc(maintain.GCOptions{Keep: 1}); err != nil || !errors.As(full, &lacks) || dry.Room != lacks.Need || len(l.Newest(10)) != 3 {
		t.Fatalf("%+v %v, gc: %v", dry, err, full)
	}
	empty()
	empty = l.ballast(lacks.Need + 8<<10)
	if got, err := gc(maintain.GCOptions{Keep: 1}); err != nil || got.Freed < 9<<20 {
		t.Fatalf("with what it asks for: %+v %v", got, err)
	}
	l.Verify()
}

// TestDryRunPromisesNoMore: what gc says that it would free is what it frees then, small as it is.
func TestDryRunPromisesNoMore(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	for i := range 5 {
		l.Write("a", fmt.Sprint(i, "two"))
		l.Save()
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		for _, o := range []maintain.GCOptions{{}, {Keep: 2}} {
			o.DryRun = true
			dry, err := maintain.GC(ctx, p, o)
			if err != nil {
				return err
			}
			o.DryRun = false
			got, err := maintain.GC(ctx, p, o)
			if err != nil {
				return err
			}
			if dry.Freed > got.Freed {
				t.Errorf("gc %+v frees %d bytes, and promised %d", o, got.Freed, dry.Freed)
			}
		}
		return nil
	})
}

// TestForgetOnAFullDisk: a forget for which the disk had no room was none. A gc that has no room either is not taken for
// the rest of it.
func TestForgetOnAFullDisk(t *testing.T) {
	failed, stopped := 0, 0
	for _, room := range []int64{4 << 10, 8 << 10, 12 << 10, 16 << 10, 24 << 10} {
		l := newLabAt(t, scratchfs.Tmpfs(t, "6m"))
		l.noFloor()
		l.Write("pass.txt", testlab.Secret)
		data := make([]byte, 200_000)
		rand.NewChaCha8([32]byte{1}).Read(data)
		l.Write("noise", string(data))
		l.Init()
		l.Remove("noise")
		l.Save()
		l.Write("a.txt", "a")
		l.Save()
		pending := func() (pending bool) {
			l.Do(func(ctx context.Context, p *project.Project) error {
				at, err := maintain.PendingForget(ctx, p)
				pending = at != nil
				return err
			})
			return pending
		}
		empty := l.ballast(room)
		forgot := l.Try(func(ctx context.Context, p *project.Project) error {
			_, err := maintain.Forget(ctx, p, []string{"pass.txt"}, false)
			return err
		})
		if forgot == nil {
			empty()
			continue
		}
		failed++
		if pending() {
			t.Errorf("with room for %d bytes: a forget that failed is pending", room)
		}
		var got *maintain.Collected
		err := l.Try(func(ctx context.Context, p *project.Project) (err error) {
			got, err = maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
			return err
		})
		if err != nil || got.Unswept != nil {
			stopped++
		}
		if pending() {
			t.Errorf("with room for %d bytes: the gc (%v) is a forget that is pending", room, err)
		}
		empty()
		l.Save()
		l.Do(func(ctx context.Context, p *project.Project) error {
			if p.IsForgetting() {
				t.Errorf("with room for %d bytes: the note of the forget stays", room)
			}
			return nil
		})
		l.Verify()
	}
	if failed == 0 || stopped == 0 {
		t.Errorf("%d times the disk was too full to forget, and %d times to collect", failed, stopped)
	}
}
