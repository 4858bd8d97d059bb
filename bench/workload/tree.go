package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Shape of a tree.
type Shape struct {
	Files    int // 1 or more
	PerDir   int // files in a directory
	MeanSize int // bytes of a file; single ones have a quarter to sixteen times that
}

// Path of file i, relative to the root, with /. Directories are 64 to a parent.
func (s Shape) Path(i int) string {
	d := i / s.PerDir
	return fmt.Sprintf("src/m%03d/p%02d/file%05d.go", d/64, d%64, i)
}

// size of file i: most are small, few are large, the mean is about MeanSize.
func (s Shape) size(r *random) int {
	switch n := r.below(100); {
	case n < 60:
		return s.MeanSize/4 + r.below(s.MeanSize/2+1)
	case n < 97:
		return s.MeanSize/2 + r.below(s.MeanSize+1)
	default:
		return 4*s.MeanSize + r.below(12*s.MeanSize+1)
	}
}

// Ignore is the .gitignore at the root of every tree.
const Ignore = "build/\n*.log\n"

// Make writes a tree below root, which is made if need be. It gives the bytes
// written.
func Make(root string, seed uint64, s Shape) (int64, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(Ignore), 0o644); err != nil {
		return 0, err
	}
	var next, bytes atomic.Int64
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() {
			for {
				d := int(next.Add(1) - 1)
				if d*s.PerDir >= s.Files {
					return
				}
				n, err := makeDir(root, seed, s, d)
				bytes.Add(n)
				if err != nil {
					errs[w] = err
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return bytes.Load(), err
		}
	}
	return bytes.Load(), nil
}

// makeDir writes directory d with its files.
func makeDir(root string, seed uint64, s Shape, d int) (int64, error) {
	var sum int64
	dir := filepath.Join(root, filepath.FromSlash(s.Path(d*s.PerDir)), "..")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	for i := d * s.PerDir; i < min(s.Files, (d+1)*s.PerDir); i++ {
		r := derive(seed, uint64(i))
		size := s.size(r)
		if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(s.Path(i))), Content(r.next(), size), 0o644); err != nil {
			return sum, err
		}
		sum += int64(size)
	}
	return sum, nil
}

// Edit replaces one line of a file by another, in place. Which line and by what
// is up to the seed.
func Edit(file string, seed uint64) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, editLine(data, seed), 0o644)
}

func editLine(data []byte, seed uint64) []byte {
	r := derive(seed, 0xed17)
	line := appendLine(nil, r)
	if len(data) == 0 {
		return line
	}
	at := r.below(len(data))
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	end := len(data)
	if i := bytes.IndexByte(data[start:], '\n'); i >= 0 {
		end = start + i + 1
	}
	return append(append(append(make([]byte, 0, len(data)+len(line)), data[:start]...), line...), data[end:]...)
}
