package scan

import (
	"sync"
	"sync/atomic"
	"time"
)

// What verifying found out about a directory of the stat cache.
const (
	dirNames   = 1 // its names may have changed, or it is gone: list it
	dirEntries = 2 // same names; some entries differ
	dirBelow   = 4 // something below differs
)

// entryRef is an entry of the stat cache.
type entryRef struct{ ord, index int32 }

// verdict is the outcome of comparing the whole stat cache with the tree.
type verdict struct {
	status []uint8    // by ordinal
	stale  []entryRef // entries to look at again, of directories with dirEntries
	late   []entryRef // unchanged entries whose ctime is after Options.Late; index -1: the directory itself
}

func (v *verdict) clean() bool { return len(v.status) == 0 || v.status[0] == 0 }

// A run is what a worker claims at once: neighbours in the table, which are
// neighbours in the tree. A directory of more than runEntries is shared.
const (
	runDirs    = 16
	runEntries = 1024
)

// piece is a part of a big directory.
type piece struct {
	ord      int32
	from, to int
}

// verifier is what the workers of one verification share.
type verifier struct {
	h       *Cache
	late    time.Time
	lateSet bool
	trust   trust
	next    atomic.Int64
	stop    *atomic.Bool
	looked  *atomic.Int64

	mu     sync.Mutex
	pieces []piece
}

// checker compares directories of the stat cache with the tree, for one worker.
type checker interface {
	// check compares the directory itself (where from is 0) and its entries from..to.
	check(ord int32, from, to int)
	found() *findings
	close()
}

// findings is what one worker found.
type findings struct {
	v     *verifier
	bad   []int32 // directories whose names may have changed
	stale []entryRef
	late  []entryRef
}

func (f *findings) found() *findings { return f }

// verify compares every entry of the stat cache with the tree.
func verify(h *Cache, o *Options, stop *atomic.Bool, looked *atomic.Int64, open func(*verifier) checker) *verdict {
	v := &verifier{
		h: h, trust: trust{newSeed(h.seed), o.Unsynced}, late: o.Late, lateSet: !o.Late.IsZero(),
		stop: stop, looked: looked,
	}
	checkers := make([]checker, o.Workers)
	var wg sync.WaitGroup
	for i := range checkers {
		checkers[i] = open(v)
		if i == o.Workers-1 {
			v.work(checkers[i]) // the last one here: no goroutine for a single worker
			break
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			v.work(checkers[i])
		}()
	}
	wg.Wait()
	out := &verdict{status: make([]uint8, len(h.dirs))}
	for _, c := range checkers {
		f := c.found()
		for _, ord := range f.bad {
			out.status[ord] |= dirNames
		}
		out.stale = append(out.stale, f.stale...)
		out.late = append(out.late, f.late...)
	}
	for _, s := range out.stale {
		out.status[s.ord] |= dirEntries
	}
	out.spread(h)
	return out
}

// spread tells the directories above of what was found.
func (v *verdict) spread(h *Cache) {
	for ord, s := range v.status {
		if s&(dirNames|dirEntries) == 0 {
			continue
		}
		for up := h.dirs[ord].parent; up >= 0 && v.status[up]&dirBelow == 0; up = h.dirs[up].parent {
			v.status[up] |= dirBelow
		}
	}
}

func (v *verifier) work(c checker) {
	defer c.close()
	for !v.stop.Load() {
		from := v.next.Add(runDirs) - runDirs
		if from >= int64(len(v.h.dirs)) {
			break
		}
		to := min(from+runDirs, int64(len(v.h.dirs)))
		entries := 0
		for ord := int32(from); ord < int32(to) && !v.stop.Load(); ord++ {
			d := &v.h.dirs[ord]
			if d.dead() {
				continue
			}
			n := int(d.n)
			entries += n
			if n > 2*runEntries {
				v.mu.Lock()
				for at := runEntries; at < n; at += runEntries {
					v.pieces = append(v.pieces, piece{ord, at, min(at+runEntries, n)})
				}
				v.mu.Unlock()
				n = runEntries
			}
			c.check(ord, 0, n)
		}
		v.looked.Add(int64(entries))
	}
	// A worker still at its run may add pieces later; it takes those itself.
	for !v.stop.Load() {
		v.mu.Lock()
		if len(v.pieces) == 0 {
			v.mu.Unlock()
			return
		}
		p := v.pieces[len(v.pieces)-1]
		v.pieces = v.pieces[:len(v.pieces)-1]
		v.mu.Unlock()
		c.check(p.ord, p.from, p.to)
	}
}

// compared reports whether an entry's slot is a fingerprint to compare, and
// whether the entry is to be looked at again whatever its status says.
func compared(kind byte) (compare, again bool) {
	switch kind & kindMask {
	case kindFile, kindSymlink, kindLarge:
		return true, false
	case kindIgnored:
		return kind&flagRule != 0, false
	case kindExempt, kindFailed:
		return false, true
	}
	return false, false
}
