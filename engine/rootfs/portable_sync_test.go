//go:build linux || darwin

package rootfs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// One Sync at the end makes all that was written durable, under whatever names it
// has by then; closing a file syncs nothing.
func TestPortableSync(t *testing.T) {
	base := t.TempDir()
	f, err := OpenPortable(base)
	must(t, err)
	defer f.Close()
	var synced []string
	f.(*portableFS).written.sync = func(file *os.File) error {
		info, err := file.Stat()
		must(t, err)
		if info.Mode().IsRegular() {
			content := make([]byte, info.Size())
			_, err := file.ReadAt(content, 0)
			must(t, err)
			synced = append(synced, string(content))
		}
		return nil
	}
	root := openDir(t, f, "")
	write := func(d Dir, name, content string, mode uint32) {
		t.Helper()
		file, err := d.Create(name)
		must(t, err)
		_, err = file.Write([]byte(content))
		must(t, err)
		must(t, file.Chmod(mode))
		must(t, file.Close())
	}
	must(t, root.Mkdir("d"))
	d := openDir(t, f, "d")
	write(root, "temp", "exchanged", 0o600)
	must(t, os.WriteFile(filepath.Join(base, "old"), []byte("old"), 0o600))
	must(t, root.Exchange("temp", "old"))
	must(t, root.Unlink("temp"))
	write(root, "renamed", "renamed", 0o400)
	must(t, root.Rename("renamed", "there"))
	write(root, "gone", "gone", 0o600)
	must(t, root.Unlink("gone"))
	write(d, "below", "below", 0o600)
	must(t, root.Rename("d", "e"))
	write(root, "unreadable", "unreadable", 0o200)
	if len(synced) > 0 {
		t.Errorf("before Sync: %q", synced)
	}
	must(t, f.Sync())
	slices.Sort(synced)
	if want := []string{"below", "exchanged", "renamed"}; !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q (the unreadable one when it was closed)", synced, want)
	}
	synced = nil
	must(t, f.Sync())
	if len(synced) > 0 {
		t.Errorf("again: %q", synced)
	}
}
