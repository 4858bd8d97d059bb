package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestWalkSeesEveryName(t *testing.T) {
	root := t.TempDir()
	want := int64(0)
	for d := range 30 {
		dir := filepath.Join(root, fmt.Sprintf("d%d", d%5), fmt.Sprintf("e%d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range 40 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want += 41
	}
	want += 5
	if err := os.Symlink(root, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	want++
	for _, workers := range []int{1, 2, 7} {
		if got := walk(root, workers); got != want {
			t.Errorf("%d workers see %d names, not %d", workers, got, want)
		}
	}
}
