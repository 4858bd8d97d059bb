package cas

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CAS_TEST_SAVER"); dir != "" {
		saveUntilKilled(dir)
		return
	}
	os.Exit(m.Run())
}

func saverOptions(dir string) Options {
	return Options{Dir: filepath.Join(dir, "objects"), Mirror: filepath.Join(dir, "vault"), LockDir: filepath.Join(dir, "lock"), StoreID: [16]byte{5}}
}

// saveUntilKilled saves and prints what it saved once that is durable.
func saveUntilKilled(dir string) {
	s, err := Open(saverOptions(dir))
	if err != nil {
		panic(err)
	}
	s.limits = smallLimits
	for i := 0; ; i++ {
		release, err := s.Use(context.Background())
		if err != nil {
			panic(err)
		}
		b := s.NewBatch()
		w := b.Writer()
		seed := rand.Uint64()
		for j := range 1 + i%12 {
			o := noise(seed+uint64(j), 4000)
			if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
				panic(err)
			}
		}
		if err := w.Flush(); err != nil {
			panic(err)
		}
		a, err := s.Append(context.Background())
		if err != nil {
			panic(err)
		}
		if _, err := a.Commit(b, fmt.Appendf(nil, "%d %d", seed, 1+i%12)); err != nil {
			panic(err)
		}
		fmt.Println(seed, 1+i%12)
		a.Close()
		release()
	}
}

// Processes are killed at random moments, several at a time. All that they
// reported as saved is there, and nothing needs a hand.
func TestKilledProcesses(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var reported []string
	for range rounds(8, 8, 32) {
		var group sync.WaitGroup
		for n := range 4 {
			group.Go(func() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "CAS_TEST_SAVER="+dir)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Error(err)
					return
				}
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				kill := sync.OnceFunc(func() {
					time.AfterFunc(rand.N(300*time.Millisecond), func() { cmd.Process.Kill() })
				})
				if n%2 == 0 { // maybe before it has saved anything: a slow machine takes longer to start
					kill()
				}
				lines := bufio.NewScanner(out)
				for lines.Scan() {
					kill()
					mu.Lock()
					reported = append(reported, lines.Text())
					mu.Unlock()
				}
				_ = lines.Err() // killed in the middle of a line, maybe
				cmd.Wait()
			})
		}
		group.Wait()
		s := reopen(t, saverOptions(dir))
		there := map[string]bool{}
		last := uint64(0)
		for c, err := range s.Commits(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Seq != last+1 {
				t.Fatalf("commit %d after %d", c.Seq, last)
			}
			last = c.Seq
			there[string(c.Payload)] = true
		}
		for _, line := range reported {
			if !there[line] {
				t.Fatalf("%q was reported and is gone", line)
			}
		}
		for line := range there {
			var seed uint64
			var n int
			if _, err := fmt.Sscan(line, &seed, &n); err != nil {
				t.Fatal(err)
			}
			for j := range n {
				mustGet(t, s, noise(seed+uint64(j), 4000))
			}
		}
		check(t, s)
		s.Close()
	}
	if len(reported) == 0 {
		t.Fatal("nothing was saved")
	}
	t.Logf("%d commits", len(reported))
}

