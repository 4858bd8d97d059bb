//go:build unix

package remote_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// putBack makes a directory what it was.
func putBack(t *testing.T, snapshot, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	cp(t, snapshot, dir)
}

// TestSoakPutBack: a machine that was put back to a snapshot, with its project, its store and its account, notices it before it pushes
// anything, whether it comes back with its memory, is started anew, is a container with a new first process, or goes on a minute later. What it had
// pushed later is noted, and can be pulled under the name that the note says. A share is played; make soak plays 1,000.
func TestSoakPutBack(t *testing.T) {
	lives := 24
	if testing.Short() {
		lives = 8
	}
	if os.Getenv("REWIND_SOAK") != "" {
		lives = 1000
	}
	now, began, first := time.Unix(1_800_000_000, 0), time.Unix(1_799_000_000, 0), time.Second
	defer func(was func() time.Time) { booted = was }(booted)
	booted = func() time.Time { return began }
	defer func(was func() time.Duration) { *remote.FirstProcess = was }(*remote.FirstProcess)
	*remote.FirstProcess = func() time.Duration { return first }
	place := faultbucket.New()
	place.Now = func() time.Time { return now }
	restore := remote.OpenAs(place)
	defer restore()
	m := initialised(t, &now)
	m.add()
	m.pushes(1)
	base := filepath.Join(t.TempDir(), "base")
	cp(t, m.dir, base)
	cp(t, m.home, base+".home")
	started := now
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	noticed := 0
	for seed := range lives {
		r := rand.New(rand.NewPCG(uint64(seed), 40))
		putBack(t, base, m.dir)
		putBack(t, base+".home", m.home)
		now, began, first = started, time.Unix(1_799_000_000, 0), time.Second // else a start could fall into the moment of an earlier one
		b := place.Fork()
		b.Now = place.Now
		remote.OpenAs(b)
		push := func(n int) (done *remote.Pushed) {
			t.Helper()
			for range n {
				now = now.Add(time.Duration(r.IntN(20)+1) * time.Second)
				m.write("f", fmt.Sprint(seed, now, r.IntN(1000)))
				m.save()
				var err error
				if done, _, err = m.push(); err != nil {
					t.Fatal(err)
				}
			}
			return done
		}
		push(r.IntN(3))
		taken := now
		for _, dir := range []string{snapshot, snapshot + ".home"} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		cp(t, m.dir, snapshot)
		cp(t, m.home, snapshot+".home")
		push(1 + r.IntN(3))
		putBack(t, snapshot, m.dir)
		putBack(t, snapshot+".home", m.home)
		now = now.Add(time.Duration(r.IntN(8)+1) * time.Second)
		kind := r.IntN(4)
		switch kind {
		case 0: // with its memory: the system has not been running for the time between
			began = began.Add(now.Sub(taken))
		case 1:
			began = now
		case 2:
			first += now.Sub(taken)
		case 3: // the same machine goes on
			now = now.Add(time.Minute)
		}
		p := m.open()
		asked := r.IntN(2) == 0
		if asked {
			if err := remote.Ask(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if len(remote.Laters(p)) != 1 {
				t.Errorf("%d: asked, it does not know of what came later", seed)
			}
		}
		p.Close()
		before := writersOf(b)
		done := push(1)
		if !done.Moved || done.Later == nil || len(writersOf(b)) != len(before)+1 {
			t.Errorf("%d: it was not noticed (way %d): %+v", seed, kind, done)
			continue
		}
		noticed++
		if seed%4 > 0 {
			continue
		}
		p = m.open()
		later := remote.Laters(p)
		if len(later) != 1 {
			t.Fatalf("%d: %+v", seed, later)
		}
		pulled := m.pullAll(p)
		if _, err := p.ViewOf(later[0].Name); err != nil {
			t.Errorf("%d: nothing was pulled as %s: %v", seed, later[0].Name, err)
		}
		if pulled[later[0].Name].Writer != later[0].Writer || len(remote.Laters(p)) > 0 {
			t.Errorf("%d: %+v was pulled, %+v is still to come", seed, pulled, remote.Laters(p))
		}
		p.Close()
	}
	if noticed != lives {
		t.Errorf("%d of %d machines noticed it", noticed, lives)
	}
}

// writersOf are the names of the directories of logs.
func writersOf(b *faultbucket.Bucket) map[string]bool {
	all := map[string]bool{}
	for _, name := range b.Names() {
		if parts := strings.Split(name, "/"); parts[0] == "w" {
			all[parts[1]] = true
		}
	}
	return all
}

// pullAll pulls, and gives what was pulled ever, by name.
func (m *machine) pullAll(p *project.Project) map[string]project.PulledLog {
	m.t.Helper()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := r.Pull(m.t.Context(), remote.PullOptions{}); err != nil {
		m.t.Fatal(err)
	}
	all, err := p.Pulled()
	if err != nil {
		m.t.Fatal(err)
	}
	by := map[string]project.PulledLog{}
	for _, l := range all {
		by[l.Name] = l
	}
	return by
}
