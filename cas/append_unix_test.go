//go:build unix

package cas

import (
	"context"
	"syscall"
	"testing"
)

// A process that is being started has the open files of the one that starts it until it has closed them. A pack that is no
// longer added to can be locked all the same.
func TestAppendLockBesideAFork(t *testing.T) {
	s := testStore(t)
	save(t, s, "first", text(1, 100))
	a, err := s.Append(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copied, err := syscall.Dup(int(a.file.(lockedPack).File.(interface{ Fd() uintptr }).Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(copied)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	now, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if b, err := s.Append(now); err != nil {
		t.Error(err)
	} else if err := b.Close(); err != nil {
		t.Error(err)
	}
}
