package scan

import (
	"time"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

const (
	// freshAge is how long after a file's change its writer is taken to be at it
	// still, where the system does not tell who has it open.
	freshAge = 50 * time.Millisecond
	// openAge is the same for a file that is open for writing: its writer may have
	// to wait for a processor or a disk in the middle of it.
	openAge = 200 * time.Millisecond
	// emptyAge is the same for one that is empty too: mostly it was emptied to be filled.
	emptyAge = time.Second
	// writeRate is the least speed of a single write call, in bytes per
	// second: the ctime that it leaves is of its beginning.
	writeRate = 256 << 20
	// settleTime is for how long at most a scan waits for files to come to rest.
	settleTime = 300 * time.Millisecond
	// rereadLimit is the size up to which a file is read again and again, in bytes.
	rereadLimit = 256 << 20
)

// writer is whether somebody has a file open for writing.
type writer uint8

const (
	unknownWriter writer = iota
	noWriter
	someWriter
)

// reading is one reading of a file.
type reading struct {
	st    stat          // before it; zero: not captured, or not as a file
	torn  bool          // it changed meanwhile
	doubt bool          // a write may have been under way that the status does not show
	wait  time.Duration // until that is known
}

// fresh is a file that is to be looked at again when the rest of the tree is done.
type fresh struct {
	reading
	index int32
	tries int // how often it has turned out not to be at rest
	due   time.Time
}

// settled reports whether a file was at rest when it was opened, as far as its status and
// the system tell. If not, wait is when to ask again.
//
// A write leaves its mark on the ctime when it begins. So what a change some time ago leaves open is
// whether its writer is at it still: which it can only be with the file open.
func (w *walk) settled(s *stat, ask func() writer) (wait time.Duration, ok bool) {
	age := w.now().Sub(time.Unix(s.ctime, s.ctimeNs))
	long := time.Duration(float64(s.size) / writeRate * float64(time.Second))
	if age >= max(openAge+long, emptyAge) || s.size > 0 && age >= openAge+long || age <= -coarseGrain {
		return 0, true // long ago, or of a clock that was set back since
	}
	rest := freshAge + long
	switch ask() {
	case someWriter:
		rest = openAge + long
		if s.size == 0 {
			rest = emptyAge
		}
	case noWriter:
		// Nobody is within a write, and one that comes leaves another ctime, but for one within the same tick.
		rest = fineGrain
		if s.ctimeNs == 0 {
			rest = coarseGrain
		}
	}
	return min(rest-age, fineGrain), age >= rest
}

// now is the time on the clock of the project's file system.
func (w *walk) now() time.Time { return w.start.Add(time.Since(w.began)) }

// followUp puts a file that was read on the list of those to be looked at again, if it has to be:
// it was not at rest, or written so shortly before that its writer may
// not have been done: one that was truncated, say, and not filled again.
func (k *worker) followUp(list []fresh, n *node, i int32, got reading, tries int) []fresh {
	e := &n.ents[i]
	if !got.st.regular() || !got.torn && !got.doubt && e.slot != 0 {
		return list
	}
	f := fresh{reading: got, index: i, tries: tries}
	if got.torn {
		f.tries++
	}
	if got.torn || got.doubt {
		e.slot = 0
		if k.w.last || f.tries >= attempts || f.tries > 0 && got.st.size > rereadLimit {
			k.torn(n, e)
			return list
		}
		f.due = time.Now().Add(max(got.wait, time.Millisecond))
	} else if tries >= attempts || k.w.last {
		return list
	}
	return append(list, f)
}

func (k *worker) torn(n *node, e *entry) {
	k.problems = append(k.problems, problem.New(rootfs.Join(n.path(), e.name), problem.Torn, true))
}

// later has files of a node looked at again when the rest of the tree is done.
func (k *worker) later(n *node, list []fresh) {
	if list != nil {
		n.pending.Add(1) // its manifest waits for it
		k.fresh = append(k.fresh, task{n: n, fresh: list})
	}
}

// lookAgain looks once more at files of a node. What changed is read again, and so is what
// was in doubt, once it is at rest: then both readings must agree.
func (k *worker) lookAgain(n *node, list []fresh) error {
	at, err := k.dirs.hold(n)
	if err != nil {
		return nil // gone or moved: it stays as it was read, and the next scan lists its parent
	}
	var again []fresh
	for _, f := range list {
		e := &n.ents[f.index]
		st, err := at.lstat(e.name)
		same := err == nil && st.same(&f.st) && st.ino == f.st.ino
		switch {
		case err != nil, same && !f.torn && !f.doubt:
			continue
		case same && f.doubt && !k.w.last:
			if wait, ok := k.ask(at, e); !ok {
				f.due = time.Now().Add(wait)
				again = append(again, f)
				continue
			}
		case f.torn && time.Now().Before(f.due):
			again = append(again, f)
			continue
		case !same && f.doubt && k.w.last:
			k.torn(n, e)
			continue
		}
		before := e.m.ID
		got, err := k.readFile(n, at, e, rootfs.Join(n.path(), e.name))
		if err != nil {
			return err
		}
		switch {
		case f.torn: // that was counted
		case !same || !got.st.same(&f.st):
			f.tries++
		case got.torn:
		case e.m.ID != before:
			got.doubt = true // somebody writes, and leaves no mark
			f.tries++
		case !got.doubt || e.m.Size > 0:
			continue // two readings agree
		}
		again = k.followUp(again, n, f.index, got, f.tries)
	}
	k.later(n, again)
	return nil
}

// ask is settled for a file by its name.
func (k *worker) ask(at handle, e *entry) (wait time.Duration, ok bool) {
	f, st, err := at.openFile(e.name, e.name)
	if err != nil || f == nil {
		return 0, true // reading it will say what is wrong
	}
	defer f.Close()
	return k.w.settled(&st, func() writer { return k.w.o.writerOf(f) })
}

// settle looks again at files until all are at rest or the time is up.
func (w *walk) settle(workers int, open func() opener) {
	end := time.Now().Add(settleTime)
	for {
		var again []task
		due := end
		for _, k := range w.workers {
			for _, t := range k.fresh {
				for _, f := range t.fresh {
					if f.due.Before(due) {
						due = f.due
					}
				}
			}
			again = append(again, k.fresh...)
			k.fresh = nil
		}
		if len(again) == 0 {
			again, due = w.comparisons()
		}
		if len(again) == 0 || !w.sleep(time.Until(due)) {
			return
		}
		w.last = !time.Now().Before(end)
		w.queue.push(0, again...)
		w.work(min(workers, 1+len(again)/16), open)
	}
}

// sleep waits; it is false when the walk is over.
func (w *walk) sleep(d time.Duration) bool {
	if d > 0 && !w.stop.Load() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-w.ctx.Done():
		}
	}
	return !w.stop.Load()
}
