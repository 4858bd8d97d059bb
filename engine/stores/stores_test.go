package stores_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
)

// second makes another project beside a lab's, on the same account.
func (l *lab) second(name string) *lab {
	l.T.Helper()
	other := &lab{l.In(filepath.Join(filepath.Dir(l.Root), name))}
	if err := os.Mkdir(other.Root, 0o755); err != nil {
		l.T.Fatal(err)
	}
	other.Write("a", name)
	p, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: other.Options()})
	if err != nil {
		l.T.Fatal(err)
	}
	p.Close()
	return other
}

func (l *lab) move(to string) {
	l.T.Helper()
	if err := os.Rename(l.Root, filepath.Join(filepath.Dir(l.Root), to)); err != nil {
		l.T.Fatal(err)
	}
}

// idOf is the id of the store that was made in this directory.
func (l *lab) idOf() string {
	l.T.Helper()
	p := l.Open()
	defer p.Close()
	return p.ID.String()
}

func (l *lab) stores() map[string]stores.Info {
	l.T.Helper()
	list, err := stores.List(context.Background(), l.Env)
	if err != nil {
		l.T.Fatal(err)
	}
	found := map[string]stores.Info{}
	for _, s := range list {
		found[s.ID] = s
	}
	return found
}

// What has become of each store, and what may be taken away without force.
func TestStatesOfStores(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	want := map[string]account.State{l.idOf(): account.Live}
	make := func(name string, state account.State, fate func(*lab, string)) {
		other := l.second(name)
		id := other.idOf()
		fate(other, id)
		want[id] = state
	}
	make("gone", account.Gone, func(o *lab, _ string) { os.RemoveAll(o.Root) })
	make("moved", account.Moved, func(o *lab, _ string) { o.move("elsewhere") })
	make("replaced", account.Replaced, func(o *lab, _ string) {
		os.RemoveAll(o.Root)
		os.Mkdir(filepath.Dir(o.Root)+"/in-between", 0o755) // takes the inode, where it is given out at once
		os.Mkdir(o.Root, 0o755)
	})
	make("movedreplaced", account.Moved, func(o *lab, _ string) {
		o.move("elsewhere2")
		os.Mkdir(o.Root, 0o755)
	})
	make("lost", account.Lost, func(o *lab, _ string) { o.Remove(".agent") })
	make("unregistered", account.Unregistered, func(o *lab, id string) {
		parsed, _ := account.ParseStoreID(id)
		if err := account.Register(t.Context(), o.Env, account.KnownStore{ID: parsed}, true); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(o.Root)
	})
	make("going", account.Going, func(o *lab, id string) {
		known, err := stores.Find(o.Env, id)
		if err != nil {
			t.Fatal(err)
		}
		known.Going = true
		if err := account.Register(t.Context(), o.Env, known, false); err != nil {
			t.Fatal(err)
		}
	})
	got := l.stores()
	if len(got) != len(want) {
		t.Errorf("%d stores, want %d", len(got), len(want))
	}
	for id, state := range want {
		s := got[id]
		if s.State != state {
			t.Errorf("%s is %s, want %s", s.Root, s.State, state)
		}
		if s.Bytes == 0 || s.Mirror == "" || s.LastSave.IsZero() {
			t.Errorf("%s: %+v", state, s)
		}
		if (s.Checkpoints == 1) != (state == account.Live) {
			t.Errorf("%s has %d checkpoints", state, s.Checkpoints)
		}
		r, err := stores.PlanRemoval(t.Context(), l.Env, id[:8])
		if err != nil {
			t.Fatal(err)
		}
		if (r.Refused == "") != state.Dead() {
			t.Errorf("%s: refused %q", state, r.Refused)
		}
	}
	// Names in the mirror are counted once.
	live := got[l.idOf()]
	if bytes := stores.DiskBytes(live.Store) + stores.DiskBytes(live.Mirror); live.Bytes >= bytes {
		t.Errorf("%d bytes of %d: links are counted twice", live.Bytes, bytes)
	}
	for id, state := range want {
		if !state.Dead() {
			continue
		}
		r, err := stores.PlanRemoval(t.Context(), l.Env, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(t.Context(), 0); err != nil {
			t.Errorf("%s: %v", state, err)
		}
		if _, there := l.stores()[id]; there || account.Exists(mirrorDirOf(l.Env, id)) {
			t.Errorf("%s is still there", state)
		}
	}
	if state := l.stores()[l.idOf()].State; state != account.Live {
		t.Errorf("the living one is %s", state)
	}
}

func mirrorDirOf(env account.Env, id string) string {
	return filepath.Join(env.AccountDir(), "vault", id)
}

func (l *lab) planDeinit() *stores.Removal {
	l.T.Helper()
	r, err := stores.PlanDeinit(context.Background(), l.Options())
	if err != nil {
		l.T.Fatal(err)
	}
	return r
}

// A store that is used is not taken away, and one that was shown is the one that goes.
func TestRemovalOfAStoreThatIsUsed(t *testing.T) {
	for _, name := range account.StoreLocks {
		l := newLab(t)
		l.Write("a", "1")
		l.Init()
		r := l.planDeinit()
		lock, err := account.LockFile(t.Context(), filepath.Join(r.Store, account.LockName, name), name, name != "users")
		if err != nil {
			t.Fatal(err)
		}
		if s := l.stores()[l.idOf()]; !s.InUse {
			t.Errorf("%s is held, and the store not in use", name)
		}
		var busy *account.BusyError
		if err := r.Apply(t.Context(), 20*time.Millisecond); !errors.As(err, &busy) {
			t.Errorf("%s: %v", name, err)
		}
		lock.Release()
		if state := l.stores()[l.idOf()].State; state != account.Live {
			t.Errorf("%s: then it is %s", name, state)
		}
	}
}

func TestRemovalOfWhatChangedMeanwhile(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	gone := l.second("gone")
	id := gone.idOf()
	gone.move("away")
	r, err := stores.PlanRemoval(t.Context(), l.Env, id)
	if err != nil {
		t.Fatal(err)
	}
	back := &lab{gone.In(filepath.Join(filepath.Dir(gone.Root), "away"))}
	back.move("gone") // it is alive again
	var refused *project.RefusedError
	if err := r.Apply(t.Context(), 0); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	gone.Verify()
	r = gone.planDeinit()
	if err := gone.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: gone.Options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := r.Apply(t.Context(), 0); !errors.As(err, &refused) { // that was the store before
		t.Errorf("%v", err)
	}
	gone.Verify()
}

// Who has opened a store that is taken away then makes nothing of it again.
func TestSaveIntoARemovedStore(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := l.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	l.Write("a", "2")
	if _, err := save.Save(t.Context(), p, checkpoint.Options{}); err == nil {
		t.Error("it was saved")
	}
	if _, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 1}); err == nil {
		t.Error("it was collected")
	}
	if account.Exists(filepath.Join(l.Root, ".agent")) || len(l.stores()) > 0 {
		t.Error("it is there again")
	}
}

