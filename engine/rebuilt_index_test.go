package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// A store that came back from its mirror knows what it holds: the next save stores nothing again.
func TestRebuiltStoreKnowsWhatItHolds(t *testing.T) {
	l := newLab(t)
	random := rand.NewChaCha8([32]byte{7})
	for i := range 40 {
		content := make([]byte, 256<<10) // enough for a pack of its own
		random.Read(content)
		l.Write(fmt.Sprintf("f%d", i), string(bytes.Clone(content)))
	}
	l.Init()
	if err := os.RemoveAll(filepath.Join(l.Root, ".agent")); err != nil {
		t.Fatal(err)
	}
	if got := l.Save(); !got.Unchanged || got.Checkpoint.StoredBytes > 64<<10 {
		t.Errorf("unchanged %v, %d bytes stored again", got.Unchanged, got.Checkpoint.StoredBytes)
	}
}
