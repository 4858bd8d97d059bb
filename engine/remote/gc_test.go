//go:build unix

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

const day = 24 * time.Hour

// gc collects in the remote.
func (m *machine) gc(o remote.GCOptions) (*remote.Collected, error) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return r.GC(m.t.Context(), o)
}

// noise are n bytes that do not compress.
func noise(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(r.IntN(256))
	}
	return string(text)
}

func count(b *faultbucket.Bucket, prefix string) (n int) {
	for _, name := range b.Names() {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// small makes packs and merges of little, until the function that it gives is called.
func small() (restore func()) {
	was, merges := *remote.MaxObject, remote.MergeAt(3, 16<<10)
	*remote.MaxObject = 8 << 10
	return func() { *remote.MaxObject = was; merges() }
}

// TestGC: what merges hold goes a day after them, and what nothing names a week after it was condemned, by the clock of the server.
func TestGC(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { return now }
	defer remote.OpenAs(b)()
	defer small()()
	r := rand.New(rand.NewPCG(1, 1))
	mine := now.Add(-time.Hour) // the machine's clock is an hour behind
	m := initialised(t, &mine)
	key := m.add()
	m.write("big", noise(r, 30_000))
	log := m.pushes(8)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	live := count(b, "d/")
	if live == 0 || len(merges(b)) == 0 {
		t.Fatal(b.Names())
	}
	b.Overwrite("d/5-"+strings.Repeat("ab", 16), []byte("12345"))
	b.Overwrite("d/6-"+strings.Repeat("ab", 16), []byte("12345"))
	segments := count(b, "w/")

	try := func(dry bool, merged, dead, condemned int) {
		t.Helper()
		before := len(b.Names())
		done, err := m.gc(remote.GCOptions{DryRun: dry})
		if err != nil || done.Merged.Objects != merged || done.Dead.Objects != dead || done.Condemned != condemned || len(done.Refused) > 0 {
			t.Fatalf("%+v, %v", done, err)
		}
		if dry && len(b.Names()) != before {
			t.Errorf("a dry run changed the remote: %v", b.Names())
		}
		m.holds(b, key, log)
	}
	try(true, 0, 0, 2)
	try(false, 0, 0, 2)
	now = now.Add(day - time.Minute)
	try(false, 0, 0, 0)
	now = now.Add(time.Minute)
	held, err := remote.HeldBy(b)
	if err != nil {
		t.Fatal(err)
	}
	try(true, len(held), 0, 0)
	b.WriteOnce = true
	done, err := m.gc(remote.GCOptions{})
	if err != nil || len(done.Refused) == 0 || done.Merged.Objects != 0 {
		t.Errorf("a locked bucket: %+v, %v", done, err)
	}
	b.WriteOnce = false
	try(false, len(held), 0, 0)
	if n := count(b, "w/"); n != segments-len(held) {
		t.Errorf("%d of %d segments are left", n, segments)
	}
	now = now.Add(6*day - time.Minute)
	try(false, 0, 1, 0) // what asked for the time in the locked bucket
	now = now.Add(time.Minute)
	try(true, 0, 2, 0)
	try(false, 0, 2, 0)
	try(false, 0, 0, 0)
	if count(b, "d/") != live || count(b, "g/") != 0 || count(b, "z/") != 0 {
		t.Error(b.Names())
	}
	log = m.pushes(1)
	m.holds(b, key, log)

	// A gap stops it.
	names := b.Names()
	for _, name := range names {
		if strings.HasPrefix(name, "w/") {
			c := b.Fork()
			c.Now = b.Now
			c.Overwrite(name, nil)
			restore := remote.OpenAs(c)
			before := len(c.Names())
			_, err := m.gc(remote.GCOptions{})
			restore()
			var unsure *remote.UnsureError
			if !errors.As(err, &unsure) && !strings.Contains(name, log) && err != nil || len(c.Names()) < before {
				t.Errorf("without %s: %v", name, err)
			}
		}
	}
}

// TestGCOfALog: the log of a machine that is gone is removed as far as no other one continues it, and never the own one.
func TestGCOfALog(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	defer small()()
	m := initialised(t, &now)
	key := m.add()
	m.pushes(2)
	c := &machine{t, t.TempDir(), m.home, &now}
	cp(t, m.dir, c.dir)
	log := m.pushes(5)
	now = now.Add(time.Hour)
	c.write("big", noise(rand.New(rand.NewPCG(1, 1)), 30_000))
	fork := c.pushes(4)
	if _, err := c.merge(); err != nil {
		t.Fatal(err)
	}
	packs := count(b, "d/")
	var own *remote.OwnLogError
	if _, err := c.gc(remote.GCOptions{Log: fork}); !errors.As(err, &own) {
		t.Errorf("the own log: %v", err)
	}
	var none *remote.NoLogError
	if _, err := m.gc(remote.GCOptions{Log: "0000"}); !errors.As(err, &none) {
		t.Errorf("no log: %v", err)
	}
	done, err := m.gc(remote.GCOptions{Log: fork})
	if err != nil || done.Log.Objects != 5 || done.Condemned != packs {
		t.Fatalf("%+v, %v", done, err)
	}
	m.holds(b, key, log)
	// It was not gone after all.
	now = now.Add(time.Hour)
	c.write("big", "small")
	c.save()
	again, fork, err := c.push()
	if err != nil || !again.Lost {
		t.Fatalf("%+v, %v", again, err)
	}
	c.holds(b, key, fork)
	now = now.Add(8 * day)
	if done, err = m.gc(remote.GCOptions{}); err != nil || done.Dead.Objects < packs {
		t.Fatalf("%+v, %v", done, err)
	}
	m.holds(b, key, log)
	c.holds(b, key, fork)
}

// TestPushAfterCondemnation: a push that relies on packs which gc has condemned, or removed, sends them anew, also where the machine slept
// between a pack and the segment that names it.
func TestPushAfterCondemnation(t *testing.T) {
	for _, when := range []string{"d/", "w/"} { // the put that fails, or that comes late
		for _, removed := range []bool{false, true} {
			t.Run(fmt.Sprint(when, removed), func(t *testing.T) {
				now := time.Unix(1_800_000_000, 0)
				b := faultbucket.New()
				b.Now = func() time.Time { return now }
				defer remote.OpenAs(b)()
				defer small()()
				m := initialised(t, &now)
				key := m.add()
				m.pushes(1)
				other := &machine{t, filepath.Join(t.TempDir(), "clone"), m.home, &now}
				done, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
				if err != nil {
					t.Fatal(err)
				}
				done.Project.Close()
				sweep := func() {
					now = now.Add(time.Hour)
					if _, err := other.gc(remote.GCOptions{}); err != nil {
						t.Fatal(err)
					}
					if removed {
						now = now.Add(8 * day)
						if _, err := other.gc(remote.GCOptions{}); err != nil {
							t.Fatal(err)
						}
					}
				}
				r := rand.New(rand.NewPCG(1, 1))
				for n := range 8 {
					m.write(fmt.Sprint("big", n), noise(r, 10_000))
				}
				m.save()
				puts := 0
				b.Fail = func(op, name string, _ int) faultbucket.Fault {
					if op == faultbucket.Put && strings.HasPrefix(name, when) {
						if puts++; when == "d/" && puts == 2 {
							return faultbucket.Before
						}
					}
					return faultbucket.None
				}
				if when == "w/" {
					slow := &asleep{Bucket: b, before: sweep}
					restore := remote.OpenAs(slow)
					_, log, err := m.push()
					restore()
					if err != nil || slow.slept == 0 {
						t.Fatalf("slept %d times: %v", slow.slept, err)
					}
					m.holds(b, key, log)
					return
				}
				var unreachable *bucket.UnreachableError
				if _, _, err := m.push(); !errors.As(err, &unreachable) {
					t.Fatal(err)
				}
				b.Fail = nil
				sweep()
				pushed, log, err := m.push()
				if err != nil || pushed.Lost {
					t.Fatalf("%+v, %v", pushed, err)
				}
				now = now.Add(8 * day)
				if _, err := other.gc(remote.GCOptions{}); err != nil {
					t.Fatal(err)
				}
				m.holds(b, key, log)
			})
		}
	}
}

// asleep is a bucket of a machine that sleeps before it puts a segment.
type asleep struct {
	*faultbucket.Bucket
	before func()
	slept  int
}

func (a *asleep) Put(ctx context.Context, name string, body []byte) error {
	if strings.HasPrefix(name, "w/") && a.slept == 0 {
		a.slept++
		restore := remote.OpenAs(a.Bucket)
		a.before()
		restore()
	}
	return a.Bucket.Put(ctx, name, body)
}

// TestGCThatFails: whatever call of gc fails, in whatever way, all that was pushed is there.
func TestGCThatFails(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { return now }
	defer remote.OpenAs(b)()
	defer small()()
	m := initialised(t, &now)
	key := m.add()
	m.write("big", noise(rand.New(rand.NewPCG(1, 1)), 20_000))
	log := m.pushes(4)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	b.Overwrite("d/5-"+strings.Repeat("ab", 16), []byte("12345"))
	b.Overwrite("d/6-"+strings.Repeat("ab", 16), []byte("12345"))
	now = now.Add(2 * day)
	states := []*faultbucket.Bucket{b.Fork()}
	if _, err := m.gc(remote.GCOptions{}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(8 * day)
	states = append(states, b.Fork())
	for _, state := range states {
		for _, fault := range []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn, faultbucket.Stale, faultbucket.Denied} {
			for fails := 1; ; fails += every(4) {
				c := state.Fork()
				c.Now = b.Now
				failed := false
				c.Fail = func(_, _ string, n int) faultbucket.Fault {
					if n == fails {
						failed = true
						return fault
					}
					return faultbucket.None
				}
				restore := remote.OpenAs(c)
				_, _ = m.gc(remote.GCOptions{})
				c.Fail = nil
				if failed {
					if _, err := m.gc(remote.GCOptions{}); err != nil {
						t.Errorf("after fault %d in call %d: %v", fault, fails, err)
					}
				}
				restore()
				m.holds(c, key, log)
				if !failed {
					break
				}
			}
		}
	}
}
