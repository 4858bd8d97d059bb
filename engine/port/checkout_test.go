package port_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
)

// TestCheckout: the directory has what the checkpoint has, whatever it is called, and what tar
// unpacks of an export; files of the working tree that changed since come from the store.
func TestCheckout(t *testing.T) {
	l := newLab(t)
	l.nasty()
	l.Write("large", strings.Repeat("0123456789abcdef", 200_000))
	l.Write("ro/file", "in a directory without write permission\n")
	if err := os.Chmod(filepath.Join(l.Root, "ro"), 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(l.Root, "ro"), 0o755)
	time.Sleep(30 * time.Millisecond) // older than the grain of the clock: the files can be shared
	saved := l.Init()
	want := l.Read()
	l.Write("plain", "edited since\n")
	l.Write("dir/plain", "plaix") // the same size
	l.Remove("large")

	dir := filepath.Join(filepath.Dir(l.Root), "out")
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := port.Checkout(ctx, p, port.CheckoutOptions{Checkpoint: saved.Checkpoint, Dir: dir})
		if err == nil && (len(done.Problems) > 0 || done.Files != int64(saved.Checkpoint.Files)) {
			t.Errorf("%+v", done)
		}
		return err
	})
	defer os.Chmod(filepath.Join(dir, "ro"), 0o755)
	if d := want.Diff(l.ReadAt(dir)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(filepath.Join(dir, "plain")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	tar, err := exec.LookPath("tar")
	if err != nil {
		return
	}
	unpacked := filepath.Join(filepath.Dir(l.Root), "tar")
	if err := os.Mkdir(unpacked, 0o755); err != nil {
		t.Fatal(err)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		cmd := exec.Command(tar, "x", "-p", "-C", unpacked)
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		err = port.Export(ctx, p, in, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: "tar", WithPrecious: true})
		in.Close()
		return errors.Join(err, cmd.Wait())
	})
	defer os.Chmod(filepath.Join(unpacked, "ro"), 0o755)
	if d := l.ReadAt(unpacked).Diff(l.ReadAt(dir)); d != "" {
		t.Error("export and checkout differ: " + d)
	}
}

// A checkout that ends early says so, and the same one goes on.
func TestCheckoutInterrupted(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"a/1", "b/2", "c/3"} {
		l.Write(name, name)
	}
	saved := l.Init()
	want := l.Read()
	dir := filepath.Join(filepath.Dir(l.Root), "out")
	err := l.Try(func(ctx context.Context, p *project.Project) error {
		ctx, cancel := context.WithCancel(ctx)
		p.Progress = func(i project.ProgressInfo) {
			if i.Phase == "checkout" {
				cancel()
			}
		}
		_, err := port.Checkout(ctx, p, port.CheckoutOptions{Checkpoint: saved.Checkpoint, Dir: dir})
		return err
	})
	var part *port.UnfinishedError
	if !errors.As(err, &part) || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := port.Checkout(ctx, p, port.CheckoutOptions{Checkpoint: saved.Checkpoint, Dir: dir, Paths: []string{"a"}})
		if place := (*port.CheckoutDirError)(nil); !errors.As(err, &place) {
			t.Errorf("another one: %v", err)
		}
		_, err = port.Checkout(ctx, p, port.CheckoutOptions{Checkpoint: saved.Checkpoint, Dir: dir})
		return err
	})
	if d := want.Diff(l.ReadAt(dir)); d != "" {
		t.Error(d)
	}
}
