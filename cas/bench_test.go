package cas

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{32, 1 << 10, 16 << 10, 1 << 20} {
		data := noise(1, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				oid.Sum(data)
			}
		})
	}
}

// A first save: new small files, one writer.
func BenchmarkPut(b *testing.B) {
	s := testStore(b)
	file := bytes.Repeat(text(1, 16<<10), 1)
	batch := s.NewBatch()
	w := batch.Writer()
	b.SetBytes(int64(len(file)))
	for i := 0; b.Loop(); i++ {
		binary.LittleEndian.PutUint64(file[100:], uint64(i))
		if _, err := w.Put(oid.Sum(file), file, oid.ID{}); err != nil {
			b.Fatal(err)
		}
	}
	batch.Discard()
}

// A file that the store has already.
func BenchmarkPutKnown(b *testing.B) {
	s := testStore(b)
	file := text(1, 16<<10)
	save(b, s, "one", file)
	id := oid.Sum(file)
	for b.Loop() {
		w := s.NewBatch().Writer()
		if added, err := w.Put(id, file, oid.ID{}); added || err != nil {
			b.Fatal(added, err)
		}
	}
}

func BenchmarkPutFile(b *testing.B) {
	s := testStore(b)
	data := noise(1, 32<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		batch := s.NewBatch()
		if _, _, err := batch.Writer().PutFile(bytes.NewReader(data), oid.ID{}); err != nil {
			b.Fatal(err)
		}
		batch.Discard()
	}
}

// Reading neighbours, as a restore or an export does.
func BenchmarkGet(b *testing.B) {
	s := testStore(b)
	var objects [][]byte
	for i := range 1000 {
		objects = append(objects, text(uint64(i), 16<<10))
	}
	save(b, s, "one", objects...)
	s = reopen(b, s.o)
	var ids []oid.ID
	for _, o := range objects {
		ids = append(ids, oid.Sum(o))
	}
	var buf []byte
	var err error
	b.SetBytes(16 << 10)
	for i := 0; b.Loop(); i++ {
		if buf, err = s.Get(buf[:0], ids[i%len(ids)]); err != nil {
			b.Fatal(err)
		}
	}
}

// The last of a chain of one-line edits.
func BenchmarkGetDelta(b *testing.B) {
	s := testStore(b, func(o *Options) { o.NoSync = true })
	last := text(1, 64<<10)
	save(b, s, "one", last)
	for i := range pack.MaxDepth {
		last = editAndSave(b, s, last, i)
	}
	id := oid.Sum(last)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(nil, id); err != nil {
			b.Fatal(err)
		}
	}
}

func editAndSave(b *testing.B, s *Store, last []byte, i int) []byte {
	next := append([]byte(nil), last...)
	binary.LittleEndian.PutUint64(next[(i*100)%60_000:], uint64(i+1))
	batch := s.NewBatch()
	w := batch.Writer()
	if _, err := w.Put(oid.Sum(next), next, oid.Sum(last)); err != nil {
		b.Fatal(err)
	}
	commitBatch(b, s, batch, w, "edit")
	return next
}

// What a hook does after a one-line edit: open, four deltas, commit, all in a
// process of its own, behind a long log.
func BenchmarkEdit(b *testing.B) {
	s := testStore(b)
	files := make([][]byte, 4)
	for i := range files {
		files[i] = text(uint64(i), 16<<10)
	}
	save(b, s, "one", files...)
	for i := 0; b.Loop(); i++ {
		again, err := Open(s.o)
		if err != nil {
			b.Fatal(err)
		}
		release, err := again.Use(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		batch := again.NewBatch()
		w := batch.Writer()
		for k, last := range files {
			next := append([]byte(nil), last...)
			binary.LittleEndian.PutUint64(next[(i*100)%16_000:], uint64(i+1))
			if _, err := w.Put(oid.Sum(next), next, oid.Sum(last)); err != nil {
				b.Fatal(err)
			}
			files[k] = next
		}
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		a, err := again.Append(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.Commit(batch, make([]byte, 200)); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
		release()
		again.Close()
	}
	b.ReportMetric(float64(storeBytes(b, s))/float64(b.N), "bytes/edit")
}

// A prompt over an unchanged tree: no object, one record.
func BenchmarkCommit(b *testing.B) {
	s := testStore(b)
	save(b, s, "one", text(1, 1000))
	payload := make([]byte, 200)
	for b.Loop() {
		a, err := s.Append(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.Commit(nil, payload); err != nil {
			b.Fatal(err)
		}
		a.Close()
	}
}

func BenchmarkHolds(b *testing.B) {
	s := testStore(b)
	p := save(b, s, "one", text(1, 1000))
	for b.Loop() {
		if ok, err := s.Holds(p); !ok || err != nil {
			b.Fatal(err)
		}
	}
}
