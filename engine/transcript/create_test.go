package transcript

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// What a process left that was killed before it published goes with the next file there; what one has that lives, stays.
func TestStageRemovesWhatTheDeadLeft(t *testing.T) {
	dir := t.TempDir()
	const noProcess = 1<<31 - 1
	left, used, other := fmt.Sprintf(".rewind-%d-1.tmp", noProcess), fmt.Sprintf(".rewind-%d-1.tmp", os.Getpid()), ".rewind-x.tmp"
	for _, name := range []string{left, used, other} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Stage(filepath.Join(dir, "new.jsonl"), false, nil, func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{left: false, used: true, other: true, "new.jsonl": true, filepath.Base(s.Temp): false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}
