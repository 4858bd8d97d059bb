package maintain_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
)

// What killed processes left in the store and in the account's directory goes with a sweep; what is new may be in use.
func TestSweepRemovesWhatTheKilledLeft(t *testing.T) {
	l := newLab(t)
	l.Write("a", "a")
	l.Init()
	l.Do(func(ctx context.Context, p *project.Project) error {
		there := map[string]bool{}
		for _, dir := range []string{p.StoreDir(), filepath.Join(p.StoreDir(), account.TmpName), l.Env.AccountDir()} {
			for name, old := range map[string]bool{".tmp-1": true, ".rewind-2.tmp": true, ".tmp-3": false, "tmp-4": true} {
				file := filepath.Join(dir, name)
				if err := os.WriteFile(file, []byte("half"), 0o600); err != nil {
					t.Fatal(err)
				}
				if old {
					then := p.Env.Time().Add(-2 * time.Hour)
					if err := os.Chtimes(file, then, then); err != nil {
						t.Fatal(err)
					}
				}
				there[file] = !old || name[0] != '.'
			}
		}
		if _, err := maintain.GC(ctx, p, maintain.GCOptions{}); err != nil {
			return err
		}
		for file, want := range there {
			if account.Exists(file) != want {
				t.Errorf("%s is there: %v", file, !want)
			}
		}
		return nil
	})
}
