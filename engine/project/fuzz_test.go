package project

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
)

// FuzzStoreFiles reads small files of a store, whatever they hold.
func FuzzStoreFiles(f *testing.F) {
	f.Add(account.NewFormat(account.StoreID{1}, account.StoreID{2}, account.KnownStore{Root: "/a"}).Bytes())
	f.Add(problem.Encode([]problem.Problem{problem.New("a\xff", problem.Torn, true), problem.Read("b", "fifo", false)}))
	f.Add([]byte(`{"error":{"time":"2026-01-01T00:00:00Z","reason":"x"},"ended":{}}`))
	store := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{account.FormatName, HookStateName} {
			if err := os.WriteFile(filepath.Join(store, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := account.ReadFormat(store); err == nil {
			if err := os.WriteFile(filepath.Join(store, account.FormatName), got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			if again, err := account.ReadFormat(store); err != nil || again != got {
				t.Fatalf("%+v is written and read as %+v: %v", got, again, err)
			}
		}
		ReadHookState(store)
		if problems, err := problem.Decode(data); err == nil {
			text := problem.Encode(problems)
			again, err := problem.Decode(text)
			if err != nil || !bytes.Equal(problem.Encode(again), text) {
				t.Fatalf("%q is written as %q: %v", data, text, err)
			}
		}
	})
}
