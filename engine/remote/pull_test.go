//go:build unix

package remote_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
	"github.com/rewind-cli/rewind/manifest"
)

// clone makes a machine of what the remote has.
func clone(t *testing.T, now *time.Time, key string) *machine {
	t.Helper()
	m := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), now}
	done, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: m.options(), URL: "s3://fault/x", Dir: m.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Project.Close(); err != nil {
		t.Fatal(err)
	}
	return m
}

// pull pulls, and reports what that did.
func (m *machine) pull(o remote.PullOptions) (*remote.Pulled, error) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return r.Pull(m.t.Context(), o)
}

// pulled is what a machine's pulled logs have beside its own history. Each object of them is read.
func (m *machine) pulled() map[string]bool {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	all, err := p.Pulled()
	if err != nil {
		m.t.Fatal(err)
	}
	has := map[string]bool{}
	for _, l := range all {
		v, err := p.View(l)
		if err != nil {
			m.t.Fatal(err)
		}
		if !l.Whole { // the pull was interrupted
			continue
		}
		needs := reach.Of(p, true)
		err = v.Query(m.t.Context(), func(db *manifest.DB) error {
			for c, err := range db.Checkpoints(manifest.Query{All: true}) {
				if err != nil {
					return err
				}
				if c.Seq <= l.Fork {
					break
				}
				has[fmt.Sprint(c.ID, c.Root, c.Name, c.Seq)] = true
				if err := needs.Record(m.t.Context(), manifest.Record{Checkpoint: &c}); err != nil {
					return err
				}
			}
			return nil
		})
		for _, id := range needs.Added() {
			_, gerr := p.Store.Get(nil, id)
			err = errors.Join(err, gerr)
		}
		if err != nil {
			m.t.Fatalf("what %s pulled of %s: %v", m.dir, l.Name, err)
		}
	}
	return has
}

// TestPullOfForeignObjects: objects that rewind has not written, and torn ones, are left out.
func TestPullOfForeignObjects(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	m.pushes(1)
	c := clone(t, &now, key)
	m.pushes(1)
	for _, name := range []string{"w/x", "w/aaaaaaaaaaaaaaaa/x", "w/aaaaaaaaaaaaaaaa/1-1-0000000000000000-9-0123", "w/aaaaaaaaaaaaaaaa/1-1-0000000000000000-900-00112233445566778899aabbccddeeff"} {
		b.Overwrite(name, []byte("foreign"))
	}
	done, err := c.pull(remote.PullOptions{})
	if err != nil || len(done.Failed) > 0 || len(c.pulled()) == 0 {
		t.Errorf("%+v, %v, %v", done, err, c.pulled())
	}
}

