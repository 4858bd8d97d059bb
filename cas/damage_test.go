package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// smallStore makes a store with a few commits: whole objects, a delta, an
// index that covers a part.
func smallStore(t testing.TB) (o Options, objects [][]byte) {
	s := testStore(t)
	add := func(data []byte, base oid.ID) {
		b := s.NewBatch()
		w := b.Writer()
		if _, err := w.Put(oid.Sum(data), data, base); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, fmt.Sprintf("commit %d", len(objects)+1))
		objects = append(objects, data)
	}
	first := text(1, 700)
	add(first, oid.ID{})
	add(noise(2, 100), oid.ID{})
	if err := s.reindex(pack.Name{Kind: pack.Log, Tag: 1}, false); err != nil {
		t.Fatal(err)
	}
	add(append([]byte("edited "), first...), oid.Sum(first))
	add([]byte("last"), oid.ID{})
	return s.o, objects
}

// copyStore copies a store's directories to a place of its own.
func copyStore(t testing.TB, o Options) Options {
	t.Helper()
	dir := t.TempDir()
	to := o
	to.Dir, to.LockDir, to.Mirror = filepath.Join(dir, "objects"), filepath.Join(dir, "lock"), ""
	if err := os.CopyFS(to.Dir, os.DirFS(o.Dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// look reads all that is in a damaged store. What it yields must be right; it
// need not be all. It returns the sequence numbers.
func look(t *testing.T, o Options, objects [][]byte) (seqs []uint64) {
	t.Helper()
	s := reopen(t, o)
	defer s.Close()
	var missing *NotFoundError
	var damaged *DamagedError
	for _, want := range objects {
		got, err := s.Get(nil, oid.Sum(want))
		switch {
		case err == nil && !bytes.Equal(got, want):
			t.Fatal("wrong bytes")
		case err != nil && !errors.As(err, &missing) && !errors.As(err, &damaged):
			t.Fatalf("%T %v", err, err)
		}
	}
	for c, err := range s.Commits(0) {
		if err != nil {
			if !errors.As(err, &damaged) {
				t.Fatalf("%T %v", err, err)
			}
			break
		}
		if want := fmt.Sprintf("commit %d", c.Seq); string(c.Payload) != want {
			t.Fatalf("%q, want %q", c.Payload, want)
		}
		seqs = append(seqs, c.Seq)
	}
	return seqs
}

// Whatever byte of pack or index is wrong, wrong bytes never come out, damage
// is named, and the store takes the next commit.
func TestEveryByteFlipped(t *testing.T) {
	o, objects := smallStore(t)
	o.NoSync = true
	for _, name := range []string{"log-00000001.pack", "log-00000001.idx"} {
		good, err := os.ReadFile(filepath.Join(o.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		to := copyStore(t, o)
		pack, _ := os.ReadFile(filepath.Join(o.Dir, "log-00000001.pack"))
		for i := 0; i < len(good); i += every(21) {
			if name == "log-00000001.idx" && i >= 72+64 && i < len(good)-200 && i%16 != 0 {
				continue // mostly fan-out
			}
			os.RemoveAll(to.Dir)
			if err := os.CopyFS(to.Dir, os.DirFS(o.Dir)); err != nil {
				t.Fatal(err)
			}
			bad := slices.Clone(good)
			bad[i] ^= 0x41
			write(t, filepath.Join(to.Dir, name), bad)
			seqs := look(t, to, objects)
			s := reopen(t, to)
			found := 0
			if _, err := s.Verify(context.Background(), true, func(Damage) { found++ }, nil); err != nil {
				var version *VersionError
				if !errors.As(err, &version) {
					t.Fatalf("byte %d: %v", i, err)
				}
			}
			if name == "log-00000001.idx" {
				if len(seqs) != len(objects) || found != 0 {
					t.Fatalf("byte %d of the index: %d commits, %d damages", i, len(seqs), found)
				}
			} else if found == 0 && len(seqs) == len(objects) {
				t.Fatalf("byte %d: no damage named", i)
			}
			s.Close()
			// The store goes on.
			s = reopen(t, to)
			p := save(t, s, fmt.Sprintf("commit %d", 5), []byte("more"))
			mustGet(t, reopen(t, to), []byte("more"))
			if ok, err := s.Holds(p); !ok || err != nil {
				t.Fatal(ok, err)
			}
			s.Close()
		}
		write(t, filepath.Join(to.Dir, "log-00000001.pack"), pack)
	}
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A pack that ends anywhere holds exactly the commits that are whole, and the
// next one gets the next number.
func TestTruncatedAtEveryByte(t *testing.T) {
	s := testStore(t)
	var ends []int64
	var objects [][]byte
	for i := range 4 {
		objects = append(objects, text(uint64(i), 300))
		ends = append(ends, save(t, s, fmt.Sprintf("commit %d", i+1), objects[i]).Offset)
	}
	o := s.o
	o.NoSync = true
	good, err := os.ReadFile(filepath.Join(o.Dir, "log-00000001.pack"))
	if err != nil {
		t.Fatal(err)
	}
	to := copyStore(t, o)
	file := filepath.Join(to.Dir, "log-00000001.pack")
	for n := 0; n < len(good); n += every(21) {
		os.RemoveAll(to.Dir)
		os.MkdirAll(to.Dir, 0o700)
		write(t, file, good[:n])
		whole := 0
		for _, e := range ends {
			if int64(n) >= e {
				whole++
			}
		}
		if seqs := look(t, to, objects); len(seqs) != whole {
			t.Fatalf("%d bytes: commits %v, want %d", n, seqs, whole)
		}
		s := reopen(t, to)
		if last, err := s.Last(); err != nil || last.Seq != uint64(whole) {
			t.Fatalf("%d bytes: last %+v %v", n, last, err)
		}
		for i, want := range objects[:whole] {
			if _, err := s.Get(nil, oid.Sum(want)); err != nil {
				t.Fatalf("%d bytes: object %d: %v", n, i, err)
			}
		}
		p := save(t, s, fmt.Sprintf("commit %d", whole+1), []byte("more"))
		if p.Seq != uint64(whole+1) {
			t.Fatalf("%d bytes: %+v", n, p)
		}
		again := reopen(t, to)
		mustGet(t, again, []byte("more"))
		if n >= pack.HeaderSize {
			check(t, again)
		}
		again.Close()
		s.Close()
	}
}

// A damaged record does not hide those after it, and repair leaves a store that
// verifies, with all that is good.
func TestRepair(t *testing.T) {
	o, objects := smallStore(t)
	o.NoSync = true
	good, err := os.ReadFile(filepath.Join(o.Dir, "log-00000001.pack"))
	if err != nil {
		t.Fatal(err)
	}
	to := copyStore(t, o)
	for i := 0; i < len(good); i += every(33) {
		os.RemoveAll(to.Dir)
		if err := os.CopyFS(to.Dir, os.DirFS(o.Dir)); err != nil {
			t.Fatal(err)
		}
		bad := slices.Clone(good)
		bad[i] ^= 0x10
		if i >= 8 && i < 10 {
			continue // the version: refused, not repaired
		}
		write(t, filepath.Join(to.Dir, "log-00000001.pack"), bad)
		s := reopen(t, to)
		var done []Repaired
		if err := s.Repair(context.Background(), func(r Repaired) { done = append(done, r) }, nil); err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		if len(done) == 0 {
			t.Fatalf("byte %d: nothing repaired", i)
		}
		check(t, s)
		check(t, reopen(t, to))
		lost := 0
		for _, want := range objects {
			if _, err := s.Get(nil, oid.Sum(want)); err != nil {
				lost++
			}
		}
		if lost > 2 { // one and the delta of it
			t.Fatalf("byte %d: %d objects lost", i, lost)
		}
		if seqs := payloads(t, s, 0); len(seqs) < len(objects)-1 {
			t.Fatalf("byte %d: commits %v", i, seqs)
		}
		for _, want := range objects {
			save(t, s, "again", want)
			mustGet(t, s, want)
		}
		s.Close()
	}
}

func TestLostStoreComesBackFromTheMirror(t *testing.T) {
	s := testStore(t)
	objects := [][]byte{text(1, 1000), noise(2, 9<<20), noise(3, 1<<20)}
	save(t, s, "one", objects...)
	save(t, s, "two", text(4, 100))
	s.Close()
	if err := os.RemoveAll(s.o.Dir); err != nil {
		t.Fatal(err)
	}
	id, err := RestoreFromMirror(s.fs, s.o.Mirror, s.o.Dir, nil)
	if err != nil || id != s.o.StoreID {
		t.Fatal(id, err)
	}
	again := reopen(t, s.o)
	for _, o := range objects {
		mustGet(t, again, o)
	}
	if got := fmt.Sprint(payloads(t, again, 0)); got != "[1:one 2:two]" {
		t.Fatal(got)
	}
	check(t, again)
	// One pack only.
	names, _ := again.names()
	for _, n := range names {
		if err := os.Remove(filepath.Join(s.o.Dir, n.File())); err != nil {
			t.Fatal(err)
		}
		var returned []string
		if err := again.Repair(context.Background(), func(r Repaired) { returned = append(returned, r.Pack) }, nil); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(returned) != fmt.Sprint([]string{n.File()}) {
			t.Fatal(returned)
		}
		for _, o := range objects {
			mustGet(t, again, o)
		}
	}
}

// A pack that somebody removed is named, comes back from the mirror before
// anything is committed in its place, and keeps gc from dropping what it needs.
func TestLostPack(t *testing.T) {
	for _, second := range []bool{true, false} {
		s := testStore(t)
		s.limits.logPack = 2000
		for i := range 5 {
			save(t, s, fmt.Sprintf("commit %d", i+1), noise(uint64(i), 1000))
		}
		if err := s.RefreshIndexes(); err != nil {
			t.Fatal(err)
		}
		want := payloads(t, s, 0)
		names, err := s.names()
		if err != nil || len(names) < 2 || names[0].Kind != pack.Log {
			t.Fatal(names, err)
		}
		for _, n := range names {
			o := copyStore(t, s.o)
			if _, err := os.Lstat(filepath.Join(o.Dir, n.IndexFile())); err != nil && !second {
				continue // nothing tells of this one
			}
			if second {
				o.Mirror = filepath.Join(filepath.Dir(o.Dir), "vault")
				if err := os.CopyFS(o.Mirror, os.DirFS(s.o.Mirror)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(filepath.Join(o.Dir, n.File())); err != nil {
				t.Fatal(err)
			}
			lost := reopen(t, o)
			var found []Damage
			if _, err := lost.Verify(t.Context(), false, func(d Damage) { found = append(found, d) }, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(d Damage) bool { return d.Pack == n.File() && d.Reason == reasonGone }) {
				t.Errorf("%s is gone, in the mirror %v, and verify says %v", n.File(), second, found)
			}
			if !second {
				var damaged *DamagedError
				if err := lost.Complete(context.Background()); !errors.As(err, &damaged) || damaged.Pack != n.File() {
					t.Errorf("%s is gone for good: %v", n.File(), err)
				}
				continue
			}
			save(t, lost, "commit 6", noise(6, 1000))
			if err := lost.Complete(context.Background()); err != nil {
				t.Error(err)
			}
			again := reopen(t, o)
			if got := payloads(t, again, 0); len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) {
				t.Errorf("%s was gone: the log is %v, want %v and one more", n.File(), got, want)
			}
			check(t, again)
		}
	}
}

// An object that turned out to be damaged is stored again when it comes by, and
// is whole from then on.
func TestDamagedObjectIsStoredAgain(t *testing.T) {
	s := testStore(t)
	object := noise(1, 5000)
	save(t, s, "one", object, text(2, 100))
	if err := s.reindex(pack.Name{Kind: pack.Log, Tag: 1}, false); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.o.Dir, "log-00000001.pack")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[bytes.Index(data, object[:100])+50] ^= 1
	write(t, file, data)
	again := reopen(t, s.o)
	var damaged *DamagedError
	if _, err := again.Get(nil, oid.Sum(object)); !errors.As(err, &damaged) {
		t.Fatal(err)
	}
	save(t, again, "two", object)
	mustGet(t, again, object)
	mustGet(t, reopen(t, s.o), object)
}

// Bytes that were written wrong, so that every checksum is right, are told by
// the object's id alone.
func TestWrongBytesUnderRightChecksums(t *testing.T) {
	s := testStore(t)
	base := text(1, 5000)
	save(t, s, "one", base)
	right := append([]byte("edited "), base...)
	for i, wrong := range [][]byte{noise(1, 50), append([]byte("EDITED "), base...)} { // whole, and as a delta
		b := s.NewBatch()
		w := b.Writer()
		id := oid.Sum(right[i:])
		if _, err := w.Put(id, wrong, oid.Sum(base)); err != nil {
			t.Fatal(err)
		}
		commitBatch(t, s, b, w, "wrong")
		again := reopen(t, s.o)
		var damaged *DamagedError
		if got, err := again.Get(nil, id); !errors.As(err, &damaged) || len(got) > 0 {
			t.Errorf("wrong bytes %d are handed out: %d, %v", i, len(got), err)
		}
		named := false
		if _, err := again.Verify(t.Context(), true, func(d Damage) { named = named || slices.Contains(d.Objects, id) }, nil); err != nil || !named {
			t.Errorf("verify does not name wrong bytes %d: %v", i, err)
		}
	}
}
