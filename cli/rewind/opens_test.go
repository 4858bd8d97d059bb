package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opensBlindly are the places that open what can be no FIFO: directories, and files of the kernel.
var opensBlindly = map[string]int{
	"cas/vfs/syncdir_unix.go":             1,
	"engine/gitrestore/sync_linux.go":     1,
	"engine/port/checkout.go":             1,
	"engine/project/lock_holder_linux.go": 1,
	"engine/rootfs/mount_linux.go":        2,
	"engine/scan/tree_portable.go":        1,
	"engine/transcript/process.go":        2,
	"engine/watch/tree_linux.go":          1,
}

// TestFilesAreOpenedWithoutWaiting: an open of a FIFO waits for its other end. Below the commands, files are
// opened by vfs.OpenRegular, or with flags that the caller says, never by a call of os that waits.
func TestFilesAreOpenedWithoutWaiting(t *testing.T) {
	root, seen := filepath.Join("..", ".."), map[string]int{}
	for _, top := range []string{"cas", "manifest", "engine", "hookio"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, file)
			rel = filepath.ToSlash(rel)
			for line := range bytes.Lines(text) {
				if slices.ContainsFunc([]string{"os.Open(", "os.ReadFile("}, func(call string) bool { return bytes.Contains(line, []byte(call)) }) {
					if seen[rel]++; seen[rel] > opensBlindly[rel] {
						t.Errorf("%s: %s", rel, bytes.TrimSpace(line))
					}
				}
				if bytes.Contains(line, []byte("os.OpenFile(")) && !bytes.Contains(line, []byte("NoWait")) && !bytes.Contains(line, []byte("O_EXCL")) {
					t.Errorf("%s: %s", rel, bytes.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file, n := range opensBlindly {
		if seen[file] != n {
			t.Errorf("%s opens %d files, not %d", file, seen[file], n)
		}
	}
}
