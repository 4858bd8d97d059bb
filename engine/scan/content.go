package scan

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/sqlite"
)

// readAtOnce is the most that is asked of a file by one call, in bytes: between
// two calls it is seen whether the scan is over.
const readAtOnce = 1 << 20

// content is an open file as a Sink sees it: as long as it was when it was
// opened, so that a writer that is faster than the reader does not keep it,
// and at its end when the scan is.
type content struct {
	f             *os.File
	path          string
	left          int64
	begun, sqlite bool // its first bytes were read; they are those of a file of SQLite
	stop          *atomic.Bool
	err           error // of the file

	gate    *gate // through which the sink was reached
	outside bool  // it was closed while we were reading
}

// Path is where the content is, below the root.
func (c *content) Path() string { return c.path }

func (c *content) Read(b []byte) (int, error) {
	if c.stop.Load() {
		return 0, context.Canceled
	}
	if c.left == 0 {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), c.left, readAtOnce)]
	if c.outside {
		return 0, context.Canceled
	}
	if c.gate != nil { // a read that is stuck must not block the other workers
		c.gate.leave()
	}
	n, err := c.f.Read(b)
	if c.gate != nil {
		if err := c.gate.enter(); err != nil {
			c.outside = true
			return 0, err
		}
	}
	c.left -= int64(n)
	if !c.begun && n > 0 {
		c.begun, c.sqlite = true, sqlite.Begins(b[:n])
	}
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
