package account

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A project is gone only where its path is the place that it had: not where a disk is not mounted, nor in a container that has
// other directories there.
func TestGoneIsNotOutOfReach(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories have no identity")
	}
	env := Env{Home: t.TempDir()}
	parent := filepath.Join(t.TempDir(), "parent")
	root := filepath.Join(parent, "project")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	id, _, err := Identity(root)
	if err != nil {
		t.Fatal(err)
	}
	around, _, err := Identity(parent)
	if err != nil {
		t.Fatal(err)
	}
	state := func(want State, change func(*KnownStore)) {
		t.Helper()
		k := KnownStore{DirID: id, Mode: GlobalMode, Root: root, Parent: around.Inode, FileSystem: fileSystemID(filepath.Dir(parent))}
		change(&k)
		if line, ok := parseKnown(k.line()[:len(k.line())-1]); !ok || line != k {
			t.Errorf("line %q is %+v", k.line(), line)
		}
		if got := k.State(env); got != want {
			t.Errorf("%s, want %s: %+v", got, want, k)
		}
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	state(Gone, func(*KnownStore) {})
	state(Gone, func(k *KnownStore) { k.Parent = 0 })
	state(Gone, func(k *KnownStore) { k.Mode = ProjectMode })
	state(Unreachable, func(k *KnownStore) { k.Device++ })
	state(Unreachable, func(k *KnownStore) { k.Mode = ProjectMode; k.Device++ })
	state(Unreachable, func(k *KnownStore) { k.Parent++ })
	state(Unreachable, func(k *KnownStore) { k.FileSystem++ })
	state(Gone, func(k *KnownStore) { k.FileSystem = 0 })
	if err := os.Remove(parent); err != nil {
		t.Fatal(err)
	}
	state(Unreachable, func(*KnownStore) {})
	state(Gone, func(k *KnownStore) { k.Mode = ProjectMode })
	state(Unreachable, func(k *KnownStore) { k.Mode = ProjectMode; k.Device++ })
}
