package account

import (
	"os"
	"strings"
	"testing"
)

// TestOldRegistryLine: lines without a time of birth are read, and prove what they can.
func TestOldRegistryLine(t *testing.T) {
	env, root := Env{Home: t.TempDir()}, t.TempDir()
	id, _, err := Identity(root)
	if err != nil {
		t.Fatal(err)
	}
	if id.Birth == 0 {
		t.Skip("NOT TESTED HERE: this file system knows no time of birth")
	}
	k := KnownStore{ID: StoreID{1}, Mode: ProjectMode, Root: root, DirID: id}
	// A store's mirror is younger than its project, and older than what took the inode later.
	if err := os.MkdirAll(MirrorDir(env, k.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	old := k
	old.Birth = 0
	if again, ok := parseKnown(strings.TrimSpace(old.line())); !ok || again != old {
		t.Fatalf("%q is read as %+v", old.line(), again)
	}
	if !old.IsOf(env, root, k.DirID) {
		t.Error("an old line is not of its directory")
	}
	for what, now := range map[string]DirID{
		"another inode":                      {Device: k.Device, Inode: k.Inode + 1, Birth: k.Birth},
		"another device":                     {Device: k.Device + 1, Inode: k.Inode, Birth: k.Birth},
		"an inode used again after the init": {Device: k.Device, Inode: k.Inode, Birth: k.Birth + 1e15},
	} {
		if old.IsOf(env, root, now) {
			t.Errorf("an old line is of a directory with %s", what)
		}
	}
	for what, now := range map[string]DirID{
		"another device, as after a boot":    {Device: k.Device + 1, Inode: k.Inode, Birth: k.Birth},
		"no birth, as under an older kernel": {Device: k.Device, Inode: k.Inode, Birth: 0},
	} {
		if !k.IsOf(env, root, now) {
			t.Errorf("a line is not of its directory with %s", what)
		}
	}
	if k.IsOf(env, root, DirID{Device: k.Device, Inode: k.Inode, Birth: k.Birth + 1}) {
		t.Error("a line is of a directory that has its inode, and another birth")
	}
}
