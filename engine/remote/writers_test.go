//go:build unix

package remote_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// writer is a machine with a clock of its own, and what its last push reported, in this life and in each that it was put back from.
type writer struct {
	*machine
	ahead time.Duration // of the server's clock
	life
	before   []life
	snapshot string
}

// life is a log, and what a clone of it has.
type life struct {
	log string
	has []string
}

// lives are all that a writer has pushed and nobody has removed.
func (w *writer) lives() (all []life) {
	for _, l := range append(w.before, w.life) {
		if l.log != "" {
			all = append(all, l)
		}
	}
	return all
}

// forgets takes logs that are gone for removed.
func (w *writer) forgets(gone func(log string) bool) {
	for i := range w.before {
		if gone(w.before[i].log) {
			w.before[i].log = ""
		}
	}
	if gone(w.log) {
		w.log = ""
	}
}

// every is the step through a test's faults: one where all of them are tried, and n where -race tries a share of them.
func every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}

// TestManyWriters: three machines, with clocks an hour apart, push, merge and collect in one remote for weeks, where requests fail and listings lag behind, and
// come back as snapshots of themselves. What any of them reported as pushed, in any of its lives, a clone has at any time, unless its log was removed by name.
func TestManyWriters(t *testing.T) {
	lives := 6
	if testing.Short() {
		lives = 2
	}
	putBacks, moved, relied := 0, 0, 0
	for seed := range lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 5))
			server := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return server }
			b.Conditions = faultbucket.Conditions(r.IntN(3))
			b.Unsorted = seed%3 == 2
			defer remote.OpenAs(b)()
			defer small()()
			first := server
			writers := []*writer{{machine: initialised(t, &first)}}
			taken := map[*writer]life{} // of the snapshots
			key := writers[0].add()
			pass := func(d time.Duration) {
				server = server.Add(d)
				for _, w := range writers {
					*w.now = server.Add(w.ahead)
				}
			}
			for i := range 2 {
				w := &writer{ahead: []time.Duration{-time.Hour, time.Hour}[i]}
				if i == 0 { // a machine of its own, which has the key
					at := server
					w.machine = &machine{t, t.TempDir(), t.TempDir(), &at}
					made, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: w.env(), Root: w.dir}})
					if err != nil {
						t.Fatal(err)
					}
					made.Close()
					w.save()
					p := w.open()
					if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x", Key: remote.GivenKey{Text: key}}); err != nil {
						t.Fatal(err)
					}
					p.Close()
				} else { // a clone
					writers[0].pushes(4)
					at := server
					w.machine = &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &at}
					done, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: w.options(), URL: "s3://fault/x", Dir: w.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
					if err != nil {
						t.Fatal(err)
					}
					done.Project.Close()
				}
				writers = append(writers, w)
			}
			if _, err := writers[0].merge(); err != nil {
				t.Fatal(err)
			}
			pass(2 * 24 * time.Hour)
			if done, err := writers[0].gc(remote.GCOptions{}); err != nil || done.Merged.Objects == 0 { // a log is in a merge alone
				t.Fatalf("%+v, %v", done, err)
			}
			rate := 0
			b.Fail = func(op, _ string, _ int) faultbucket.Fault {
				if rate == 0 || r.IntN(rate) > 0 {
					return faultbucket.None
				}
				faults := []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn}
				if op == faultbucket.List {
					faults = faults[:2] // half a listing without an error is for clones and pushes, which lose nothing by it
				}
				return faults[r.IntN(len(faults))]
			}
			expected := func(err error) bool {
				var unreachable *bucket.UnreachableError
				var bad *remote.BadObjectError
				var unsure *remote.UnsureError
				var own *remote.OwnLogError
				return err == nil || errors.As(err, &unreachable) || errors.As(err, &bad) || errors.As(err, &unsure) || errors.As(err, &own)
			}
			for range 70 {
				pass(time.Duration(r.IntN(100)) * time.Second)
				w := writers[r.IntN(len(writers))]
				b.Lag = 0
				if seed%2 == 1 {
					b.Lag = r.IntN(3)
				}
				switch op := r.IntN(23); {
				case op < 12:
					w.write(fmt.Sprint("f", r.IntN(3)), noise(r, 200))
					if op < 2 { // what is large is in several projects
						shared := rand.New(rand.NewPCG(uint64(r.IntN(6)), 27))
						for n := range 3 {
							w.write(fmt.Sprint("large", n), noise(shared, 30_000))
						}
					}
					w.save()
					rate = 8
					done, log, err := w.push()
					rate = 0
					if !expected(err) {
						t.Fatal(err)
					}
					if err == nil && done.Bytes > 0 {
						relied += done.Relied
						p := w.open()
						w.life = life{log, history(t, p)}
						p.Close()
						if done.Moved {
							moved++
						}
					}
				case op < 15:
					rate = 10
					_, err := w.merge()
					rate = 0
					if !expected(err) {
						t.Fatal(err)
					}
				case op < 18:
					pass(time.Duration(r.IntN(5*24)) * time.Hour)
					rate = []int{0, 40}[r.IntN(2)]
					_, err := w.gc(remote.GCOptions{})
					rate = 0
					if !expected(err) {
						t.Fatal(err)
					}
				case op < 21:
					if w.snapshot != "" && r.IntN(2) == 0 { // it comes back as it was then
						putBack(t, w.snapshot, w.dir)
						putBack(t, w.snapshot+".home", w.home)
						w.before, w.life = append(w.before, w.life), taken[w]
						pass(time.Duration(r.IntN(3)) * time.Minute)
						putBacks++
						continue
					}
					w.snapshot = filepath.Join(t.TempDir(), "snapshot")
					cp(t, w.dir, w.snapshot)
					cp(t, w.home, w.snapshot+".home")
					taken[w] = w.life
				case op < 22: // a torn object, and one that nothing needs
					b.Overwrite(fmt.Sprintf("d/9-%032x", r.Uint64()), []byte("nothing"))
				default:
					v := writers[r.IntN(len(writers))]
					if v.log == "" || v == w {
						continue
					}
					_, err := w.gc(remote.GCOptions{Log: v.log})
					var none *remote.NoLogError
					if !expected(err) && !errors.As(err, &none) {
						t.Fatal(err)
					}
					if err == nil { // the others find out when they push again
						for _, v := range writers {
							v.forgets(func(log string) bool { return !there(t, b, log) })
							if l := taken[v]; !there(t, b, l.log) {
								taken[v] = life{}
							}
						}
					}
				}
				for _, w := range writers {
					for _, l := range w.lives() {
						if r.IntN(4) == 0 {
							w.holdsThese(b, key, l.log, l.has)
						}
					}
				}
			}
			b.Lag = 0
			for _, w := range writers {
				pass(2 * time.Minute)
				w.write("last", w.dir)
				w.save()
				_, log, err := w.push()
				if err != nil {
					t.Fatal(err)
				}
				w.holds(b, key, log)
				for _, l := range w.lives() {
					w.holdsThese(b, key, l.log, l.has)
				}
			}
		})
	}
	t.Logf("%d packs of others were relied on", relied)
	if putBacks < lives || moved == 0 || relied == 0 && !testing.Short() {
		t.Errorf("machines came back %d times, %d logs were begun anew, and %d packs of others were relied on: too little was tried", putBacks, moved, relied)
	}
}

// there reports whether a bucket shows a log.
func there(t *testing.T, b *faultbucket.Bucket, log string) bool {
	t.Helper()
	for _, name := range b.Names() {
		parts := strings.Split(name, "-")
		if n := len(parts); log != "" && n >= 5 && parts[n-2] == fmt.Sprint(len(b.Peek(name))) && (strings.HasPrefix(parts[n-1], log) || n == 6 && parts[3] == log) {
			return true
		}
	}
	return false
}
