package project

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A commit can save more checkpoints than what is read of the file's end holds: a part of a line, which begins with any digits
// of a time, is no line.
func TestLastReached(t *testing.T) {
	for _, saved := range []int{1, 120, 121, 150, 300, 10_000} {
		text := "\n7 ."
		text += fmt.Sprintf("\n%d", 7+saved)
		for i := range saved {
			text += fmt.Sprintf(" %016d:%d", i, time.Unix(1_700_000_000, 0).Unix())
		}
		for pad := range 30 {
			file := filepath.Join(t.TempDir(), ReachedName)
			if err := os.WriteFile(file, []byte(text+fmt.Sprintf(" %0*d .", pad, 0)), 0o600); err != nil {
				t.Fatal(err)
			}
			if seq, _ := lastReached(file); seq != uint64(7+saved) {
				t.Fatalf("%d checkpoints: reached %d", saved, seq)
			}
		}
	}
}
