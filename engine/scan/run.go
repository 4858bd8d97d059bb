package scan

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// Run scans. Errors are for the whole scan only (root gone, sink failed, ctx ended).
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.writerOf == nil {
		o.writerOf = writerOf
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &session{o: &o, ctx: ctx, conf: RulesHash(o.Rules, o.MaxFileSize), began: time.Now(), gate: &gate{sink: o.Sink}}
	defer context.AfterFunc(ctx, s.halt)()
	if o.Progress != nil {
		defer s.report()()
	}
	r, err := s.letGo(func() (*Result, error) {
		r, err := s.run(o.Cache)
		if errors.Is(err, errLinked) {
			o.Hints = nil
			r, err = s.run(o.Cache)
		}
		if errors.Is(err, errDamaged) {
			s.stop.Store(false)
			if ctx.Err() == nil { // else halt has come, and will not come again
				r, err = s.run(nil)
			}
		}
		return r, err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	r.loaded, r.conf = o.Cache, s.conf
	r.Unchanged = o.Cache != nil && r.Root == o.Cache.Root()
	return r, nil
}

// RulesHash covers what decides about paths besides rule files in the tree.
func RulesHash(rules *ignore.Rules, maxFileSize int64) uint64 {
	var b [24]byte
	for i, v := range [3]uint64{rules.Hash(), uint64(maxFileSize), decisions} {
		for j := range 8 {
			b[8*i+j] = byte(v >> (8 * j))
		}
	}
	return xxhash.Sum64(b[:])
}

// decisions is the version of the choices of what is captured that are not in the rules. A higher one has every name decided
// anew. 1: names that no restore can write are not captured.
const decisions = 1

// session is one Run.
type session struct {
	o     *Options
	ctx   context.Context
	conf  uint64
	began time.Time
	gate  *gate
	stop  atomic.Bool
	wake  atomic.Pointer[queue] // of the walk that is going on

	looked, bytes atomic.Int64
}

func (s *session) halt() {
	s.stop.Store(true)
	if q := s.wake.Load(); q != nil {
		q.wake()
	}
}

// report calls Progress now, until the returned function is called, and then once more.
func (s *session) report() func() {
	s.o.Progress(0, 0)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.o.Progress(s.looked.Load(), s.bytes.Load())
			case <-quit:
				s.o.Progress(s.looked.Load(), s.bytes.Load())
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func (s *session) run(h *Cache) (*Result, error) {
	o := s.o
	newLooker, newOpener, done, err := system(o.Root, o.portable)
	if err != nil {
		return nil, err
	}
	defer done()
	w := &walk{
		o: o, ctx: s.ctx, h: h, rules: o.Rules, gate: s.gate, start: o.Start, began: s.began, stop: &s.stop,
		looked: &s.looked, bytes: &s.bytes, queue: newQueue(o.Workers, &s.stop),
	}
	s.wake.Store(w.queue)
	if h == nil {
		w.all = true
		w.key = freshSeed()
	} else {
		w.all = o.Rehash || h.conf != s.conf
		w.key = h.seed
	}
	w.trust = trust{newSeed(w.key), o.Unsynced}
	for _, path := range rootfs.MountsBelow(o.Root) {
		if w.mounts == nil {
			w.mounts = make(map[string]bool)
		}
		w.mounts[path] = true
	}
	if !w.all {
		switch within := o.Unsynced.IsZero(); {
		case o.Within != nil && within:
			w.verdict = h.within(o.Within)
		case o.Hints != nil && within && o.Late.IsZero() && len(w.mounts) == 0:
			w.verdict = hinted(h, o, &s.stop, &s.looked, newLooker)
			w.hinted = true
		default:
			w.verdict = verify(h, o, &s.stop, &s.looked, newLooker)
		}
		if s.stop.Load() {
			return nil, context.Canceled
		}
		w.verdict.mounted(h, w.mounts)
		if o.Beside != nil {
			w.verdict.status[0] |= dirNames
		}
		if w.verdict.clean() {
			return s.unchanged(w)
		}
		w.index()
	}
	root := newOpener()
	at, err := root.hold(&node{})
	if err == nil {
		var st stat
		st, err = at.stat()
		w.dev = st.dev
	}
	root.close()
	if err != nil {
		return nil, err
	}
	if err := w.run(o.Workers, newOpener); err != nil {
		return nil, err
	}
	if s.stop.Load() {
		return nil, context.Canceled
	}
	if w.hinted && w.linked.Load() {
		return nil, errLinked
	}
	return s.result(w)
}

// errLinked says that a file changed that has another name: where that is, no hint tells, so that everything is looked at.
var errLinked = errors.New("a file with another name changed")

// index sorts the stale entries by directory.
func (w *walk) index() {
	w.stale = make(map[int32][]int32)
	for _, r := range w.verdict.stale {
		w.stale[r.ord] = append(w.stale[r.ord], r.index)
	}
}

func (s *session) unchanged(w *walk) (*Result, error) {
	r := &Result{Root: w.h.Root(), Files: w.h.files, Bytes: w.h.bytes, Mode: uint32(w.h.dirs[0].mode), cache: w.h}
	r.Problems, r.Repos = w.collect(nil)
	w.know(r)
	return r, nil
}

func (s *session) result(w *walk) (*Result, error) {
	r := &Result{Root: w.top.id, Mode: uint32(w.top.mode), cache: w.h, top: w.top}
	if w.top.built {
		r.Files, r.Bytes = w.top.files, w.top.bytes
	} else {
		r.Files, r.Bytes = w.h.files, w.h.bytes
	}
	for _, k := range w.workers {
		r.Read += k.read
		r.ReadBytes += k.bytes
		r.removed = append(r.removed, k.removed...)
		for _, c := range k.ctimes {
			if r.Ctimes == nil {
				r.Ctimes = make(map[string]int64)
			}
			r.Ctimes[c.path] = max(r.Ctimes[c.path], c.at) // it may have been read again
		}
	}
	r.Problems, r.Repos = w.collect(r.removed)
	r.key = w.key
	r.renew = !w.o.Unsynced.IsZero()
	w.know(r)
	return r, nil
}

// know says what the next scan may rely on.
func (w *walk) know(r *Result) {
	again, ok := w.again()
	r.Hinted, r.Again, r.Unsure = w.hinted, again, !ok || w.o.Within != nil
	if !w.all {
		r.CacheID = w.h.ID()
	}
}
