package app

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
)

func TestRootPath(t *testing.T) {
	base := t.TempDir()
	root := filepath.Join(base, "root")
	other := filepath.Join(base, "other")
	for _, d := range []string{filepath.Join(root, "sub", "deep"), other} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	alias := filepath.Join(base, "alias")
	if err := os.Symlink(root, alias); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(root, "sub")
	for _, c := range []struct{ dir, arg, want string }{
		{root, "a.txt", "a.txt"},
		{root, "./a.txt", "a.txt"},
		{root, ".", ""},
		{root, "sub/../a.txt", "a.txt"},
		{root, "..hidden", "..hidden"},
		{root, "*.go", "*.go"},
		{root, "a\nb", "a\nb"},
		{root, "bad\xff", "bad\xff"},
		{root, "sub/", "sub"},
		{sub, "x", "sub/x"},
		{sub, "../a.txt", "a.txt"},
		{sub, "..", ""},
		{sub, filepath.Join(root, "a.txt"), "a.txt"},
		{sub, filepath.Join(alias, "a.txt"), "a.txt"},
		{filepath.Join(alias, "sub"), "x", "sub/x"},
		{root, "out", "out"}, // the link itself
		{root, filepath.Join(root, "out"), "out"},
		{other, "a.txt", "a.txt"}, // from elsewhere: relative to the root
		{"", "a.txt", "a.txt"},
	} {
		got, err := RootPath(root, c.dir, c.arg)
		if err != nil || got != c.want {
			t.Errorf("%q in %q: %q, %v; want %q", c.arg, c.dir, got, err, c.want)
		}
	}
	for _, c := range []struct{ dir, arg string }{
		{root, ".."}, {root, "../other/x"}, {sub, "../../x"}, {root, "/etc/passwd"}, {root, base}, {other, "../x"}, {root, filepath.Join(other, "x")},
	} {
		got, err := RootPath(root, c.dir, c.arg)
		if !errors.As(err, new(*project.OutsideError)) {
			t.Errorf("%q in %q: %q, %v; want OutsideError", c.arg, c.dir, got, err)
		}
	}
	for _, arg := range []string{"", "a\x00b"} {
		if _, err := RootPath(root, root, arg); !errors.As(err, new(*UsageError)) {
			t.Errorf("%q: %v", arg, err)
		}
	}
}
