//go:build unix

package remote_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// merge merges what is due.
func (m *machine) merge() (*remote.Merged, error) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return r.Merge(m.t.Context())
}

// pushes saves and pushes, n times.
func (m *machine) pushes(n int) (log string) {
	m.t.Helper()
	for i := range n {
		m.write("f", fmt.Sprint(m.now, i))
		m.save()
		var err error
		if _, log, err = m.push(); err != nil {
			m.t.Fatal(err)
		}
	}
	return log
}

// merges are the names of the merges in a bucket.
func merges(b *faultbucket.Bucket) (all []string) {
	for _, name := range b.Names() {
		if strings.HasPrefix(name, "w/") && strings.Count(name, "-") == 5 {
			all = append(all, name)
		}
	}
	return all
}

func drop(t *testing.T, b *faultbucket.Bucket, names []string) {
	t.Helper()
	for _, name := range names {
		b.Overwrite(name, nil)
	}
}

// TestMerges: small objects become one, and many of these one again; a clone takes few objects then, has the same, and needs none of what was merged.
func TestMerges(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	defer remote.MergeAt(4, 16<<10)()
	m := initialised(t, &now)
	key := m.add()
	log := ""
	for range 18 {
		log = m.pushes(1)
		calls := b.Calls("")
		done, err := m.merge()
		if err != nil {
			t.Fatal(err)
		}
		if b.Calls(faultbucket.List) > 10 || done.Requests != b.Calls("")-calls {
			t.Fatalf("%+v, %d calls, %d of them LIST", done, b.Calls("")-calls, b.Calls(faultbucket.List))
		}
	}
	if n := len(merges(b)); n != 5 {
		t.Fatalf("18 segments made %d merges: %v", n, merges(b))
	}
	m.holds(b, key, log)
	held, err := remote.HeldBy(b)
	if err != nil {
		t.Fatal(err)
	}
	drop(t, b, held)
	drop(t, b, merges(b)[1:4]) // a merge of four merges holds these, too
	if n := len(merges(b)); n != 2 {
		t.Fatal(merges(b))
	}
	m.holds(b, key, log)
	// The pusher finds its log there, and goes on.
	now = now.Add(time.Hour)
	m.pushes(1)
	if done, _, err := m.push(); err != nil || done.Lost || done.Moved {
		t.Fatalf("%+v, %v", done, err)
	}
}

// TestForkInAMerge: a store that was put back continues a segment that is in a merge alone.
func TestForkInAMerge(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	defer remote.MergeAt(4, 16<<10)()
	m := initialised(t, &now)
	key := m.add()
	early := m.pushes(2)
	then := m.open()
	was := history(t, then)
	then.Close()
	c := &machine{t, t.TempDir(), m.home, &now}
	cp(t, m.dir, c.dir)
	log := m.pushes(2)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	held, err := remote.HeldBy(b)
	if err != nil || len(held) != 4 {
		t.Fatalf("%v, %v", held, err)
	}
	drop(t, b, held)
	now = now.Add(time.Hour)
	c.write("g", "fork")
	c.save()
	done, fork, err := c.push()
	if err != nil || done.Lost || !done.Moved || done.Checkpoints != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	m.holds(b, key, log)
	c.holds(b, key, fork)
	// What both continue is a state of its own, which no later push, and no removal in it, changes.
	clone := &machine{t, t.TempDir() + "/clone", t.TempDir(), &now}
	done2, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: clone.options(), URL: "s3://fault/x", Dir: clone.dir, Name: "origin", Key: remote.GivenKey{Text: key}, Log: early})
	if err != nil {
		t.Fatal(err)
	}
	defer done2.Project.Close()
	if got := history(t, done2.Project); !slices.Equal(got, was) || len(done2.Others) != 2 {
		t.Errorf("the state that both continue has %v, not %v; beside it %v", got, was, done2.Others)
	}
}

// TestBadMerge: a merge that is not what its name says stops nobody while the segments are there, and is refused when they are not.
func TestBadMerge(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	defer remote.MergeAt(4, 16<<10)()
	m := initialised(t, &now)
	key := m.add()
	log := m.pushes(5)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	name := merges(b)[0]
	body := b.Peek(name)
	held, err := remote.HeldBy(b)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{"changed": append(bytes.Clone(body[:len(body)-1]), body[len(body)-1]^1), "short": body[:9], "empty": {}} {
		b.Overwrite(name, bad)
		m.holds(b, key, log)
		c := b.Fork()
		drop(t, c, held)
		clone := &machine{t, t.TempDir() + "/clone", t.TempDir(), &now}
		restore := remote.OpenAs(c)
		_, err = remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: clone.options(), URL: "s3://fault/x", Dir: clone.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
		restore()
		var damaged *remote.BadObjectError
		var gap *remote.GapError
		if !errors.As(err, &damaged) && !errors.As(err, &gap) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMergeThatFails: whatever call of a merge fails, what was pushed is there, and a later merge has all.
func TestMergeThatFails(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	b.Unsorted, b.Conditions = true, faultbucket.Unsupported
	defer remote.OpenAs(b)()
	defer remote.MergeAt(3, 16<<10)()
	m := initialised(t, &now)
	key := m.add()
	log := ""
	for _, fault := range []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn, faultbucket.Stale} {
		for fails := 1; ; fails += every(4) {
			log = m.pushes(3)
			first := b.Calls("")
			failed := false
			b.Fail = func(_, _ string, n int) faultbucket.Fault {
				if n == first+fails {
					failed = true
					return fault
				}
				return faultbucket.None
			}
			_, err := m.merge()
			b.Fail = nil
			var unreachable *bucket.UnreachableError
			var bad *remote.BadObjectError
			if err != nil && !errors.As(err, &unreachable) && !errors.As(err, &bad) && fault != faultbucket.Stale {
				t.Fatalf("fault %d in call %d: %v", fault, fails, err)
			}
			if !failed {
				break
			}
		}
		m.holds(b, key, log)
	}
	b.Lag = 2
	m.pushes(3)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	b.Lag = 0
	log = m.pushes(3)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	held, err := remote.HeldBy(b)
	if err != nil {
		t.Fatal(err)
	}
	drop(t, b, held)
	m.holds(b, key, log)
}
