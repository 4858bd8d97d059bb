package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOldRegistryLine: lines without a time of birth are read, and prove what they can.
func TestOldRegistryLine(t *testing.T) {
	l := newLab(t)
	l.write("a", "x")
	l.init()
	k := l.known()[0]
	if k.birth == 0 {
		t.Skip("NOT TESTED HERE: this file system knows no time of birth")
	}
	old := k
	old.birth = 0
	if again, ok := parseKnown(strings.TrimSpace(old.line())); !ok || again != old {
		t.Fatalf("%q is read as %+v", old.line(), again)
	}
	if !old.isOf(l.env, l.root, k.dirID) {
		t.Error("an old line is not of its directory")
	}
	for what, now := range map[string]dirID{
		"another inode":                      {k.device, k.inode + 1, k.birth},
		"another device":                     {k.device + 1, k.inode, k.birth},
		"an inode used again after the init": {k.device, k.inode, k.birth + 1e15},
	} {
		if old.isOf(l.env, l.root, now) {
			t.Errorf("an old line is of a directory with %s", what)
		}
	}
	for what, now := range map[string]dirID{
		"another device, as after a boot":    {k.device + 1, k.inode, k.birth},
		"no birth, as under an older kernel": {k.device, k.inode, 0},
	} {
		if !k.isOf(l.env, l.root, now) {
			t.Errorf("a line is not of its directory with %s", what)
		}
	}
	if k.isOf(l.env, l.root, dirID{k.device, k.inode, k.birth + 1}) {
		t.Error("a line is of a directory that has its inode, and another birth")
	}
}

func TestRegisteredStores(t *testing.T) {
	l := newLab(t)
	l.write("a", "x")
	p, _, _, err := Init(t.Context(), InitOptions{OpenOptions: l.options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	is := func(want StoreState) {
		t.Helper()
		all, err := RegisteredStores(l.env)
		if err != nil || len(all) != 1 || all[0].State != want || (all[0].Store != "") != (want == StoreLive) {
			t.Errorf("the registry has %+v, %v; want one that is %s", all, err, want)
		}
	}
	is(StoreLive)
	store := filepath.Join(l.root, ".agent")
	if err := os.Rename(store, l.root+"-aside"); err != nil {
		t.Fatal(err)
	}
	is(StoreLost)
	if err := os.Rename(l.root, l.root+"-moved"); err != nil {
		t.Fatal(err)
	}
	is(StoreGone)
	if err := os.Mkdir(l.root, 0o755); err != nil {
		t.Fatal(err)
	}
	is(StoreReplaced)
}

func (l *lab) known() []knownStore {
	l.t.Helper()
	all, err := knownStores(l.env)
	if err != nil || len(all) == 0 {
		l.t.Fatalf("the registry has %v, %v", all, err)
	}
	return all
}
