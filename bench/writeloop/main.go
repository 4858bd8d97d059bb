// Command writeloop writes files and makes them durable, and does nothing else:
// the least that putting them in place can cost.
//
//	writeloop DIR LIST
//
// LIST has one "size path" per line. The directories are made if need be. The
// files are new ones, since a file that is truncated and written again is
// flushed by some file systems when it is closed. Two threads write, then one
// syncfs ends it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

type file struct {
	path string
	size int
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "writeloop: DIR LIST")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "writeloop:", err)
		os.Exit(1)
	}
}

func write(dir, list string) error {
	files, largest, err := read(list)
	if err != nil {
		return err
	}
	made := map[string]bool{}
	for _, f := range files {
		if d := filepath.Dir(f.path); !made[d] {
			made[d] = true
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				return err
			}
		}
	}
	content := make([]byte, largest)
	for i := range content {
		content[i] = byte(' ' + i%90)
	}
	var next atomic.Int64
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)) && errs[w] == nil; i = next.Add(1) - 1 {
				errs[w] = os.WriteFile(filepath.Join(dir, files[i].path), content[:files[i].size], 0o644)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return syncAll(dir)
}

func read(list string) (files []file, largest int, err error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		size, path, ok := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(size)
		if !ok || err != nil || n < 0 {
			return nil, 0, fmt.Errorf("%s: %q is no size and path", list, lines.Text())
		}
		files, largest = append(files, file{path, n}), max(largest, n)
	}
	return files, largest, lines.Err()
}
