//go:build linux && (amd64 || arm64)

package scan

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// rawWalk is the floor to compare with: every directory opened relative to
// its parent's path and listed, every name looked at, by workers that share the directories found.
func rawWalk(root string, workers int) int64 {
	type dir struct{ path []byte }
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	queue := []dir{{append([]byte(root), 0)}}
	open := 1
	var seen atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf := make([]byte, 32<<10)
			var st unix.Stat_t
			count := int64(0)
			defer func() { seen.Add(count) }()
			for {
				mu.Lock()
				for len(queue) == 0 && open > 0 {
					ready.Wait()
				}
				if open == 0 {
					mu.Unlock()
					return
				}
				d := queue[len(queue)-1]
				queue = queue[:len(queue)-1]
				mu.Unlock()
				var found []dir
				const at = -100 // AT_FDCWD
				fd, errno := rawOpenAt(at, &d.path[0], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
				if errno == 0 {
					for {
						n, _, errno := unix.RawSyscall(unix.SYS_GETDENTS64, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
						if errno != 0 || int(n) <= 0 {
							break
						}
						for rest := buf[:n]; len(rest) > 0; {
							size := binary.NativeEndian.Uint16(rest[16:])
							name := rest[direntName:size]
							rest = rest[size:]
							if name[0] == '.' && (name[1] == 0 || name[1] == '.' && name[2] == 0) {
								continue
							}
							rawLstatAt(fd, &name[0], &st)
							count++
							if st.Mode&unix.S_IFMT == unix.S_IFDIR {
								end := 0
								for name[end] != 0 {
									end++
								}
								p := make([]byte, 0, len(d.path)+end+1)
								p = append(append(append(p, d.path[:len(d.path)-1]...), '/'), name[:end+1]...)
								found = append(found, dir{p})
							}
						}
					}
					rawClose(fd)
				}
				mu.Lock()
				queue = append(queue, found...)
				open += len(found) - 1
				if open == 0 || len(found) > 1 {
					ready.Broadcast()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return seen.Load()
}

func BenchmarkRawWalk(b *testing.B) {
	dir := benchTree(b)
	for b.Loop() {
		b.ReportMetric(float64(rawWalk(dir, 2)), "entries")
	}
}

// TestMain lets the test binary be the process to measure: REWIND_BENCH_DO=raw
// walks REWIND_BENCH_TREE, =first scans and writes REWIND_BENCH_HEAD, =unchanged scans with it.
func TestMain(m *testing.M) {
	dir, file := os.Getenv("REWIND_BENCH_TREE"), os.Getenv("REWIND_BENCH_HEAD")
	do := os.Getenv("REWIND_BENCH_DO")
	switch do {
	case "":
		os.Exit(m.Run())
	case "raw":
		rawWalk(dir, 2)
		os.Exit(0)
	case "nothing":
		os.Exit(0)
	}
	rules, err := ignore.Compile(ignore.Config{NoIgnore: os.Getenv("REWIND_BENCH_TREE") != ""})
	if err != nil {
		panic(err)
	}
	sink := newMemory()
	sink.lean = true
	o := Options{Root: dir, Rules: rules, Sink: sink, Start: time.Now(), Workers: 2}
	if do != "first" {
		if o.Cache, err = LoadCache(file); err != nil {
			panic(err)
		}
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		panic(err)
	}
	if do == "first" {
		if err := r.Publish(file, Stamp{}, nil); err != nil {
			panic(err)
		}
		fmt.Println(r.Files, r.Bytes, len(r.Problems))
	} else if !r.Unchanged || r.top != nil {
		fmt.Println("changed")
		os.Exit(1)
	}
	os.Exit(0)
}
