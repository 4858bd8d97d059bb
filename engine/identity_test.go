package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
)

func TestRegisteredStores(t *testing.T) {
	l := newLab(t)
	l.write("a", "x")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.options()})
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
