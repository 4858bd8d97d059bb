package problem

import (
	"context"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// A full quota is a full disk, and neither is a path's own failure.
func TestMachine(t *testing.T) {
	for err, want := range map[error][2]bool{
		syscall.ENOSPC:   {true, true},
		syscall.EDQUOT:   {true, true},
		syscall.ENFILE:   {false, true},
		context.Canceled: {false, true},
		syscall.EACCES:   {false, false},
		fs.ErrNotExist:   {false, false},
	} {
		wrapped := fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "f", Err: err})
		if got := [2]bool{NoSpace(wrapped), OfMachine(wrapped)}; got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
