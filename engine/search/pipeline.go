package search

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/project"
)

const (
	// ahead is how many contents are searched, at most, before their path's turn has come.
	ahead = 128
	// keepBytes bounds the lines that are kept for paths that come later and have the same content: beyond it
	// such a content is searched again. It bounds as well, but for what is under way, those that wait for their
	// path's turn.
	keepBytes = 64 << 20
)

// runner goes through the paths in order, while others search their contents.
type runner struct {
	ctx      context.Context
	t        *timeline
	m        *Matcher
	open     bool // precious lines are given
	get      func(content) source
	sum      *Summary
	visit    func(Span) error
	listed   func(state uint32) (*project.Listed, error)
	progress func(done, total int)

	workers sync.WaitGroup
	waiting atomic.Int64     // bytes of lines that were found and not taken yet
	freed   chan struct{}    // some were taken
	uses    []uint32         // of each content, by versions that are to come
	kept    map[uint32]*hits // of contents that come again
	keeping int              // bytes of kept
	own     scanner
}

// task is one content to be searched.
type task struct {
	content uint32
	done    chan *hits
}

func (r *runner) run() error {
	r.uses = make([]uint32, len(r.t.contents))
	for _, v := range r.t.versions {
		r.uses[v.content]++
	}
	r.kept = map[uint32]*hits{}
	r.own.m = r.m
	order := make(chan *task, ahead)
	work := make(chan *task)
	r.freed = make(chan struct{}, 1)
	r.workers.Add(1)
	go func() {
		defer r.workers.Done()
		defer close(work)
		defer close(order)
		seen := make([]bool, len(r.t.contents))
		for _, v := range r.t.versions {
			if v.content == 0 || seen[v.content] || r.t.contents[v.content].size == 0 {
				continue
			}
			seen[v.content] = true
			k := &task{v.content, make(chan *hits, 1)}
			select {
			case order <- k:
			case <-r.ctx.Done():
				return
			}
			// What waits is of contents before this one: the walk over the paths takes it and continues.
			for r.waiting.Load() > keepBytes {
				select {
				case <-r.freed:
				case <-r.ctx.Done():
					return
				}
			}
			select {
			case work <- k:
			case <-r.ctx.Done():
				return
			}
		}
	}()
	for range runtime.GOMAXPROCS(0) {
		r.workers.Add(1)
		go func() {
			defer r.workers.Done()
			s := scanner{m: r.m}
			for k := range work {
				if r.ctx.Err() != nil {
					return
				}
				h := r.search(&s, k.content)
				r.waiting.Add(int64(h.bytes))
				k.done <- h
			}
		}()
	}
	return r.paths(order)
}

func (r *runner) search(s *scanner, n uint32) *hits {
	c := r.t.contents[n]
	s.get = r.get(c)
	return s.search(c, r.ctx.Err)
}

// paths visits the spans, path by path.
func (r *runner) paths(order <-chan *task) error {
	met := make([]bool, len(r.t.contents))
	done := 0
	for i, path := range r.t.paths {
		j := joiner{r: r, path: path, precious: r.t.precious[i]}
		for _, v := range r.t.of(i) {
			h, err := r.hits(v.content, met, order)
			if err != nil {
				return err
			}
			if h.err != nil {
				seq := uint64(0)
				if int(v.state) < len(r.t.states) {
					seq = r.t.states[v.state].seq
				}
				if !project.IsDamage(h.err) {
					return h.err
				}
				r.t.problems = append(r.t.problems, Problem{Path: path, Seq: seq, Err: h.err})
				continue // what it had is not known: nothing has come or gone
			}
			if err := j.see(v.state, h); err != nil {
				return err
			}
			if done++; r.progress != nil && done%256 == 0 {
				r.progress(done, len(r.t.versions))
			}
		}
		if err := j.end(); err != nil {
			return err
		}
	}
	if r.progress != nil {
		r.progress(len(r.t.versions), len(r.t.versions))
	}
	return nil
}

var nothing = &hits{}

// hits gives the lines of a content: searched by now, kept, or searched again.
func (r *runner) hits(n uint32, met []bool, order <-chan *task) (h *hits, err error) {
	if n == 0 || r.t.contents[n].size == 0 {
		return nothing, nil
	}
	r.uses[n]--
	if !met[n] {
		met[n] = true
		var k *task
		select {
		case k = <-order:
		case <-r.ctx.Done():
		}
		if k == nil {
			return nil, r.ctx.Err()
		}
		select {
		case h = <-k.done:
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
		r.waiting.Add(-int64(h.bytes))
		select {
		case r.freed <- struct{}{}:
		default:
		}
		r.sum.Bytes += int64(r.t.contents[n].size)
	} else if h = r.kept[n]; h == nil {
		h = r.search(&r.own, n)
		h.err = cmp.Or(r.ctx.Err(), h.err)
	} else {
		delete(r.kept, n)
		r.keeping -= h.bytes
	}
	if r.uses[n] > 0 && (h.bytes == 0 || r.keeping+h.bytes <= keepBytes) {
		r.kept[n] = h
		r.keeping += h.bytes
	}
	return h, nil
}
