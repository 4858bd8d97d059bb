package port

import (
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// frameSize is how much of a stream each zstd frame holds. It fixes the output
// and bounds the memory: each core holds one frame in and one out.
//
// frameLevel is fixed for the same reason. An export of 79,000 kernel files takes
// 7.2 s of processor time at the default level and makes 205 MB, at the fastest level
// 6.2 s and 225 MB; tar | zstd -T2 takes 6.4 s and makes 204 MB. On two idle
// cores that is 3.8 s, 3.3 s and 3.8 s.
const (
	frameSize  = 4 << 20
	frameLevel = zstd.SpeedDefault
)

// frameWriter compresses a stream as a row of zstd frames of frameSize each, in
// parallel. The frames depend on nothing but the bytes, so that the number of
// cores does not show in the output. Any zstd reads them as one stream.
type frameWriter struct {
	w       io.Writer
	encoder *zstd.Encoder
	buf     []byte
	queue   chan chan []byte // frames under way, in order
	done    chan error       // the writing goroutine's end
	spare   sync.Pool        // of *[]byte: frames, in and out
	failed  chan struct{}
}

func newFrameWriter(w io.Writer) (*frameWriter, error) {
	workers := runtime.GOMAXPROCS(0)
	encoder, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(frameLevel),
		zstd.WithWindowSize(frameSize),
		zstd.WithEncoderConcurrency(workers))
	if err != nil {
		return nil, err
	}
	z := &frameWriter{
		w: w, encoder: encoder, queue: make(chan chan []byte, workers), done: make(chan error, 1), failed: make(chan struct{}),
	}
	z.buf = z.take()
	go func() {
		var err error
		for frame := range z.queue {
			data := <-frame
			if err == nil {
				if _, err = z.w.Write(data); err != nil {
					close(z.failed)
				}
			}
			z.spare.Put(&data)
		}
		z.done <- err
	}()
	return z, nil
}

func (z *frameWriter) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), frameSize-len(z.buf))
		z.buf, b = append(z.buf, b[:k]...), b[k:]
		if len(z.buf) == frameSize {
			if err := z.emit(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (z *frameWriter) emit() error {
	select {
	case <-z.failed:
		return io.ErrClosedPipe // Close tells the reason
	default:
	}
	frame, in := make(chan []byte, 1), z.buf
	z.queue <- frame
	go func() {
		frame <- z.encoder.EncodeAll(in, z.take())
		z.spare.Put(&in)
	}()
	z.buf = z.take()
	return nil
}

// take returns an empty buffer for a frame.
func (z *frameWriter) take() []byte {
	if b, ok := z.spare.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, frameSize)
}

// Close writes what is left. It does not close the underlying writer.
func (z *frameWriter) Close() error {
	var err error
	if len(z.buf) > 0 {
		err = z.emit()
	}
	close(z.queue)
	if werr := <-z.done; werr != nil {
		err = werr
	}
	return err
}
