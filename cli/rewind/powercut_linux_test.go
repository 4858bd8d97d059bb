//go:build amd64 || arm64

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

// cut plays the run again on a disk in memory and cuts its power after some of
// the calls that changed something: what was synced is left, or with that a
// random part of the rest. It gives the number of cuts.
func (w *world) cut(seed uint64, after []int) (cuts int) {
	disk := w.start.Crash(nil) // a copy: all of it is durable
	random := rand.New(rand.NewPCG(seed, 5))
	n := 0
	for _, c := range w.run.Calls {
		must(w.T, tracee.Replay(disk, c))
		if !killed.hits(c) || c.N == 0 {
			continue
		}
		if n++; !slices.Contains(after, n) {
			continue
		}
		for _, r := range []*rand.Rand{nil, random} {
			w.store(disk.Crash(r))
			v := &verdict{world: w, when: fmt.Sprintf("power cut after call %d, %s %s %s; a part of what was not synced: %v",
				c.N, c.Name, strings.TrimPrefix(c.Path, w.base), strings.TrimPrefix(c.To, w.base), r != nil)}
			lost := &tracee.Result{Code: -1}
			v.aftermath(lost)
			v.tell(lost)
			cuts++
		}
	}
	if now := disk.Content(w.base); !same(now, w.end.Content(w.base)) {
		w.Fatalf("the disk in memory is not what the run left: %s", difference(now, w.end.Content(w.base)))
	}
	// The command has said that it is done.
	for range 3 {
		w.store(disk.Crash(random))
		v := &verdict{world: w, when: "power cut after the end"}
		v.aftermath(w.run)
		v.tell(w.run)
		cuts++
	}
	return cuts
}
