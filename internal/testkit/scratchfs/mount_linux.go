package scratchfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Tmpfs mounts a tmpfs of so many bytes until the test ends.
func Tmpfs(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = place(t)
	if err := unix.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("NOT TESTED HERE: a tmpfs cannot be mounted (it takes root): %v", err)
	}
	t.Cleanup(func() { Unmount(t, dir) })
	return dir
}

// Image makes a file system in a file of so many bytes with a mkfs command, to
// which the file's name is added.
func Image(t testing.TB, file string, size int64, mkfs ...string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if out, err := exec.Command(mkfs[0], append(mkfs[1:], file)...).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED HERE: %v: %v: %s", mkfs, err, out)
	}
}

// Mount mounts an image by a loop device. The caller unmounts it.
func Mount(t testing.TB, image, dir string, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED HERE: a loop device takes root")
	}
	out, err := exec.Command("mount", "-o", "loop,"+options, image, dir).CombinedOutput()
	if err != nil {
		t.Skipf("NOT TESTED HERE: no loop device can be mounted: %v: %s", err, out)
	}
}

// Mounted makes a file system and mounts it until the test ends.
func Mounted(t testing.TB, size int64, options string, mkfs ...string) (dir string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	Image(t, image, size, mkfs...)
	dir = place(t)
	Mount(t, image, dir, options)
	t.Cleanup(func() { Unmount(t, dir) })
	return dir
}

// Unmount fails the test if the file system is still in use. The kernel lets go of a file
// shortly after its last descriptor was closed, later on a busy machine: that is waited for. A
// descriptor that somebody left open stays.
func Unmount(t testing.TB, dir string) {
	t.Helper()
	err := unix.Unmount(dir, 0)
	for end := time.Now().Add(3 * time.Second); err == unix.EBUSY && time.Now().Before(end); err = unix.Unmount(dir, 0) {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("unmount %s: %v; open in this process: %q", dir, err, openBelow(dir))
		_ = unix.Unmount(dir, unix.MNT_DETACH) // else the directory cannot be removed
	}
}

// openBelow names the files below a directory that this process has open.
func openBelow(dir string) (files []string) {
	links, _ := filepath.Glob("/proc/self/fd/*") // none: it is a help to the reader
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && strings.HasPrefix(file, dir) {
			files = append(files, file)
		}
	}
	return files
}

// place is a directory of the test, without links in its path.
func place(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Overlay mounts an overlay over two file systems until the test ends: what fill put into the
// lower directory is on that of the temporary directory, what is written goes to a
// tmpfs. So the root of a container can be, and so its files have other device numbers than its directories.
func Overlay(t testing.TB, fill func(lower string)) (dir string) {
	t.Helper()
	upper, lower := Tmpfs(t, "64m"), place(t)
	fill(lower)
	for _, name := range []string{"upper", "work"} {
		if err := os.Mkdir(filepath.Join(upper, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir = place(t)
	options := "lowerdir=" + lower + ",upperdir=" + upper + "/upper,workdir=" + upper + "/work"
	if err := unix.Mount("overlay", dir, "overlay", 0, options); err != nil {
		t.Skipf("NOT TESTED HERE: an overlay cannot be mounted: %v", err)
	}
	t.Cleanup(func() { Unmount(t, dir) })
	return dir
}
