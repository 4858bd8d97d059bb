package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewind/engine/account"
	"rewind/engine/stores"
)

// TestOldRegistryLine: lines without a time of birth are read, and prove what they can.
func TestOldRegistryLine(t *testing.T) {
	l := newLab(t)
	l.write("a", "x")
	l.init()
	k := l.known()[0]
	if k.Birth == 0 {
		t.Skip("NOT TESTED HERE: this file system knows no time of birth")
	}
	old := k
	old.Birth = 0
	if again, ok := account.ParseKnown(strings.TrimSpace(old.Line())); !ok || again != old {
		t.Fatalf("%q is read as %+v", old.Line(), again)
	}
	if !old.IsOf(l.env, l.root, k.DirID) {
		t.Error("an old line is not of its directory")
	}
	for what, now := range map[string]account.DirID{
		"another inode":                      {Device: k.Device, Inode: k.Inode + 1, Birth: k.Birth},
		"another device":                     {Device: k.Device + 1, Inode: k.Inode, Birth: k.Birth},
		"an inode used again after the init": {Device: k.Device, Inode: k.Inode, Birth: k.Birth + 1e15},
	} {
		if old.IsOf(l.env, l.root, now) {
			t.Errorf("an old line is of a directory with %s", what)
		}
	}
	for what, now := range map[string]account.DirID{
		"another device, as after a boot":    {Device: k.Device + 1, Inode: k.Inode, Birth: k.Birth},
		"no birth, as under an older kernel": {Device: k.Device, Inode: k.Inode, Birth: 0},
	} {
		if !k.IsOf(l.env, l.root, now) {
			t.Errorf("a line is not of its directory with %s", what)
		}
	}
	if k.IsOf(l.env, l.root, account.DirID{Device: k.Device, Inode: k.Inode, Birth: k.Birth + 1}) {
		t.Error("a line is of a directory that has its inode, and another birth")
	}
}

func TestRegisteredStores(t *testing.T) {
	l := newLab(t)
	l.write("a", "x")
	p, _, _, err := Init(t.Context(), stores.InitOptions{OpenOptions: l.options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	is := func(want account.State) {
		t.Helper()
		if all := l.known(); len(all) != 1 || all[0].State(l.env) != want {
			t.Errorf("the registry has %+v; want one that is %s", all, want)
		}
	}
	is(account.Live)
	store := filepath.Join(l.root, ".agent")
	if err := os.Rename(store, l.root+"-aside"); err != nil {
		t.Fatal(err)
	}
	is(account.Lost)
	if err := os.Rename(l.root, l.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	is(account.Gone)
	if err := os.Mkdir(l.root, 0o755); err != nil {
		t.Fatal(err)
	}
	is(account.Replaced)
}

func (l *lab) known() []account.KnownStore {
	l.t.Helper()
	all, err := account.KnownStores(l.env)
	if err != nil || len(all) == 0 {
		l.t.Fatalf("the registry has %v, %v", all, err)
	}
	return all
}
