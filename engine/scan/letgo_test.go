package scan

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// TestStuckFile: a call that a file system does not answer keeps no scan from ending with
// its context, and what it comes back to later is closed to it.
func TestStuckFile(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		for _, name := range []string{"a", "b/c", "b/stuck", "d"} {
			p.write(name, name)
		}
		answer := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		back := make(chan struct{})
		p.opts.Workers = 2
		o := p.options(false)
		o.writerOf = func(f *os.File) writer {
			if strings.HasSuffix(f.Name(), "stuck") {
				cancel()
				<-answer
				defer close(back)
			}
			return noWriter
		}
		sink := &closing{Sink: p.sink}
		o.Sink = sink
		start := time.Now()
		if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("it took %v", took)
		}
		sink.closed.Store(true)
		close(answer)
		<-back
		time.Sleep(20 * time.Millisecond)
		if sink.late.Load() {
			t.Fatal("the sink was used after the end")
		}
	})
}

// closing is a Sink that knows when it may not be used any more.
type closing struct {
	Sink
	closed, late atomic.Bool
}

func (c *closing) Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error) {
	c.late.Store(c.late.Load() || c.closed.Load())
	return c.Sink.Content(worker, f, size, prev)
}

func (c *closing) Dir(worker int, data []byte, prev oid.ID) (oid.ID, error) {
	c.late.Store(c.late.Load() || c.closed.Load())
	return c.Sink.Dir(worker, data, prev)
}
