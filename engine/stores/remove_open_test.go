package stores_test

import (
	"errors"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
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
