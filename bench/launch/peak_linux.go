package main

import (
	"os"
	"syscall"
)

// peak is the most memory that was resident at once, in bytes.
func peak(state *os.ProcessState) int64 {
	if r, ok := state.SysUsage().(*syscall.Rusage); ok {
		return r.Maxrss << 10
	}
	return 0
}
