package cas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// smallLimits make everything happen that takes a long log or much data.
var smallLimits = limits{bulk: 20 << 10, flush: 30 << 10, dataPack: 60 << 10, objects: 1 << 19, logPack: 20 << 10, logCommits: 8, group: 40 << 10}

// world is a store on a file system that can lose its power, and what it must hold.
type world struct {
	t       *testing.T
	r       *rand.Rand
	fs      *crashfs.FS
	o       Options
	commits map[uint64]*saved // that must be there
	tried   *saved            // reported as failed, or never reported
	pool    [][]byte          // objects to choose from
	random  atomic.Uint64
	seed    uint64
}

type saved struct {
	payload string
	objects [][]byte
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), fs: crashfs.New(), commits: map[uint64]*saved{}}
	for i := range 12 {
		w.pool = append(w.pool, noise(seed*100+uint64(i), 1+w.r.IntN(9000)), text(seed*100+uint64(i), 300+w.r.IntN(9000)))
	}
	w.o = Options{
		Dir: "/store/objects", Mirror: "/home/vault", LockDir: filepath.Join(t.TempDir(), "lock"), StoreID: [16]byte{9},
		Random: func() uint64 { return w.random.Add(1)*0x9e3779b97f4a7c15 + seed },
	}
	return w
}

func (w *world) open() (*Store, error) {
	o := w.o
	o.FS = w.fs
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	s.limits = smallLimits
	return s, nil
}

// save commits some objects, one of them perhaps as an edit of another.
func (w *world) save(s *Store) error {
	release, err := s.Use(context.Background())
	if err != nil {
		return err
	}
	defer release()
	b := s.NewBatch()
	c := &saved{payload: fmt.Sprintf("commit %d", w.r.Uint64())}
	writers := []*Writer{b.Writer(), b.Writer()}
	count := 1 + w.r.IntN(4)
	if w.r.IntN(5) == 0 {
		count = 15 // streams into packs of its own
	}
	for range count {
		old := w.pool[w.r.IntN(len(w.pool))]
		data, base := old, oid.ID{}
		if w.r.IntN(2) == 0 && len(old) > 200 {
			data = append([]byte(fmt.Sprintf("edit %d", w.r.Uint32())), old...)
			base = oid.Sum(old)
			w.pool[w.r.IntN(len(w.pool))] = data
		}
		if _, err := writers[w.r.IntN(2)].Put(oid.Sum(data), data, base); err != nil {
			return errors.Join(err, b.Discard())
		}
		c.objects = append(c.objects, data)
	}
	for _, x := range writers {
		if err := x.Flush(); err != nil {
			return errors.Join(err, b.Discard())
		}
	}
	a, err := s.Append(context.Background())
	if err != nil {
		return errors.Join(err, b.Discard())
	}
	w.tried = c
	p, err := a.Commit(b, []byte(c.payload))
	if err == nil {
		w.commits[p.Seq] = c
		w.tried = nil
	}
	return errors.Join(err, a.Close(), b.Discard())
}

// sweep drops some commits and what only they need.
func (w *world) sweep(s *Store) error {
	newest := uint64(0)
	for seq := range w.commits {
		newest = max(newest, seq)
	}
	drop := map[uint64]bool{}
	for seq := range w.commits {
		if seq != newest && w.r.IntN(3) == 0 {
			drop[seq] = true
		}
	}
	live := map[oid.ID]bool{}
	for seq, c := range w.commits {
		if !drop[seq] {
			for _, o := range c.objects {
				live[oid.Sum(o)] = true
			}
		}
	}
	plan, err := s.PlanRepack(RepackOptions{Recompress: w.r.IntN(2) == 0}, func(id oid.ID) bool { return live[id] }, func(c Commit) bool { return !drop[c.Seq] })
	if err != nil {
		return err
	}
	for seq := range drop {
		delete(w.commits, seq)
	}
	_, err = plan.Apply(context.Background(), func(Commit) error { return nil })
	return err
}

func (w *world) act(s *Store) error {
	switch w.r.IntN(8) {
	case 0:
		return w.sweep(s)
	case 1:
		return s.RefreshIndexes()
	case 2:
		return s.Repair(context.Background(), func(r Repaired) {
			if len(r.Lost) > 0 {
				w.t.Errorf("repair lost objects: %+v", r)
			}
		}, nil)
	}
	return w.save(s)
}

// check demands that all that was reported as saved is there, and that what
// else is there is whole.
func (w *world) check() {
	w.t.Helper()
	s, err := w.open()
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	seen := map[uint64]bool{}
	last := uint64(0)
	for c, err := range s.Commits(0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if c.Seq <= last {
			w.t.Fatalf("commit %d after %d", c.Seq, last)
		}
		last = c.Seq
		seen[c.Seq] = true
		if w.commits[c.Seq] == nil && w.tried != nil && w.tried.payload == string(c.Payload) {
			w.commits[c.Seq] = w.tried // it made it after all, and must be whole
		}
	}
	w.tried = nil
	for seq, c := range w.commits {
		if !seen[seq] {
			w.t.Fatalf("seed %d: commit %d is gone; there are %v", w.seed, seq, seen)
		}
		for i, o := range c.objects {
			if _, err := s.Get(nil, oid.Sum(o)); err != nil {
				w.t.Fatalf("commit %d, object %d: %v", seq, i, err)
			}
		}
	}
	if _, err := s.Verify(context.Background(), true, func(d Damage) {
		w.t.Errorf("damage: %+v", d)
	}, nil); err != nil {
		w.t.Fatal(err)
	}
}

// every is the step through a test's cases: one where all of them are tried, and n where -race tries a share of them, which
// differ in what is where, not in their goroutines.
func every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}

func rounds(short, usual, long int) int {
	switch {
	case os.Getenv("REWIND_SOAK") != "":
		return long
	case testing.Short():
		return short
	}
	return usual
}

// The power goes at any operation. What was reported as saved is there after it.
func TestPowerCut(t *testing.T) {
	for seed := range uint64(rounds(6, 30, 300)) {
		w := newWorld(t, seed)
		for range 8 {
			var left atomic.Int64
			left.Store(w.r.Int64N(250))
			w.fs.Hook = func(op, name string) error {
				if left.Add(-1) < 0 {
					return crashfs.ErrGone
				}
				return nil
			}
			s, err := w.open()
			for range 5 {
				if err == nil {
					err = w.act(s)
				}
			}
			if err != nil && !errors.Is(err, crashfs.ErrGone) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			w.fs.Hook = nil
			if left.Load() < 0 || w.r.IntN(2) == 0 {
				w.fs = w.fs.Crash(w.r)
			}
			w.check()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

// Any one operation fails, or the disk is full from some write on. The process
// goes on, and nothing that was reported as saved is lost.
func TestFailingOperations(t *testing.T) {
	for seed := range uint64(rounds(6, 30, 300)) {
		w := newWorld(t, seed)
		for range 8 {
			var ops atomic.Int64
			ops.Store(w.r.Int64N(250))
			full := w.r.IntN(3) == 0
			w.fs.Hook = func(op, name string) error {
				left := ops.Add(-1)
				if full && left < 0 && (op == "write" || op == "create") {
					return syscall.ENOSPC
				}
				if !full && left == 0 {
					return syscall.EIO
				}
				return nil
			}
			s, err := w.open()
			if err != nil {
				continue
			}
			for range 5 {
				err := w.act(s)
				var damaged *DamagedError
				if err != nil && !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) && !errors.As(err, &damaged) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			w.fs.Hook = nil
			s.Close()
			w.seed = seed
			w.check()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}
