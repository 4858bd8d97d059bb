package bucket

import (
	"context"
	"net"
	"time"

	"golang.org/x/time/rate"
)

// burst is how many bytes a limit lets through at once. It is what a connection is given at a time.
const burst = 16 << 10

// limiter lets so many bytes a second through.
func limiter(bytes int64) *rate.Limiter { return rate.NewLimiter(rate.Limit(bytes), burst) }

// let waits until n bytes may go, or until ctx ends.
func let(ctx context.Context, l *rate.Limiter, n int) {
	for ; n > 0 && ctx.Err() == nil; n -= burst {
		_ = l.WaitN(ctx, min(n, burst)) // it is never more than a burst: an error is that of ctx
	}
}

// slow is how long a request may make no progress for the limit alone, where others are under way beside it.
func slow(limit int64) time.Duration {
	return time.Duration(float64(32*burst) / float64(limit) * float64(time.Second))
}

// limitedConn is a connection that waits for its limit.
type limitedConn struct {
	net.Conn
	limit *rate.Limiter
}

func (c limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), burst)])
	let(context.Background(), c.limit, n)
	return n, err
}

func (c limitedConn) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		some := p[:min(len(p), burst)]
		let(context.Background(), c.limit, len(some))
		var m int
		m, err = c.Conn.Write(some)
		n, p = n+m, p[m:]
	}
	return n, err
}

// paced is a bucket whose connections are not in our hands: it waits after each object.
type paced struct {
	Bucket
	limit *rate.Limiter
}

func (b paced) Put(ctx context.Context, name string, body []byte) error {
	err := b.Bucket.Put(ctx, name, body)
	if err == nil {
		let(ctx, b.limit, len(body))
	}
	return err
}

func (b paced) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	body, err := b.Bucket.Get(ctx, name, limit)
	let(ctx, b.limit, len(body))
	return body, err
}
