package vfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LeftSuffix ends the name of a temporary file that tells who made it: a prefix, the number of the
// process, "-", and what the maker likes.
const LeftSuffix = ".tmp"

// RemoveLeft removes the temporary files in dir, with that prefix, of processes that are no more.
// What cannot be removed stays until the next call: nobody needs it.
func RemoveLeft(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // who writes there will be told
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		pid, rest, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		if ours && err == nil && n > 0 && strings.HasSuffix(rest, LeftSuffix) && !Alive(n) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
