package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/scratchfs"
	"github.com/rewind-cli/rewind/engine/settings"
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
			l.write(fmt.Sprintf("dir%d/noise", i), string(data))
		}
	}
	noise(1)
	l.write(".gitignore", "*.ignored\n")
	l.write("mine.ignored", "in no checkpoint")
	l.write("small", "1")
	l.noFloor()
	first := l.init().Checkpoint
	l.do(func(ctx context.Context, p *project.Project) error { return Pin(ctx, p, first, true) })
	start := l.read()
	full := func(err error) bool {
		var floor *project.DiskFullError
		return errors.Is(err, syscall.ENOSPC) || errors.As(err, &floor)
	}
	failures := map[string]int{}
	tag := byte(2)
	for _, room := range []int64{0, 40 << 10, 400 << 10, 1000 << 10, 1500 << 10, 3 << 20} {
		noise(tag)
		l.write("small", fmt.Sprint(tag))
		tag++
		now := l.read()
		for _, what := range []string{"restore", "save"} {
			empty := l.ballast(room)
			err := l.try(func(ctx context.Context, p *project.Project) (err error) {
				if what == "save" {
					_, err = Save(ctx, p, checkpoint.Options{})
				} else {
					_, err = Restore(ctx, p, RestoreOptions{Checkpoint: first})
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
				l.is(now, fmt.Sprintf("after a %s with room for %d bytes (%v)", what, room, err))
			}
			l.verify() // on the full disk, too
			empty()
			if err == nil && what == "restore" {
				l.do(func(ctx context.Context, p *project.Project) error {
					_, err := UndoRestore(ctx, p, RestoreOptions{})
					return err
				})
				l.is(now, "after undo-restore")
			}
			l.do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			})
			l.verify()
		}
	}
	if failures["save"] < 3 || failures["restore"] < 3 || failures["save"] > 5 || failures["restore"] > 5 {
		t.Errorf("the disk was full too seldom, or always: %v", failures)
	}
	t.Logf("the disk was full in the middle: %v", failures)
	l.do(func(ctx context.Context, p *project.Project) error {
		_, err := Restore(ctx, p, RestoreOptions{Checkpoint: first})
		return err
	})
	l.is(start, "at the end")
}

// noFloor lets rewind use a disk up.
func (l *lab) noFloor() {
	l.t.Helper()
	account := filepath.Join(l.home, ".rewind")
	if err := os.Mkdir(account, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := settings.Set(filepath.Join(account, "config.json"), "minFreeDisk", "0"); err != nil {
		l.t.Fatal(err)
	}
}

// ballast fills the disk but for so many bytes, until the function that it returns is called.
func (l *lab) ballast(room int64) (empty func()) {
	l.t.Helper()
	file := filepath.Join(filepath.Dir(l.root), "ballast")
	var st syscall.Statfs_t
	if err := syscall.Statfs(l.root, &st); err != nil {
		l.t.Fatal(err)
	}
	size := int64(st.Bavail)*st.Bsize - room
	f, err := os.Create(file)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if size > 0 {
		if err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err != nil {
			l.t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(file); err != nil {
			l.t.Fatal(err)
		}
	}
}
