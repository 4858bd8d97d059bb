package hook

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
)

// stopTime is how long work may take to notice that its time is over; after that it hangs in a system call.
const stopTime = 50 * time.Millisecond

// unlessHung does work that writes to the store, and returns soon after ctx has ended also where the work hangs in a
// system call: on a network file system that does not answer, say. Right before it writes, the work claims that it may.
// Work that hung writes nothing any more, and is left alone: its process is about to exit, and must not close the store
// under it.
func unlessHung[T any](ctx context.Context, p *project.Project, work func(claim func() bool) (T, error)) (made T, hung bool, err error) {
	const (
		writing = iota + 1
		givenUp
	)
	var state atomic.Int32 // whoever sets it first decides
	type result struct {
		made T
		err  error
	}
	done := make(chan result, 1)
	go func() {
		made, err := work(func() bool { return state.CompareAndSwap(0, writing) })
		done <- result{made, err}
	}()
	select {
	case r := <-done:
		return r.made, false, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.made, false, r.err
	case <-time.After(stopTime):
	}
	if !state.CompareAndSwap(0, givenUp) {
		r := <-done // it is being written: it is there in a moment
		return r.made, false, r.err
	}
	p.Abandoned.Store(true)
	return made, true, ctx.Err()
}
