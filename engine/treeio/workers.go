package treeio

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

// group is the changes of one directory, by index.
type group struct {
	dir  string
	list []int
}

// groupByDir sorts the changes that want accepts into their directories, in
// path order.
func groupByDir(changes []Change, want func(*Change) bool) []group {
	at := map[string]int{}
	var groups []group
	for i := range changes {
		if changes[i].failed || !want(&changes[i]) {
			continue
		}
		dir, _ := rootfs.Split(changes[i].Path)
		g, ok := at[dir]
		if !ok {
			g = len(groups)
			at[dir] = g
			groups = append(groups, group{dir: dir})
		}
		groups[g].list = append(groups[g].list, i)
	}
	// A huge directory is shared out, so that every worker has something to do.
	const most = 256
	var out []group
	for _, g := range groups {
		for part := range slices.Chunk(g.list, most) {
			out = append(out, group{g.dir, part})
		}
	}
	return out
}

// eachDir opens each group's directory and calls work, from several workers.
// The directory is held only for the call: one that is moved meanwhile is not
// followed for long. It stops at the first error.
func eachDir(ctx context.Context, fs rootfs.FS, workers int, groups []group, work func(worker int, d rootfs.Dir, openErr error, list []int) error) error {
	return Parallel(workers, len(groups), func(w, i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := fs.OpenDir(groups[i].dir)
		err = work(w, d, err, groups[i].list)
		if d != nil {
			d.Close()
		}
		return err
	})
}

// Parallel calls work for each number below n, from several workers, and stops at the first error.
func Parallel(workers, n int, work func(worker, i int) error) error {
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	var stop atomic.Bool
	run := func(w int) {
		for !stop.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := work(w, i); err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
				stop.Store(true)
			}
		}
	}
	workers = max(1, min(workers, n))
	var wg sync.WaitGroup
	for w := range workers - 1 {
		wg.Go(func() { run(w) })
	}
	run(workers - 1)
	wg.Wait()
	return first
}
