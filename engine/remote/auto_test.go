//go:build unix

package remote_test

import (
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestPausesAfterFailures: a push that failed is not tried again by itself for five seconds, and for twice as long after each further failure, up to five
// minutes; one that comes through ends that. A clock that was set back does not make it wait.
func TestPausesAfterFailures(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	m.add()
	p := m.open()
	defer p.Close()
	wanted := func(want bool, at string) {
		t.Helper()
		if got := remote.Wanted(p); got != want {
			t.Errorf("%s: a push is wanted: %v", at, got)
		}
	}
	wanted(true, "before the first push")
	b.Fail = func(string, string, int) faultbucket.Fault { return faultbucket.Before }
	for n, pause := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300} {
		if _, _, err := m.push(); err == nil {
			t.Fatal("the push did not fail")
		}
		failed := now
		now = failed.Add(pause*time.Second - time.Millisecond)
		wanted(false, "before the pause is over")
		now = failed.Add(-time.Hour)
		wanted(true, "with a clock that was set back")
		now = failed.Add(pause * time.Second)
		wanted(true, "after the pause")
		if r, err := remote.Find(p, ""); err != nil || r.Failure() == nil || r.Failure().Count != n+1 {
			t.Fatalf("after %d failures: %+v, %v", n+1, r, err)
		}
	}
	b.Fail = nil
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	wanted(false, "with nothing new")
	m.save()
	m.write("a", "1")
	m.save()
	wanted(true, "after a push that came through, and a save")
}
