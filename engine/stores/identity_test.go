package stores_test

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
	l.Write("a", "x")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	is := func(want account.State) {
		t.Helper()
		if all := l.KnownStores(); len(all) != 1 || all[0].State(l.Env) != want {
			t.Errorf("the registry has %+v; want one that is %s", all, want)
		}
	}
	is(account.Live)
	store := filepath.Join(l.Root, ".agent")
	if err := os.Rename(store, l.Root+"-aside"); err != nil {
		t.Fatal(err)
	}
	is(account.Lost)
	if err := os.Rename(l.Root, l.Root+"-moved"); err != nil {
		t.Fatal(err)
	}
	is(account.Gone)
	if err := os.Mkdir(l.Root, 0o755); err != nil {
		t.Fatal(err)
	}
	is(account.Replaced)
}
