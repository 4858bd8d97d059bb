package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCreatedFilesHaveTheModeAskedFor(t *testing.T) {
	defer narrowUmask()()
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := OS.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "f")
	f, err := OS.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for name, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(dir): 0o700, file: 0o600} {
		info, err := OS.Lstat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if err := OS.MkdirAll(dir, 0o700); err != nil {
		t.Error("a directory that is there:", err)
	}
	if err := OS.MkdirAll(file, 0o700); !errors.Is(err, fs.ErrExist) {
		t.Error("a file in its place:", err)
	}
	if _, err := OS.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

func TestMap(t *testing.T) {
	dir := t.TempDir()
	for _, m := range []struct {
		name string
		open func(string) ([]byte, func() error, error)
	}{{"map", OS.Map}, {"read", readFile}} {
		for _, content := range []string{"", "x", "some bytes"} {
			file := filepath.Join(dir, m.name+content)
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			data, release, err := m.open(file)
			if err != nil || string(data) != content {
				t.Fatalf("%s: %q %v", m.name, data, err)
			}
			// The old bytes stay when the file is replaced.
			other := file + "new"
			os.WriteFile(other, []byte("other"), 0o600)
			if err := OS.Rename(other, file); err != nil {
				t.Fatal(err)
			}
			if string(data) != content {
				t.Errorf("%s: %q after the file was replaced", m.name, data)
			}
			if err := errors.Join(release(), release()); err != nil {
				t.Error(err)
			}
		}
		if _, _, err := m.open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}
