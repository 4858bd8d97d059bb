// Command hashloop reads every file below a directory and hashes it with BLAKE3
// from two threads: the least that verifying it can cost.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/zeebo/blake3"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "hashloop: DIR")
		os.Exit(2)
	}
	if err := hashAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hashloop:", err)
		os.Exit(1)
	}
}

func hashAll(dir string) error {
	files := make(chan string, 64)
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			buf := make([]byte, 1<<20)
			for file := range files {
				if errs[w] == nil {
					errs[w] = hash(file, buf)
				}
			}
		})
	}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files <- file
		}
		return err
	})
	close(files)
	wg.Wait()
	for _, e := range append(errs, err) {
		if e != nil {
			return e
		}
	}
	return nil
}

func hash(file string, buf []byte) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := blake3.New()
	_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, buf)
	return err
}
