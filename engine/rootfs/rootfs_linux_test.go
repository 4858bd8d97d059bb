package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

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

// Another file system below the root is none of the project's.
func TestMountsAreNotCrossed(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"mnt", "plain"} {
		must(t, os.Mkdir(filepath.Join(root, name), 0o755))
	}
	if err := unix.Mount("none", filepath.Join(root, "mnt"), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount here: %v", err)
	}
	defer unix.Unmount(filepath.Join(root, "mnt"), unix.MNT_DETACH)
	must(t, os.Mkdir(filepath.Join(root, "mnt/sub"), 0o755))
	for name, open := range implementations {
		f, err := open(root)
		must(t, err)
		for _, path := range []string{"mnt", "mnt/sub"} {
			if d, err := f.OpenDir(path); !errors.Is(err, ErrMount) {
				t.Errorf("%s: %s: %v, want ErrMount", name, path, err)
				if err == nil {
					d.Close()
				}
			}
		}
		f.Close()
	}
}
