package scan

import (
	"bytes"
	"runtime"
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
	linked []entryRef // unchanged files that have another name
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

// looker looks at directories and names of the tree, for one worker.
type looker interface {
	// enter goes to the directory of the stat cache that the next calls are about.
	enter(ord int32) bool
	// self and entry are false where there is no answer. name ends before a NUL in the image.
	self(s *stat) bool
	entry(name []byte, s *stat) bool
	close()
}

// checker compares directories of the stat cache with the tree, for one worker, and keeps what it found.
type checker struct {
	looker
	v     *verifier
	s     stat    // here, since what an interface fills is on the heap
	bad   []int32 // directories whose names may have changed
	stale []entryRef
	late  []entryRef

	linked []entryRef
}

// check compares the directory itself (where from is 0) and its entries from..to: those that only names, if it is not nil.
func (c *checker) check(ord int32, from, to int, only map[string]bool) {
	v := c.v
	b, ok := v.h.block(ord)
	if !ok || !c.enter(ord) {
		c.bad = append(c.bad, ord)
		return
	}
	s := &c.s
	if from == 0 {
		if !c.self(s) || !v.trust.unchanged(s, v.h.dirs[ord].fp) {
			c.bad = append(c.bad, ord)
			return
		}
		if v.lateSet && s.after(v.late) {
			c.late = append(c.late, entryRef{ord, -1})
		}
	}
	tail := b.tail
	for i := range to {
		nul := bytes.IndexByte(tail, 0)
		if nul < 0 {
			c.bad = append(c.bad, ord)
			return
		}
		name := tail[:nul]
		tail = tail[nul+1:]
		if i < from || only != nil && !only[string(name)] {
			continue
		}
		compare, again := compared(b.kinds[i])
		if compare {
			again = !c.entry(name, s) || !v.trust.unchanged(s, b.slot(i))
			if v.lateSet && !again && s.after(v.late) {
				c.late = append(c.late, entryRef{ord, int32(i)})
			}
			if !again && s.links > 1 {
				c.linked = append(c.linked, entryRef{ord, int32(i)})
			}
		}
		if again {
			c.stale = append(c.stale, entryRef{ord, int32(i)})
		}
		if i&0xff == 0xff && v.stop.Load() {
			return
		}
	}
}

// verify compares every entry of the stat cache with the tree.
func verify(h *Cache, o *Options, stop *atomic.Bool, looked *atomic.Int64, look func(*Cache) looker) *verdict {
	v := &verifier{
		h: h, trust: trust{newSeed(h.seed), o.Unsynced}, late: o.Late, lateSet: !o.Late.IsZero(),
		stop: stop, looked: looked,
	}
	checkers := make([]*checker, o.Workers)
	var wg sync.WaitGroup
	for i := range checkers {
		checkers[i] = &checker{looker: look(h), v: v}
		if i == o.Workers-1 {
			v.work(checkers[i]) // the last one here: no goroutine for a single worker
			break
		}
		wg.Go(func() { v.work(checkers[i]) })
	}
	wg.Wait()
	return judge(h, checkers...)
}

// judge puts together what checkers found.
func judge(h *Cache, checkers ...*checker) *verdict {
	out := &verdict{status: make([]uint8, len(h.dirs))}
	for _, c := range checkers {
		for _, ord := range c.bad {
			out.status[ord] |= dirNames
		}
		out.stale = append(out.stale, c.stale...)
		out.late = append(out.late, c.late...)
		out.linked = append(out.linked, c.linked...)
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

func (v *verifier) work(c *checker) {
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
			c.check(ord, 0, n, nil)
		}
		v.looked.Add(int64(entries))
		runtime.Gosched() // a status call gives nothing up, and what runs beside it would wait for the whole tree
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
		c.check(p.ord, p.from, p.to, nil)
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
