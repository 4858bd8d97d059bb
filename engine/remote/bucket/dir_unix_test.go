//go:build unix

package bucket_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

func TestPipeInTheDirectory(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, bucket.Options{})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(t.Context(), "pipe", 1); err == nil {
		t.Errorf("%q", got)
	}
	if got := names(t, b, ""); got != "" {
		t.Errorf("it lists %s", got)
	}
}