// TestPullsWhatOthersPushed: after each pull that came through, a machine has all that any other one reported as pushed, each object
// of it; where requests fail in every way, beside gc, where stores were copied or put back to a snapshot, and where pulls were interrupted.
// Its own history and its tree are as they were.
func TestPullsWhatOthersPushed(t *testing.T) {
	lives := 8
	if testing.Short() {
		lives = 2
	}
	for seed := range lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 4))
			now := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return now }
			defer remote.OpenAs(b)()
			if seed%3 == 1 {
				defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
				*remote.MaxObject = 4 << 10
			}
			first := initialised(t, &now)
			key := first.add()
			if _, _, err := first.push(); err != nil {
				t.Fatal(err)
			}
			machines := []*machine{first, clone(t, &now, key)}
			own := map[*machine]map[string]bool{} // all that its log ever had
			pushed := map[*machine][]string{}     // what it reported as pushed, by then
			snapshots, owned := map[*machine]string{}, map[*machine]map[string]bool{}
			note := func(m *machine) []string {
				p := m.open()
				defer p.Close()
				h := history(t, p)
				if own[m] == nil {
					own[m] = map[string]bool{}
				}
				for c, err := range p.Store.Commits(1) { // also what was removed here, or before this machine was cloned
					if err != nil {
						t.Fatal(err)
					}
					if r, err := manifest.ParseRecord(c.Payload); err == nil && r.Checkpoint != nil {
						own[m][r.Checkpoint.ID.String()] = true
					}
				}
				return h
			}
			for _, m := range machines {
				note(m)
			}
			fails := func(op, _ string, _ int) faultbucket.Fault {
				if r.IntN(6) > 0 {
					return faultbucket.None
				}
				return []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn, faultbucket.Stale}[r.IntN(4)]
			}
			pulls := 0
			pull := func(m *machine) {
				before := note(m)
				done, err := m.pull(remote.PullOptions{Check: r.IntN(5) == 0})
				if after := note(m); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Fatalf("a pull changed the store's own history")
				}
				if errors.As(err, new(*bucket.UnreachableError)) || errors.As(err, new(*remote.GoneError)) || errors.As(err, new(*remote.BadObjectError)) {
					m.pulled()
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				has := m.pulled()
				if len(done.Failed) > 0 || len(done.Torn) > 0 || b.Fail != nil {
					return // a listing or an object was not whole
				}
				pulls++
				for other, all := range pushed {
					if other == m {
						continue
					}
					living := map[string]bool{}
					if other.t != nil {
						for _, c := range note(other) { // what gc has removed there may have gone from the remote's log since
							living[c] = true
						}
					}
					for _, c := range all {
						if other.t != nil && !living[c] {
							continue
						}
						if !has[c] && !own[m][strings.Fields(c)[0]] {
							t.Fatalf("%s was pushed by %s, and %s has not pulled it", c, other.dir, m.dir)
						}
					}
				}
			}
			for step := range 45 {
				now = now.Add(time.Duration(r.IntN(50)) * time.Second)
				m := machines[r.IntN(len(machines))]
				b.Fail = nil
				if r.IntN(2) == 0 {
					b.Fail = fails
				}
				switch r.IntN(9) {
				case 0, 1, 2:
					text := make([]byte, r.IntN(5000))
					for i := range text {
						text[i] = byte('a' + r.IntN(20))
					}
					m.write(fmt.Sprintf("d%d/f%d", r.IntN(3), r.IntN(4)), string(text))
					m.save()
					note(m)
				case 3, 4:
					_, _, err := m.push()
					if err == nil {
						pushed[m] = note(m)
					} else if !errors.As(err, new(*bucket.UnreachableError)) && !errors.As(err, new(*remote.GoneError)) && !errors.As(err, new(*remote.BadObjectError)) {
						t.Fatal(err)
					}
				case 5, 6:
					pull(m)
				case 7:
					p := m.open()
					_, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 2})
					p.Close()
					if err != nil {
						t.Fatal(err)
					}
					m.pulled()
				case 8:
					b.Fail = nil
					dir, ok := snapshots[m]
					switch {
					case ok && r.IntN(2) == 0: // the machine comes back as it was
						for _, d := range []string{m.dir, m.home} {
							if err := os.RemoveAll(d); err != nil {
								t.Fatal(err)
							}
							if err := os.Mkdir(d, 0o755); err != nil {
								t.Fatal(err)
							}
						}
						cp(t, dir, m.dir)
						cp(t, dir+".home", m.home)
						own[m] = maps.Clone(owned[m])
						note(m)
						pushed[&machine{dir: fmt.Sprint("the life before step ", step, " of ", m.dir)}] = pushed[m]
						pushed[m] = nil
					case len(machines) < 3:
						c := clone(t, &now, key)
						machines = append(machines, c)
						note(c)
					default:
						dir := filepath.Join(t.TempDir(), "snapshot")
						cp(t, m.dir, dir)
						cp(t, m.home, dir+".home")
						snapshots[m], owned[m] = dir, maps.Clone(own[m])
					}
				}
			}
			b.Fail = nil
			for _, m := range machines {
				m.write("last", m.dir)
				m.save()
				now = now.Add(time.Hour)
				if _, _, err := m.push(); err != nil {
					t.Fatal(err)
				}
				pushed[m] = note(m)
			}
			for _, m := range machines {
				pull(m)
				gets := b.Calls(faultbucket.Get)
				pull(m)
				if n := b.Calls(faultbucket.Get) - gets; n > 0 {
					done, err := m.pull(remote.PullOptions{})
					t.Logf("a second pull took %d GETs: %+v, %v", n, done, err)
				}
			}
			if pulls == 0 {
				t.Error("no pull came through: nothing was tried")
			}
		})
	}
}

// TestVerifyOfPulled: verify names what is damaged of a pulled log, apart from the store's own, and a pull that checks mends it.
func TestVerifyOfPulled(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	m.pushes(1)
	c := clone(t, &now, key)
	packs := func() map[string]bool {
		there := map[string]bool{}
		for _, dir := range []string{c.dir, c.home} {
			err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
				if strings.HasPrefix(filepath.Base(name), "data-") {
					there[name] = true
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return there
	}
	before := packs()
	m.write("only", "here")
	m.save()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.pull(remote.PullOptions{}); err != nil {
		t.Fatal(err)
	}
	verified := func() *maintain.Verified {
		t.Helper()
		p := c.open()
		defer p.Close()
		v, err := maintain.Verify(t.Context(), p, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := verified(); len(v.Pulled) > 0 || !v.OK() {
		t.Fatalf("after a pull: %+v", v)
	}
	removed := 0
	for name := range packs() {
		if !before[name] {
			removed++
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if v := verified(); removed == 0 || len(v.Pulled) == 0 || v.Pulled[0].Of == "" || !v.OK() {
		t.Errorf("%d files of what was pulled are gone: %+v", removed, v)
	}
	if _, err := c.pull(remote.PullOptions{Check: true}); err != nil {
		t.Fatal(err)
	}
	if v := verified(); len(v.Pulled) > 0 || !v.OK() {
		t.Errorf("after a pull that checks: %+v", v)
	}
}
