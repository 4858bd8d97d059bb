package stores_test

import (
	"errors"
	"os"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// TestOpenBesideADeinit: a command that opens a store while deinit removes it finds it whole, going or gone, and never damaged.
func TestOpenBesideADeinit(t *testing.T) {
	for range 30 {
		l := testlab.New(t)
		l.Write("a", "0")
		p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
		l.Ok(err)
		l.Ok(p.Close())
		opened := make(chan error)
		go func() {
			for {
				p, err := project.Open(t.Context(), l.Options())
				if err != nil {
					opened <- err
					return
				}
				_ = p.Close()
			}
		}()
		r, err := stores.PlanDeinit(t.Context(), l.Options())
		l.Ok(err)
		l.Ok(r.Apply(t.Context(), 0))
		var damaged *account.DamagedStoreError
		if err := <-opened; errors.As(err, &damaged) {
			t.Fatal(err)
		}
	}
}

// TestSaveBesideADeinit: a save that has opened a store which is then removed ends as where there is none, also one that waited for a
// lock of the store meanwhile.
func TestSaveBesideADeinit(t *testing.T) {
	l := testlab.New(t)
	l.Write("a", "0")
	made, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
	l.Ok(err)
	l.Ok(made.Close())
	gone := func(p *project.Project, err error, when string) {
		t.Helper()
		var missing *project.NotInitializedError
		if !errors.As(err, &missing) || missing.Root != p.Root() {
			t.Errorf("%s: %v", when, err)
		}
		if account.Exists(p.StoreDir()) {
			t.Error(when + ": a part of the store was made again")
		}
	}

	waits := make(chan struct{})
	o := l.Options()
	o.Waiting = func(int) { close(waits) }
	waiting, err := project.Open(t.Context(), o)
	l.Ok(err)
	defer waiting.Close()
	holds := l.Open()
	defer holds.Close()
	tree, err := holds.Lock(t.Context(), account.TreeLockName)
	l.Ok(err)
	saved := make(chan error)
	go func() {
		_, err := save.Save(t.Context(), waiting, checkpoint.Options{})
		saved <- err
	}()
	<-waits
	l.Ok(os.Rename(waiting.StoreDir(), waiting.StoreDir()+".away"))
	tree.Release()
	gone(waiting, <-saved, "one that waited")
	l.Ok(os.Rename(waiting.StoreDir()+".away", waiting.StoreDir()))

	opened := l.Open()
	defer opened.Close()
	r, err := stores.PlanDeinit(t.Context(), l.Options())
	l.Ok(err)
	l.Ok(r.Apply(t.Context(), 0))
	_, err = save.Save(t.Context(), opened, checkpoint.Options{})
	gone(opened, err, "one that has opened it")
	_, err = opened.Lock(t.Context(), account.TreeLockName)
	gone(opened, err, "a lock")
	_, err = opened.Use(t.Context())
	gone(opened, err, "a reader")
}
