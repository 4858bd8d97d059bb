package cas

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
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
	index := appendIndex(nil, packName{logPack, 1}, [16]byte{}, &contents{covered: headerSize})
	for _, at := range []int{12, 48, 52} {
		binary.LittleEndian.PutUint32(index[at:], math.MaxInt32)
	}
	pack := packHeader{name: packName{logPack, 1}}.append(nil)
	pack = append(binary.AppendUvarint(append(pack, blockRecord), math.MaxInt32-64), make([]byte, 100)...)
	s := &Store{}
	for what, decode := range map[string]func() error{
		"number of objects":   func() error { _, err := s.decode(body(1<<16, id)); return err },
		"length of an object": func() error { _, err := s.decode(body(1, id, huge, frame)); return err },
		"length of a block":   func() error { _, err := s.decode(body(4, table, frame)); return err },
		"length of a record":  func() error { _, err := parseRecord(pack[headerSize:], 0, headerSize); return err },
		"number of chunks":    func() error { _, err := ParseList(append(append([]byte{listVersion, 5}, id...), huge...)); return err },
		"counts of an index":  func() error { _, err := parseIndex(index, packName{logPack, 1}, [16]byte{}); return err },
		"length of a delta": func() error {
			_, err := decodeWithBase(nil, []byte("a base that is there"), frame[4:], maxObject)
			return err
		},
		"lengths in a delta": func() error {
			_, err := applyDelta(nil, []byte("base"), append(bytes.Clone(huge), huge...), maxObject)
			return err
		},
		"length of a walked record": func() error {
			w := newWalker(bytes.NewReader(pack), 0, headerSize, int64(len(pack)))
			_, err := w.next()
			return err
		},
	} {
		var err error
		if n := allocated(func() { err = decode() }); n > room || err == nil || err == io.EOF {
			t.Errorf("%s: %d bytes allocated, %v", what, n, err)
		}
	}
}

// What compresses best is still taken: a block, and a delta, of nothing but zeros.
func TestZerosExpand(t *testing.T) {
	s := testStore(t)
	zeros := make([]byte, 16<<20)
	base := text(1, 100)
	save(t, s, "base", base)
	b := s.NewBatch()
	w := b.Writer()
	for _, data := range [][]byte{zeros, append(bytes.Clone(base), zeros[:1<<20]...)} {
		if _, err := w.Put(oid.Sum(data), data, oid.Sum(base)); err != nil {
			t.Fatal(err)
		}
	}
	commitBatch(t, s, b, w, "zeros")
	mustGet(t, reopen(t, s.o), zeros)
	mustGet(t, reopen(t, s.o), append(bytes.Clone(base), zeros[:1<<20]...))
}
