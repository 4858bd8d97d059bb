package transcript

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"github.com/klauspost/compress/zstd"
)

// memory is a Store of whole objects. packed is what they would take, each
// compressed by itself, with 48 bytes for its place in a pack and its index.
type memory struct {
	objects map[oid.ID][]byte
	packed  int64
	puts    int
	fail    error
}

func newMemory() *memory { return &memory{objects: map[oid.ID][]byte{}} }

var fastest, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))

func (m *memory) Put(r io.Reader) (oid.ID, int64, error) {
	b, err := io.ReadAll(r)
	if err != nil || m.fail != nil {
		return oid.ID{}, 0, errors.Join(err, m.fail)
	}
	id := oid.Sum(b)
	m.puts++
	if _, ok := m.objects[id]; !ok {
		m.objects[id] = b
		m.packed += int64(len(fastest.EncodeAll(b, nil))) + 48
	}
	return id, int64(len(b)), nil
}

var errNone = errors.New("no such object")

func (m *memory) Get(id oid.ID) (io.ReadCloser, error) {
	b, ok := m.objects[id]
	if !ok {
		return nil, errNone
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// content reads a held conversation back.
func (m *memory) content(t testing.TB, id oid.ID) []byte {
	t.Helper()
	h, err := Open(m, id)
	if err != nil {
		t.Fatal(err)
	}
	r := h.Reader()
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(b)) != h.Size {
		t.Fatalf("%d bytes, size says %d", len(b), h.Size)
	}
	return b
}
