package pack

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"testing"
)

// allocated is how many bytes a call allocates.
func allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileSizes gives each decoder a size that somebody made up. None allocates by it.
func TestHostileSizes(t *testing.T) {
	const room = 1 << 20 // a zstd decoder takes its part of it
	huge := binary.AppendUvarint(nil, math.MaxUint64>>1)
	id := make([]byte, 32)
	body := func(count uint64, table ...[]byte) []byte {
		return append(binary.AppendUvarint([]byte{codecZstd}, count), bytes.Join(table, nil)...)
	}
	entry := func(length uint64) []byte { return binary.AppendUvarint(bytes.Clone(id), length<<1) }
	frame := []byte("\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00\x99\xe9\xd8\x51")
	var table []byte
	for range 4 {
		table = append(table, entry(1<<27)...)
	}
	index := EncodeIndex(Name{Log, 1}, [16]byte{}, &Contents{Covered: HeaderSize})
	for _, at := range []int{12, 48, 52} {
		binary.LittleEndian.PutUint32(index[at:], math.MaxInt32)
	}
	pack := Header{Name: Name{Log, 1}}.Append(nil)
	pack = append(binary.AppendUvarint(append(pack, BlockRecord), math.MaxInt32-64), make([]byte, 100)...)
	for what, decode := range map[string]func() error{
		"number of objects":   func() error { _, err := DecodeBlock(body(1<<16, id)); return err },
		"length of an object": func() error { _, err := DecodeBlock(body(1, id, huge, frame)); return err },
		"length of a block":   func() error { _, err := DecodeBlock(body(4, table, frame)); return err },
		"length of a record":  func() error { _, err := parseRecord(pack[HeaderSize:], 0, HeaderSize); return err },
		"counts of an index":  func() error { _, err := parseIndex(index, Name{Log, 1}, [16]byte{}); return err },
		"length of a delta": func() error {
			_, err := decodeWithBase(nil, []byte("a base that is there"), frame[4:], MaxObject)
			return err
		},
		"lengths in a delta": func() error {
			_, err := ApplyDelta(nil, []byte("base"), append(bytes.Clone(huge), huge...), MaxObject)
			return err
		},
		"length of a walked record": func() error {
			w := NewWalker(bytes.NewReader(pack), 0, HeaderSize, int64(len(pack)))
			_, err := w.Next()
			return err
		},
	} {
		var err error
		if n := allocated(func() { err = decode() }); n > room || err == nil || err == io.EOF {
			t.Errorf("%s: %d bytes allocated, %v", what, n, err)
		}
	}
}
