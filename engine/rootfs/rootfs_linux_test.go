package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"

	"golang.org/x/sys/unix"
)

var implementations = map[string]func(string) (FS, error){
	"openat2":  Open,
	"walk":     func(dir string) (FS, error) { return openLinux(dir, true) },
	"portable": OpenPortable,
}

func mkfifo(t *testing.T, file string) {
	t.Helper()
	must(t, unix.Mkfifo(file, 0o644))
}

// File systems without RENAME_EXCHANGE and RENAME_NOREPLACE get the same by links.
func TestRenamesByLink(t *testing.T) {
	root := t.TempDir()
	f, err := openLinux(root, false)
	must(t, err)
	defer f.Close()
	d := f.root
	make := func(name, kind string) {
		file := filepath.Join(root, name)
		must(t, os.RemoveAll(file))
		switch kind {
		case "file":
			must(t, os.WriteFile(file, []byte(name), 0o644))
		case "dir":
			must(t, os.MkdirAll(filepath.Join(file, "in-"+name), 0o755))
		case "link":
			must(t, os.Symlink("to-"+name, file))
		}
	}
	inode := func(name string) uint64 {
		i, err := d.lstat(name)
		if err != nil {
			return 0
		}
		return i.Ino
	}
	kinds := []string{"file", "dir", "link"}
	for _, ka := range kinds {
		for _, kb := range kinds {
			make("a", ka)
			make("b", kb)
			ia, ib := inode("a"), inode("b")
			if err := d.exchangeByLink("a", "b"); err != nil {
				t.Errorf("%s and %s: %v", ka, kb, err)
			}
			if inode("a") != ib || inode("b") != ia || inode(Aside("a")) != 0 {
				t.Errorf("%s and %s are not exchanged", ka, kb)
			}
			if err := d.renameByLink("a", "b"); !errors.Is(err, unix.EEXIST) {
				t.Errorf("%s over %s: %v", ka, kb, err)
			}
			if inode("a") != ib || inode("b") != ia {
				t.Errorf("a refused rename of %s to %s changed something", ka, kb)
			}
		}
		make("a", ka)
		make("b", "none")
		ia := inode("a")
		if err := d.renameByLink("a", "b"); err != nil || inode("b") != ia || inode("a") != 0 {
			t.Errorf("%s was not renamed: %v", ka, err)
		}
	}
}

func TestAttributesAreCarried(t *testing.T) {
	each(t, func(t *testing.T, root string, open func() FS) {
		file := filepath.Join(root, "old")
		must(t, os.WriteFile(file, nil, 0o640))
		if err := unix.Setxattr(file, "user.origin", []byte("here\x00there"), 0); err != nil {
			t.Skipf("no extended attributes on this file system: %v", err)
		}
		d := openDir(t, open(), "")
		old, _, err := d.OpenFile("old")
		must(t, err)
		defer old.Close()
		attrs, err := ReadAttrs(old)
		must(t, err)
		if string(attrs["user.origin"]) != "here\x00there" {
			t.Fatalf("attributes %q", attrs)
		}
		made, err := d.Create("new")
		must(t, err)
		must(t, made.SetAttrs(attrs))
		must(t, made.Close())
		buf := make([]byte, 64)
		n, err := unix.Getxattr(filepath.Join(root, "new"), "user.origin", buf)
		if err != nil || string(buf[:n]) != "here\x00there" {
			t.Errorf("the new file has %q, %v", buf[:max(n, 0)], err)
		}
	})
}

