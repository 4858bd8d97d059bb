package engine

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
	l.t.Helper()
	other := *l
	other.root = filepath.Join(filepath.Dir(l.root), name)
	other.env.Dir = other.root
	if err := os.Mkdir(other.root, 0o755); err != nil {
		l.t.Fatal(err)
	}
	other.write("a", name)
	p, _, _, err := save.Init(context.Background(), stores.InitOptions{OpenOptions: other.options()})
	if err != nil {
		l.t.Fatal(err)
	}
	p.Close()
	return &other
}

func (l *lab) move(to string) {
	l.t.Helper()
	if err := os.Rename(l.root, filepath.Join(filepath.Dir(l.root), to)); err != nil {
		l.t.Fatal(err)
	}
}

// idOf is the id of the store that was made in this directory.
func (l *lab) idOf() string {
	l.t.Helper()
	p := l.open()
	defer p.Close()
	return p.ID.String()
}

func (l *lab) stores() map[string]stores.Info {
	l.t.Helper()
	list, err := stores.List(context.Background(), l.env)
	if err != nil {
		l.t.Fatal(err)
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
	l.write("a", "1")
	l.init()
	want := map[string]account.State{l.idOf(): account.Live}
	make := func(name string, state account.State, fate func(*lab, string)) {
		other := l.second(name)
		id := other.idOf()
		fate(other, id)
		want[id] = state
	}
	make("gone", account.Gone, func(o *lab, _ string) { os.RemoveAll(o.root) })
	make("moved", account.Moved, func(o *lab, _ string) { o.move("elsewhere") })
	make("replaced", account.Replaced, func(o *lab, _ string) {
		os.RemoveAll(o.root)
		os.Mkdir(filepath.Dir(o.root)+"/in-between", 0o755) // takes the inode, where it is given out at once
		os.Mkdir(o.root, 0o755)
	})
	make("movedreplaced", account.Moved, func(o *lab, _ string) {
		o.move("elsewhere2")
		os.Mkdir(o.root, 0o755)
	})
	make("lost", account.Lost, func(o *lab, _ string) { o.remove(".agent") })
	make("unregistered", account.Unregistered, func(o *lab, id string) {
		parsed, _ := account.ParseStoreID(id)
		if err := account.Register(t.Context(), o.env, account.KnownStore{ID: parsed}, true); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(o.root)
	})
	make("going", account.Going, func(o *lab, id string) {
		known, err := stores.Find(o.env, id)
		if err != nil {
			t.Fatal(err)
		}
		known.Going = true
		if err := account.Register(t.Context(), o.env, known, false); err != nil {
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
		r, err := stores.PlanRemoval(t.Context(), l.env, id[:8])
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
		r, err := stores.PlanRemoval(t.Context(), l.env, id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Apply(t.Context(), 0); err != nil {
			t.Errorf("%s: %v", state, err)
		}
		if _, there := l.stores()[id]; there || account.Exists(mirrorDirOf(l.env, id)) {
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
	l.t.Helper()
	r, err := stores.PlanDeinit(context.Background(), l.options())
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

// A store that is used is not taken away, and one that was shown is the one that goes.
func TestRemovalOfAStoreThatIsUsed(t *testing.T) {
	for _, name := range account.StoreLocks {
		l := newLab(t)
		l.write("a", "1")
		l.init()
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
	l.write("a", "1")
	l.init()
	gone := l.second("gone")
	id := gone.idOf()
	gone.move("away")
	r, err := stores.PlanRemoval(t.Context(), l.env, id)
	if err != nil {
		t.Fatal(err)
	}
	back := *gone
	back.root = filepath.Join(filepath.Dir(gone.root), "away")
	back.move("gone") // it is alive again
	var refused *project.RefusedError
	if err := r.Apply(t.Context(), 0); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	gone.verify()
	r = gone.planDeinit()
	if err := gone.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: gone.options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := r.Apply(t.Context(), 0); !errors.As(err, &refused) { // that was the store before
		t.Errorf("%v", err)
	}
	gone.verify()
}

// Who has opened a store that is taken away then makes nothing of it again.
func TestSaveIntoARemovedStore(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.options()})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := l.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	l.write("a", "2")
	if _, err := save.Save(t.Context(), p, checkpoint.Options{}); err == nil {
		t.Error("it was saved")
	}
	if _, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 1}); err == nil {
		t.Error("it was collected")
	}
	if account.Exists(filepath.Join(l.root, ".agent")) || len(l.stores()) > 0 {
		t.Error("it is there again")
	}
}

// A copy takes nothing of the original along, whether its files were copied or linked.
func TestDeinitOfACopy(t *testing.T) {
	for _, link := range []bool{false, true} {
		l := newLab(t)
		l.write("a", "1")
		l.init()
		copied := *l
		copied.root = filepath.Join(filepath.Dir(l.root), "copy")
		copied.env.Dir = copied.root
		copyDir(t, l.root, copied.root, link)
		r := copied.planDeinit()
		if !r.Copy || r.Mirror != "" || len(r.Kept) != 1 {
			t.Errorf("linked %v: %+v", link, r)
		}
		if err := r.Apply(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if account.Exists(filepath.Join(copied.root, ".agent")) {
			t.Error("the copy has its store still")
		}
		l.verify()
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
			l.write("a", "1")
			l.init()
			outside := filepath.Join(filepath.Dir(l.root), "outside")
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
			swapped := filepath.Join(l.root, filepath.FromSlash(at))
			if at == "vault" {
				swapped = r.Mirror
			}
			aside := filepath.Join(filepath.Dir(l.root), "aside")
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
			l.init() // for the lab's own check at the end
		})
	}
}

// What hooks remember of sessions goes with the project that it is certainly of.
func TestDeinitAndSessions(t *testing.T) {
	l := newLab(t)
	l.write("a", "1")
	l.init()
	for id, s := range map[string]account.SessionState{
		"of-it": {Dir: l.root, Exact: true}, "below-it": {Dir: filepath.Join(l.root, "sub")},
		"looked-for": {Dir: l.root}, "another": {Dir: l.home, Exact: true},
	} {
		if err := account.UpdateSession(t.Context(), l.env, "claude", id, func(now *account.SessionState) { *now = s }); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.planDeinit().Apply(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for id, stays := range map[string]bool{"of-it": false, "below-it": true, "looked-for": true, "another": true} {
		if got := account.LoadSession(l.env, "claude", id).Dir != ""; got != stays {
			t.Errorf("%s: there %v, want %v", id, got, stays)
		}
	}
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}
