package scan

import (
	"context"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// letGoAfter is how long a scan that is over waits for its workers, before it takes
// those that are still out for stuck in a call of the system.
const letGoAfter = 50 * time.Millisecond

// gate is the only way of a walk to its sink. A scan whose context has ended may leave workers behind that a
// file system keeps, one across a network, say: their goroutines end when it lets them go.
// Until then they hold nothing but their descriptors, and once the gate is closed they
// cannot get at the sink, which its owner takes down.
type gate struct {
	sink   Sink
	mu     sync.RWMutex
	closed bool
}

// close waits for calls that are under way, none of which waits for a file.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
}

// enter opens the way to the sink until leave.
func (g *gate) enter() error {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return context.Canceled
	}
	return nil
}

func (g *gate) leave() { g.mu.RUnlock() }

func (g *gate) content(worker int, c *content, prev oid.ID) (kind manifest.Kind, id oid.ID, size int64, err error) {
	if err := g.enter(); err != nil {
		return 0, id, 0, err
	}
	c.gate = g
	kind, id, size, err = g.sink.Content(worker, c, c.left, prev)
	if !c.outside {
		g.leave()
	}
	return kind, id, size, err
}

func (g *gate) dir(worker int, data []byte, prev oid.ID) (id oid.ID, err error) {
	if err := g.enter(); err != nil {
		return id, err
	}
	defer g.leave()
	return g.sink.Dir(worker, data, prev)
}

func (g *gate) load(id oid.ID) (d manifest.Dir, err error) {
	if err := g.enter(); err != nil {
		return d, err
	}
	defer g.leave()
	return g.sink.Load(id)
}

// letGo does a scan, and returns soon after its context has ended, whatever the scan is waiting for.
func (s *session) letGo(scan func() (*Result, error)) (*Result, error) {
	if s.ctx.Done() == nil {
		return scan()
	}
	type outcome struct {
		r   *Result
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := scan()
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-s.ctx.Done():
	}
	select {
	case o := <-done:
		return o.r, o.err
	case <-time.After(letGoAfter):
	}
	s.halt()
	s.gate.close()
	return nil, s.ctx.Err()
}
