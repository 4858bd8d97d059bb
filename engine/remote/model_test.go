//go:build unix

package remote_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
	"github.com/rewind-cli/rewind/manifest"
)

// machine is a project on a machine of its own.
type machine struct {
	t    *testing.T
	dir  string // of the project
	home string
	now  *time.Time
}

// booted is when all machines were started.
var booted = func() time.Time { return time.Unix(1_700_000_000, 0) }

func (m *machine) env() account.Env {
	return account.Env{Home: m.home, Dir: m.dir, Now: func() time.Time { return *m.now }, Booted: booted,
		Getenv: func(name string) string { return map[string]string{"HOME": m.home}[name] }}
}

func (m *machine) options() project.OpenOptions { return project.OpenOptions{Env: m.env()} }

func (m *machine) open() *project.Project {
	m.t.Helper()
	p, err := project.Open(m.t.Context(), m.options())
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(m.dir, name)), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) save() {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	if _, err := save.Save(m.t.Context(), p, checkpoint.Options{Kind: manifest.Manual}); err != nil {
		m.t.Fatal(err)
	}
}

// push pushes, and reports whether that was done.
func (m *machine) push() (done *remote.Pushed, log string, err error) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	if done, err = r.Push(m.t.Context(), false); err != nil {
		return done, "", err
	}
	log, err = remote.NewestLog(r)
	return done, log, err
}

// history is what a store has: each checkpoint and its tree, oldest first.
func history(t *testing.T, p *project.Project) (all []string) {
	t.Helper()
	err := p.Query(t.Context(), func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			all = append(all, fmt.Sprint(c.ID, c.Root, c.Name, c.Seq))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// holds clones a log, and checks that the clone has all that m has, byte for byte.
func (m *machine) holds(b *faultbucket.Bucket, key, log string) {
	m.t.Helper()
	p := m.open()
	want := history(m.t, p)
	p.Close()
	m.holdsThese(b, key, log, want)
}

// holdsThese clones a log, and checks that the clone has these checkpoints.
func (m *machine) holdsThese(b *faultbucket.Bucket, key, log string, want []string) {
	m.t.Helper()
	defer remote.OpenAs(b.Fork())()
	other := &machine{m.t, filepath.Join(m.t.TempDir(), "clone"), m.t.TempDir(), m.now}
	done, err := remote.Clone(m.t.Context(), remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}, Log: log})
	if err != nil {
		m.t.Fatalf("clone of log %s: %v", log, err)
	}
	defer done.Project.Close()
	got := history(m.t, done.Project)
	has := map[string]bool{}
	for _, c := range got {
		has[c] = true
	}
	for _, c := range want { // the remote keeps also what gc has removed since
		if !has[c] {
			m.t.Fatalf("checkpoint %s of %s was pushed, and is not in the clone: %d of %d", c, m.dir, len(got), len(want))
		}
	}
	v, err := maintain.Verify(m.t.Context(), done.Project, true)
	if err != nil || !v.OK() {
		m.t.Fatalf("the clone is not whole: %+v, %v", v, err)
	}
}

func initialised(t *testing.T, now *time.Time) *machine {
	t.Helper()
	m := &machine{t, t.TempDir(), t.TempDir(), now}
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: m.env(), Root: m.dir}})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	m.save()
	return m
}

func (m *machine) add() (key string) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	done, err := remote.Add(m.t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x"})
	if err != nil {
		m.t.Fatal(err)
	}
	return done.Key.String()
}

func cp(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestWhatWasPushedIsThere: whatever a push has reported, a clone has, byte for byte; where requests fail in every way, where the store
// was copied, and where a machine comes back as a snapshot of itself, within the minute or later.
func TestWhatWasPushedIsThere(t *testing.T) {
	lives := 8
	if testing.Short() {
		lives = 2
	}
	for seed := range lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 27))
			now := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return now }
			b.Conditions = faultbucket.Conditions(r.IntN(3))
			defer remote.OpenAs(b)()
			if seed%2 == 0 {
				defer func(was int) { *remote.ManyObjects = was }(*remote.ManyObjects)
				*remote.ManyObjects = 1
			}
			if seed%3 == 1 {
				defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
				*remote.MaxObject = 4 << 10
			}
			m := initialised(t, &now)
			key := m.add()
			b.Fail = func(op, _ string, _ int) faultbucket.Fault {
				if r.IntN(4) > 0 {
					return faultbucket.None
				}
				return []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn}[r.IntN(3)]
			}
			machines := []*machine{m}
			snapshots := map[*machine]string{}
			pushed := 0
			for range 60 {
				now = now.Add(time.Duration(r.IntN(50)) * time.Second)
				m := machines[r.IntN(len(machines))]
				switch r.IntN(10) {
				case 0, 1, 2, 3:
					text := make([]byte, r.IntN(6000))
					for i := range text {
						text[i] = byte('a' + r.IntN(20))
					}
					m.write(fmt.Sprintf("d%d/f%d", r.IntN(3), r.IntN(4)), string(text))
					m.save()
				case 4, 5, 6, 7:
					done, log, err := m.push()
					var unreachable *bucket.UnreachableError
					var bad *remote.BadObjectError // half of the remote's description came
					if errors.As(err, &unreachable) || errors.As(err, &bad) {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if done.Bytes > 0 { // else what is there may have been continued by others
						pushed++
						m.holds(b, key, log)
					}
				case 8:
					if dir, ok := snapshots[m]; ok && r.IntN(2) == 0 { // the machine comes back as it was
						entries, err := os.ReadDir(m.dir)
						if err != nil {
							t.Fatal(err)
						}
						for _, e := range entries {
							if err := os.RemoveAll(filepath.Join(m.dir, e.Name())); err != nil {
								t.Fatal(err)
							}
						}
						cp(t, dir, m.dir)
						if len(machines) > 1 {
							continue // only the project: its mirror has what came after
						}
						if err := os.RemoveAll(m.home); err != nil {
							t.Fatal(err)
						}
						cp(t, dir+".home", m.home)
						continue
					}
					dir := filepath.Join(t.TempDir(), "snapshot")
					cp(t, m.dir, dir)
					cp(t, m.home, dir+".home")
					snapshots[m] = dir
				case 9:
					if r.IntN(2) == 0 {
						p := m.open()
						_, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 3})
						p.Close()
						if err != nil {
							t.Fatal(err)
						}
						continue
					}
					if len(machines) < 3 { // the project is copied
						c := &machine{t, t.TempDir(), m.home, &now}
						cp(t, m.dir, c.dir)
						machines = append(machines, c)
					}
				}
			}
			if pushed == 0 {
				t.Error("no push came through: nothing was tried")
			}
			b.Fail = nil
			for _, m := range machines {
				m.write("last", m.dir)
				m.save()
				if _, log, err := m.push(); err != nil {
					t.Error(err)
				} else {
					m.holds(b, key, log)
				}
			}
		})
	}
}
