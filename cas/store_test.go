package cas

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// testStore opens a store in a temporary directory.
func testStore(t testing.TB, change ...func(*Options)) *Store {
	t.Helper()
	dir := t.TempDir()
	o := Options{
		Dir: filepath.Join(dir, "objects"), Mirror: filepath.Join(dir, "vault"), LockDir: filepath.Join(dir, "lock"),
		StoreID: [16]byte{1, 2, 3},
	}
	for _, c := range change {
		c(&o)
	}
	return reopen(t, o)
}

// reopen opens a store that may be there already.
func reopen(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// save commits objects and a payload the way a save does.
func save(t testing.TB, s *Store, payload string, objects ...[]byte) Position {
	t.Helper()
	b := s.NewBatch()
	w := b.Writer()
	for _, o := range objects {
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	return commitBatch(t, s, b, w, payload)
}

func commitBatch(t testing.TB, s *Store, b *Batch, w *Writer, payload string) Position {
	t.Helper()
	release, err := s.Use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if w != nil {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	a, err := s.Append(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Commit(b, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

func mustGet(t testing.TB, s *Store, want []byte) {
	t.Helper()
	got, err := s.Get(nil, oid.Sum(want))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("got %d bytes, want %d", len(got), len(want))
	}
}

// text is n bytes that compress, different for every seed.
func text(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "line %d of %d: %x\n", len(b), seed, r.Uint32()%64)
	}
	return b[:n]
}

// noise is n bytes that do not compress.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte(slices.Repeat(binary.LittleEndian.AppendUint64(nil, seed), 4))).Read(b) // it never fails
	return b
}

func payloads(t testing.TB, s *Store, from uint64) []string {
	t.Helper()
	var all []string
	for c, err := range s.Commits(from) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d:%s", c.Seq, c.Payload))
	}
	return all
}

func TestSaveAndRead(t *testing.T) {
	s := testStore(t)
	objects := [][]byte{{}, []byte("x"), text(1, 1000), text(2, 300_000), noise(3, 5000), noise(4, 400_000), text(5, 3_000_000)}
	first := save(t, s, "one", objects...)
	if first.Seq != 1 || first.Pack != 1 {
		t.Fatalf("position %+v", first)
	}
	second := save(t, s, "two", objects...)
	third := save(t, s, "three", append(objects, []byte("new"))...)
	for _, again := range []*Store{s, reopen(t, s.o)} {
		for _, o := range objects {
			mustGet(t, again, o)
		}
		mustGet(t, again, []byte("new"))
		if got := fmt.Sprint(payloads(t, again, 0)); got != "[1:one 2:two 3:three]" {
			t.Fatal(got)
		}
		if got := fmt.Sprint(payloads(t, again, 3)); got != "[3:three]" {
			t.Fatal(got)
		}
		if last, err := again.Last(); err != nil || last != third {
			t.Fatalf("last %+v %v, want %+v", last, err, third)
		}
		for _, p := range []Position{first, second, third} {
			if ok, err := again.Holds(p); !ok || err != nil {
				t.Fatalf("holds %+v: %v %v", p, ok, err)
			}
			p.Seq++
			if ok, err := again.Holds(p); ok || err != nil {
				t.Fatalf("holds %+v: %v %v", p, ok, err)
			}
		}
		var missing *NotFoundError
		if _, err := again.Get(nil, oid.Sum([]byte("nowhere"))); !errors.As(err, &missing) {
			t.Fatal(err)
		}
		if err := again.Mirrored(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeltaChain(t *testing.T) {
	s := testStore(t)
	versions := [][]byte{text(1, 100_000)}
	save(t, s, "v0", versions[0])
	size := func() int64 {
		var n int64
		names, _ := s.names()
		for _, p := range names {
			info, err := s.fs.Lstat(filepath.Join(s.o.Dir, p.File()))
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		return n
	}
	before := size()
	for i := range 200 {
		last := versions[len(versions)-1]
		at := (i * 7919) % len(last)
		next := append(append(append([]byte{}, last[:at]...), fmt.Sprintf("edit %d", i)...), last[at:]...)
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(oid.Sum(next), next, oid.Sum(last)); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, "edit")
		versions = append(versions, next)
	}
	t.Logf("%d bytes per edit", (size()-before)/200)
	again := reopen(t, s.o)
	for _, v := range versions {
		mustGet(t, again, v)
	}
}

func TestLocks(t *testing.T) {
	s := testStore(t)
	a, err := s.Append(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var busy *BusyError
	if _, err := s.Append(ctx); !errors.As(err, &busy) || busy.Lock != "append" {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = s.Append(context.Background()); err != nil {
		t.Fatal(err)
	}
	a.Close()
}

func TestBulk(t *testing.T) {
	s := testStore(t)
	b := s.NewBatch()
	w := b.Writer()
	var objects [][]byte
	for i := range 300 {
		o := noise(uint64(i), 100_000)
		objects = append(objects, o)
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objects {
		got, err := b.Get(nil, oid.Sum(o))
		if err != nil || !bytes.Equal(got, o) {
			t.Fatal(err)
		}
	}
	commitBatch(t, s, b, w, "bulk")
	again := reopen(t, s.o)
	for _, o := range objects {
		if ok, err := again.known(oid.Sum(o)); !ok || err != nil {
			t.Fatal("not known", err)
		}
		mustGet(t, again, o)
	}
}

// TestPackOfManyObjects: a batch begins another pack at a number of objects, however small they are, and all of them can be
// read from the batch and from the store.
func TestPackOfManyObjects(t *testing.T) {
	s := testStore(t)
	s.limits.bulk, s.limits.objects = 1, 20
	b := s.NewBatch()
	w := b.Writer()
	var objects [][]byte
	for i := range 100 {
		o := noise(uint64(i), 100_000)
		objects = append(objects, o)
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objects {
		if got, err := b.Get(nil, oid.Sum(o)); err != nil || !bytes.Equal(got, o) {
			t.Fatal(err)
		}
	}
	commitBatch(t, s, b, w, "many")
	packs, err := filepath.Glob(filepath.Join(s.o.Dir, "data-*.pack"))
	if err != nil || len(packs) < 4 {
		t.Errorf("100 objects are in %d packs, want one for about 20: %v", len(packs), err)
	}
	for _, o := range objects {
		mustGet(t, reopen(t, s.o), o)
	}
}

func TestPutFile(t *testing.T) {
	s := testStore(t)
	data := noise(1, 20<<20)
	b := s.NewBatch()
	w := b.Writer()
	id, list, err := w.PutFile(bytes.NewReader(data), oid.ID{})
	if err != nil {
		t.Fatal(err)
	}
	commitBatch(t, s, b, w, "file")
	copy(data[10<<20:], noise(2, 1<<20))
	b = s.NewBatch()
	w = b.Writer()
	if _, _, err = w.PutFile(bytes.NewReader(data), oid.ID{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if b.StoredBytes() > 4<<20 {
		t.Fatalf("1 MiB changed, %d bytes stored", b.StoredBytes())
	}
	raw, err := s.Get(nil, id)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseList(raw)
	if err != nil || parsed.Sum != list.Sum || parsed.Size != 20<<20 {
		t.Fatal(err)
	}
	b.Discard()
}