// A copy takes nothing of the original along, whether its files were copied or linked.
func TestDeinitOfACopy(t *testing.T) {
	for _, link := range []bool{false, true} {
		l := newLab(t)
		l.Write("a", "1")
		l.Init()
		copied := &lab{l.In(filepath.Join(filepath.Dir(l.Root), "copy"))}
		copyDir(t, l.Root, copied.Root, link)
		r := copied.planDeinit()
		if !r.Copy || r.Mirror != "" || len(r.Kept) != 1 {
			t.Errorf("linked %v: %+v", link, r)
		}
		if err := r.Apply(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if account.Exists(filepath.Join(copied.Root, ".agent")) {
			t.Error("the copy has its store still")
		}
		l.Verify()
		if s := l.stores()[l.idOf()]; s.State != account.Live || s.Mirror == "" {
			t.Errorf("linked %v: the original: %+v", link, s)
		}
	}
}

func copyDir(t *testing.T, from, to string, link bool) {
	t.Helper()
	err := filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, file)
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case link:
			return os.Link(file, target)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever is made a link at the last moment, nothing is removed behind it.
func TestRemovalFollowsNoLink(t *testing.T) {
	for _, at := range []string{".agent", ".agent/rewind", ".agent/rewind/objects", "vault"} {
		t.Run(at, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			l.Init()
			outside := filepath.Join(filepath.Dir(l.Root), "outside")
			precious := filepath.Join(outside, "rewind", "objects", "precious")
			for _, file := range []string{precious, filepath.Join(outside, "objects", "precious"), filepath.Join(outside, "precious")} {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := l.planDeinit()
			swapped := filepath.Join(l.Root, filepath.FromSlash(at))
			if at == "vault" {
				swapped = r.Mirror
			}
			aside := filepath.Join(filepath.Dir(l.Root), "aside")
			if err := os.Rename(swapped, aside); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, swapped); err != nil {
				t.Fatal(err)
			}
			err := r.Apply(t.Context(), 0)
			t.Logf("%v", err)
			for _, file := range []string{precious, filepath.Join(outside, "objects", "precious"), filepath.Join(outside, "precious")} {
				if !account.Exists(file) {
					t.Errorf("%s is gone", file)
				}
			}
			if err != nil { // put back, it can be removed
				os.Remove(swapped)
				if err := os.Rename(aside, swapped); err != nil {
					t.Fatal(err)
				}
				if err := l.planDeinit().Apply(t.Context(), 0); err != nil {
					t.Error(err)
				}
			}
			if len(l.stores()) > 0 {
				t.Error("it is still listed")
			}
			l.Init() // for the lab's own check at the end
		})
	}
}

// What hooks remember of sessions goes with the project that it is certainly of.
func TestDeinitAndSessions(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	for id, s := range map[string]account.SessionState{
		"of-it": {Dir: l.Root, Exact: true}, "below-it": {Dir: filepath.Join(l.Root, "sub")},
		"looked-for": {Dir: l.Root}, "another": {Dir: l.Home, Exact: true},
	} {
		if err := account.UpdateSession(t.Context(), l.Env, "claude", id, func(now *account.SessionState) { *now = s }); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for id, stays := range map[string]bool{"of-it": false, "below-it": true, "looked-for": true, "another": true} {
		if got := account.LoadSession(l.Env, "claude", id).Dir != ""; got != stays {
			t.Errorf("%s: there %v, want %v", id, got, stays)
		}
	}
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}
