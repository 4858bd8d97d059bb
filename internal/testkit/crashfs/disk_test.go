//go:build unix

package crashfs

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// What is loaded and stored again is the same: content, links, modes.
func TestLoadStore(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	must(os.MkdirAll(file("d/deep"), 0o755))
	must(os.WriteFile(file("d/a"), []byte("a"), 0o640))
	must(os.Link(file("d/a"), file("b")))
	must(os.Symlink("d", file("l")))
	must(os.Chmod(file("d"), 0o550))
	disk := New()
	must(disk.Load(dir))
	must(os.Chmod(file("d"), 0o750)) // to be emptied
	must(os.WriteFile(file("more"), nil, 0o600))
	must(disk.Store(dir))
	again := New()
	must(again.Load(dir))
	if got, want := again.Content(dir), map[string]string{"d/a": "a", "b": "a", "l": "-> d"}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a, b := again.names[file("d/a")], again.names[file("b")]
	if a != b || a.mode.Perm() != 0o640 || again.names[file("d")].mode.Perm() != 0o550 || !again.isDir(file("d/deep")) {
		t.Errorf("a %+v, b %+v, d %v", a, b, again.names[file("d")].mode)
	}
	must(os.Chmod(file("d"), 0o750)) // for the cleanup

	disk.Exchange(file("d"), file("b"))
	if got, want := disk.Content(dir), map[string]string{"b/a": "a", "d": "a", "l": "-> d"}; !maps.Equal(got, want) {
		t.Errorf("exchanged: %q, want %q", got, want)
	}
	if got := disk.Crash(nil).Content(dir); got["d/a"] != "a" {
		t.Errorf("an exchange that was not synced is durable: %q", got)
	}
}