// What is mounted below the root is not the project's: another file system, a directory of the same
// one, a file of either.
func TestMountsAreNotCrossed(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"mnt", "bound", "plain"} {
		must(t, os.Mkdir(filepath.Join(root, name), 0o755))
	}
	for _, file := range []string{root + "/file", root + "/near", root + "/far", root + "/plain/file", other + "/outside"} {
		must(t, os.WriteFile(file, []byte("x"), 0o644))
	}
	tmpfs := scratchfs.Tmpfs(t, "64k")
	must(t, os.WriteFile(tmpfs+"/outside", []byte("x"), 0o644))
	must(t, os.Mkdir(tmpfs+"/sub", 0o755))
	for at, from := range map[string]string{"mnt": tmpfs, "bound": other, "near": other + "/outside", "far": tmpfs + "/outside"} {
		must(t, unix.Mount(from, filepath.Join(root, at), "", unix.MS_BIND, ""))
		defer unix.Unmount(filepath.Join(root, at), unix.MNT_DETACH)
	}
	for name, open := range implementations {
		f, err := open(root)
		must(t, err)
		for _, path := range []string{"mnt", "mnt/sub", "bound"} {
			if d, err := f.OpenDir(path); !errors.Is(err, ErrMount) {
				t.Errorf("%s: %s: %v, want ErrMount", name, path, err)
				if err == nil {
					d.Close()
				}
			}
		}
		d := openDir(t, f, "")
		for file, want := range map[string]error{"file": nil, "near": ErrMount, "far": ErrMount} {
			opened, _, err := d.OpenFile(file)
			if err == nil {
				opened.Close()
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: opening %s: %v, want %v", name, file, err, want)
			}
			if err := d.Chmod(file, 0o600); !errors.Is(err, want) {
				t.Errorf("%s: the mode of %s: %v, want %v", name, file, err, want)
			}
		}
		for _, at := range []string{"mnt", "bound", "near", "far", "file", "plain"} {
			if want := at != "file" && at != "plain"; d.Mounted(at) != want {
				t.Errorf("%s: Mounted(%s) is not %v", name, at, want)
			}
		}
		f.Close()
	}
	for _, file := range []string{other + "/outside", tmpfs + "/outside"} {
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o644 {
			t.Errorf("%s has another mode: %v, %v", file, info.Mode(), err)
		}
	}
}

// An overlay over two file systems is one mount, whatever devices its files have.
func TestOverlay(t *testing.T) {
	for name, open := range implementations {
		t.Run(name, func(t *testing.T) {
			dir := scratchfs.Overlay(t, func(lower string) {
				must(t, os.MkdirAll(filepath.Join(lower, "root/sub"), 0o755))
				must(t, os.WriteFile(filepath.Join(lower, "root/sub/lower"), []byte("x"), 0o644))
			})
			root := filepath.Join(dir, "root")
			must(t, os.WriteFile(filepath.Join(root, "sub/upper"), []byte("x"), 0o644))
			f, err := open(root)
			must(t, err)
			defer f.Close()
			d, err := f.OpenDir("sub")
			must(t, err)
			defer d.Close()
			above, err := d.Stat()
			must(t, err)
			for _, file := range []string{"lower", "upper"} {
				opened, info, err := d.OpenFile(file)
				if err != nil {
					t.Fatalf("opening %s: %v", file, err)
				}
				opened.Close()
				if info.Dev == above.Dev {
					t.Skip("NOT TESTED HERE: this overlay gives files the device of their directory")
				}
				if d.Mounted(file) {
					t.Errorf("%s is said to be a mount", file)
				}
				must(t, d.Chmod(file, 0o600))
				must(t, d.Rename(file, "renamed"))
				made, err := d.Create("made")
				must(t, err)
				must(t, made.Close())
				must(t, d.Exchange("made", "renamed"))
				must(t, d.Unlink("made"))
				must(t, d.Unlink("renamed"))
			}
		})
	}
}

func TestMountFromProc(t *testing.T) {
	dir := t.TempDir()
	fd, err := unix.Open(dir, unix.O_PATH, 0)
	must(t, err)
	defer unix.Close(fd)
	want, ok := mountAt(fd, "")
	if got, known := mountFromProc(fd); !ok || !known || got != want {
		t.Errorf("mount %d %v by /proc, %d %v by statx", got, known, want, ok)
	}
}
