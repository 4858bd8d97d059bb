package pack

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// BlockSize is how many bytes of small objects are compressed together.
	// Measured on 79,000 kernel files at the fastest level: 273 MB file by file,
	// 236 MB in blocks of 256 KiB, 231 MB of 512 KiB, all in the same time. Reading one file
	// costs half of that block's decoding, 0.4 ms, in the mean.
	BlockSize = 512 << 10
	// DenseBlockSize and denseLevel are those of gc, which may take its time.
	// Measured on the same files: 203 MB in blocks of 1 MiB, 198 of 2 MiB, 195 of 3 MiB, in the
	// same time. The best level would save 8 % more for five times the time.
	DenseBlockSize = 3 << 20
	denseLevel     = zstd.SpeedBetterCompression
	// checkedSize is up to where a compressed body is decompressed again before it
	// is believed: 0.1 ms at most. For bulk it would cost a quarter of the whole save.
	checkedSize = 64 << 10
)

// EncodeBlock makes a block's payload. Its body is compressed if that is clearly smaller: at the fastest level, or, dense, at a
// better one.
func EncodeBlock(entries []Entry, body []byte, dense bool) []byte {
	if len(body) < minZstdRun {
		return RawBlock(entries, body)
	}
	enc := takeEncoder(dense)
	defer enc.give()
	enc.out = enc.EncodeAll(body, enc.out[:0])
	// What saves less than a 32nd is not worth decompressing.
	if len(enc.out) < len(body)-len(body)/32 && (len(body) > checkedSize || decompressesTo(enc.out, body)) {
		return appendBlock(codecZstd, entries, enc.out)
	}
	return RawBlock(entries, body)
}

// RawBlock makes a block's payload without compressing the body.
func RawBlock(entries []Entry, body []byte) []byte { return appendBlock(codecRaw, entries, body) }

// Decompress decompresses the body, if it is compressed. Errors: MalformedError.
func (b *Block) Decompress() error {
	switch b.codec {
	case codecRaw:
		return nil
	case codecSmall:
		return b.lengthen()
	}
	if !canExpand(len(b.Body), b.total) {
		return MalformedError("its block claims to hold more than its bytes can")
	}
	d, err := takeDecoder()
	if err != nil {
		return err
	}
	defer decoders.put(d)
	body, err := d.DecodeAll(b.Body, make([]byte, 0, b.total))
	if err != nil {
		return MalformedError("its block cannot be decompressed: " + err.Error())
	}
	if len(body) != b.total {
		return MalformedError("its block does not have the length its table says")
	}
	b.codec, b.Body = codecRaw, body
	return nil
}

// canExpand reports whether a zstd frame can have so many bytes when it is
// decompressed: its shortest block takes 4 bytes and holds at most 128 KiB. Without this, a size
// that somebody made up would be allocated.
func canExpand(frame, size int) bool { return size>>15 <= frame }

func decompressesTo(frame, body []byte) bool {
	d, err := takeDecoder()
	if err != nil {
		return false
	}
	defer decoders.put(d)
	again, err := d.DecodeAll(frame, make([]byte, 0, len(body)))
	return err == nil && bytes.Equal(again, body)
}

// Encoders and decoders of blocks are kept: making an encoder clears up to 5 MB of tables.
var (
	encoders      spares[encoder]
	decoders      spares[zstd.Decoder]
	denseEncoders sync.Pool // of *encoder, which take so much memory that the garbage collector may have them
)

// spares keeps what takes long to make. A sync.Pool has a list for each processor: a goroutine that came to another one would make what
// it gave back a moment ago.
type spares[T any] struct {
	mu   sync.Mutex
	list []*T
}

// maxSpares is how many of a kind are kept: as many as are used at once, on most machines.
const maxSpares = 8

// take gives a spare one; nil: there is none.
func (s *spares[T]) take() (v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.list); n > 0 {
		v, s.list = s.list[n-1], s.list[:n-1]
	}
	return v
}

func (s *spares[T]) put(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) < maxSpares {
		s.list = append(s.list, v)
	}
}

// encoder is a zstd encoder and the memory for what it makes.
type encoder struct {
	*zstd.Encoder
	dense bool
	out   []byte
}

func takeEncoder(dense bool) *encoder {
	level, size := zstd.SpeedFastest, BlockSize
	if dense {
		if enc, ok := denseEncoders.Get().(*encoder); ok {
			return enc
		}
		level, size = denseLevel, DenseBlockSize
	} else if enc := encoders.take(); enc != nil {
		return enc
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(windowFor(size)))
	if err != nil {
		panic(err) // the options are constants
	}
	return &encoder{Encoder: enc, dense: dense}
}

// give gives it back.
func (e *encoder) give() {
	if e.dense {
		denseEncoders.Put(e)
	} else {
		encoders.put(e)
	}
}

func takeDecoder() (*zstd.Decoder, error) {
	if d := decoders.take(); d != nil {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxBody), zstd.WithDecodeAllCapLimit(true))
}
