package cli_test

import (
	"os"
	"strings"
	"syscall"
)

// inMemory lets the tests work in memory where there is room: they would wait for the disk most of
// their time. What a disk is needed for is tested in cas and engine, which stay on it.
func inMemory() {
	const memory, room = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	isTest := strings.HasSuffix(os.Args[0], ".test") // else this is the program, run by a test
	if isTest && os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room {
		os.Setenv("TMPDIR", memory)
	}
}