// Many stores of one directory at once: nothing is lost, numbers are unique.
func TestManyAtOnce(t *testing.T) {
	first := testStore(t, func(o *Options) { o.NoSync = true })
	const stores, saves = 8, 12
	var group sync.WaitGroup
	for n := range stores {
		s := reopen(t, first.o)
		group.Go(func() {
			for i := range saves {
				save(t, s, fmt.Sprintf("%d/%d", n, i), text(uint64(n), 3000), noise(uint64(n*100+i), 2000))
			}
		})
	}
	// A sweep beside them that drops nothing must lose nothing.
	for range 5 {
		plan, err := first.PlanRepack(RepackOptions{}, func(oid.ID) bool { return true }, func(Commit) bool { return true })
		if err != nil {
			t.Error(err)
			break
		}
		if _, err := plan.Apply(context.Background(), func(Commit) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	s := reopen(t, first.o)
	seen := map[string]bool{}
	last := uint64(0)
	for c, err := range s.Commits(0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Seq != last+1 {
			t.Fatalf("%d after %d", c.Seq, last)
		}
		last = c.Seq
		seen[string(c.Payload)] = true
	}
	for n := range stores {
		for i := range saves {
			if !seen[fmt.Sprintf("%d/%d", n, i)] {
				t.Errorf("save %d/%d is gone", n, i)
			}
			mustGet(t, s, noise(uint64(n*100+i), 2000))
		}
	}
	check(t, s)
}

// An interrupted bulk batch leaves what it flushed, and the next one need not
// store that again.
func TestKilledBatchResumes(t *testing.T) {
	s := testStore(t)
	s.limits = smallLimits
	var objects [][]byte
	for i := range 30 {
		objects = append(objects, noise(uint64(i), 5000))
	}
	b := s.NewBatch()
	w := b.Writer()
	for _, o := range objects {
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.bulk.settled(); err != nil { // and here the process ends
		t.Fatal(err)
	}
	again := reopen(t, s.o)
	again.limits = smallLimits
	b = again.NewBatch()
	w = b.Writer()
	stored := 0
	for _, o := range objects {
		added, err := w.Put(oid.Sum(o), o, oid.ID{})
		if err != nil {
			t.Fatal(err)
		}
		if added {
			stored++
		}
	}
	if stored == 0 || stored > 12 {
		t.Errorf("%d of 30 objects stored again", stored)
	}
	commitBatch(t, again, b, w, "resumed")
	last := reopen(t, s.o)
	for _, o := range objects {
		mustGet(t, last, o)
	}
	check(t, last)
}

func TestDiscardLeavesNothing(t *testing.T) {
	s := testStore(t)
	s.limits = smallLimits
	s.limits.flush = 1 << 20
	b := s.NewBatch()
	w := b.Writer()
	for i := range 12 {
		o := noise(uint64(i), 4000)
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := b.Discard(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.o.Dir, s.o.Mirror} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
}

func TestReadOnly(t *testing.T) {
	s := testStore(t)
	data := text(1, 5000)
	save(t, s, "one", data)
	before := listing(t, filepath.Dir(s.o.Dir))
	o := s.o
	o.ReadOnly = true
	r := reopen(t, o)
	release, err := r.Use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	mustGet(t, r, data)
	if got := fmt.Sprint(payloads(t, r, 0)); got != "[1:one]" {
		t.Error(got)
	}
	check(t, r)
	if err := r.RefreshIndexes(); err != nil {
		t.Error(err)
	}
	release()
	if _, err := r.Append(context.Background()); err == nil {
		t.Error("a read-only store was appended to")
	}
	if err := r.Repair(context.Background(), func(Repaired) {}, nil); err == nil {
		t.Error("a read-only store was repaired")
	}
	if after := listing(t, filepath.Dir(s.o.Dir)); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	// A medium without lock files can be read too.
	o.LockDir = filepath.Join(t.TempDir(), "none")
	if release, err := reopen(t, o).Use(context.Background()); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(path, " ", info.Size(), " ", info.Mode()))
		return nil
	})
	return strings.Join(all, "\n")
}

// Everything that is made is offered to its owner, and nobody else may read it.
func TestOwnerAndModes(t *testing.T) {
	owned := map[string]bool{}
	s := testStore(t, func(o *Options) {
		o.Owner = func(file string) error { owned[file] = true; return nil }
	})
	s.limits = smallLimits
	save(t, s, "one", noise(1, 30_000), text(2, 100))
	save(t, s, "two", noise(2, 30_000))
	if err := s.RefreshIndexes(); err != nil {
		t.Fatal(err)
	}
	repack(t, s, nil, nil)
	top := filepath.Dir(s.o.Dir)
	filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		if path == top {
			return nil
		}
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		second := strings.HasPrefix(path, s.o.Mirror+"/")
		renamed := !owned[path] && strings.HasSuffix(path, pack.IndexSuffix) || strings.HasSuffix(path, generationName) || strings.HasSuffix(path, droppedName) || strings.Contains(path, "log-")
		if !owned[path] && !second && !renamed {
			t.Errorf("%s was not given to its owner", path)
		}
		return nil
	})
	for file := range owned {
		if strings.HasSuffix(file, tmpSuffix) {
			return
		}
	}
	t.Error("no file that is renamed was given to its owner")
}

func TestSetMirror(t *testing.T) {
	s := testStore(t, func(o *Options) { o.Mirror = "" })
	save(t, s, "one", noise(1, 100))
	if s.Mirrored() == nil {
		t.Error("mirrored without a mirror")
	}
	mirror := filepath.Join(t.TempDir(), "deep", "vault")
	if err := s.SetMirror(mirror); err != nil {
		t.Fatal(err)
	}
	if err := s.Mirrored(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(mirror, "log-00000001.pack")); err != nil {
		t.Fatal(err)
	}
	if s.Mirrored() == nil {
		t.Error("the mirror is gone, and nobody says so")
	}
	var fixed []Fix
	if err := s.Repair(context.Background(), func(r Repaired) { fixed = append(fixed, r.What) }, nil); err != nil {
		t.Fatal(err)
	}
	if len(fixed) != 1 || fixed[0] != FixNamed {
		t.Error(fixed)
	}
	if err := s.Mirrored(); err != nil {
		t.Error(err)
	}
}
