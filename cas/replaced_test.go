package cas

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// watchedFS calls before each operation that changes something.
type watchedFS struct {
	vfs.FS
	before func()
}

type watchedFile struct {
	vfs.File
	before func()
}

func (w *watchedFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 {
		w.before()
	}
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &watchedFile{f, w.before}, nil
}

func (w *watchedFS) Rename(a, b string) error { w.before(); return w.FS.Rename(a, b) }
func (w *watchedFS) Link(a, b string) error   { w.before(); return w.FS.Link(a, b) }
func (w *watchedFS) Remove(name string) error { w.before(); return w.FS.Remove(name) }

func (f *watchedFile) WriteAt(b []byte, at int64) (int, error) {
	f.before()
	return f.File.WriteAt(b, at)
}
func (f *watchedFile) Truncate(size int64) error { f.before(); return f.File.Truncate(size) }
func (f *watchedFile) Fd() uintptr               { return f.File.(interface{ Fd() uintptr }).Fd() }

// replacedStore is a store of which somebody removes the directory at the n-th change that an operation makes, and rebuilds it
// from its mirror, as another command does.
type replacedStore struct {
	t       *testing.T
	o       Options
	s       *Store
	saved   []string
	objects [][]byte             // that must be there
	then    func(rebuilt *Store) // what the other command does, nil: nothing else
	left    int
	done    bool
}

func newReplaced(t *testing.T, n int) *replacedStore {
	r := &replacedStore{t: t, left: n}
	s := testStore(t)
	r.o = s.o
	for i := range 6 {
		r.save(s, fmt.Sprint("saved ", i), noise(uint64(i), 3000))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	watched := r.o
	watched.FS = &watchedFS{vfs.OS, func() {
		if r.left--; r.left == 0 {
			r.replace()
		}
	}}
	r.s = reopen(t, watched)
	return r
}

func (r *replacedStore) save(s *Store, payload string, objects ...[]byte) {
	save(r.t, s, payload, objects...)
	r.saved = append(r.saved, payload)
}

// saveBeside saves, unless the operation that was interrupted holds the file of the log.
func (r *replacedStore) saveBeside(s *Store, payload string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	a, err := s.Append(ctx)
	var busy *BusyError
	if errors.As(err, &busy) {
		return
	}
	if err == nil {
		_, err = a.Commit(s.NewBatch(), []byte(payload))
		err = errors.Join(err, a.Close())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.saved = append(r.saved, payload)
}

func (r *replacedStore) replace() {
	r.t.Helper()
	r.done = true
	for _, dir := range []string{r.o.Dir, r.o.LockDir} {
		if err := os.RemoveAll(dir); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, err := RestoreFromMirror(vfs.OS, r.o.Mirror, r.o.Dir, nil); err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(r.o.LockDir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if r.then != nil {
		r.then(reopen(r.t, r.o))
	}
}

// whole checks that everything that was saved is there, after any command has looked at the store.
func (r *replacedStore) whole(when string) {
	r.t.Helper()
	s := reopen(r.t, r.o)
	if _, err := s.CatchUp(context.Background()); err != nil {
		r.t.Errorf("%s: %v", when, err)
	}
	var got []string
	for c, err := range s.Commits(0) {
		if err != nil {
			r.t.Errorf("%s: %v", when, err)
			return
		}
		got = append(got, string(c.Payload))
	}
	for _, payload := range r.saved {
		if !slices.Contains(got, payload) {
			r.t.Errorf("%s: %q is lost, there are %q", when, payload, got)
		}
	}
	for _, o := range append(r.objects, noise(0, 3000), noise(3, 3000)) {
		if _, err := s.Get(nil, oid.Sum(o)); err != nil {
			r.t.Errorf("%s: %v", when, err)
		}
	}
	_, err := s.Verify(context.Background(), true, func(d Damage) {
		if !strings.Contains(d.Reason, "the base") {
			r.t.Errorf("%s: %+v", when, d)
		}
	}, nil)
	if err != nil {
		r.t.Errorf("%s: %v", when, err)
	}
}

// TestStoreReplacedWhileItChanges: whoever changes packs changes those of the directory that it has locked, and the mirror
// loses nothing before it has what replaces it.
func TestStoreReplacedWhileItChanges(t *testing.T) {
	live := func(id oid.ID) bool {
		return id == oid.Sum(noise(0, 3000)) || id == oid.Sum(noise(3, 3000))
	}
	sweep := func(o RepackOptions) func(r *replacedStore) error {
		return func(r *replacedStore) error {
			release, err := r.s.Use(context.Background())
			if err != nil {
				return err
			}
			plan, err := r.s.PlanRepack(o, live, func(Commit) bool { return true })
			release()
			if err != nil {
				return err
			}
			_, err = plan.Apply(context.Background(), func(Commit) error { return nil })
			return err
		}
	}
	saves := func(r *replacedStore) error {
		release, err := r.s.Use(context.Background())
		if err != nil {
			return err
		}
		defer release()
		b := r.s.NewBatch()
		w := b.Writer()
		_, err = w.Put(oid.Sum(noise(50, 3000)), noise(50, 3000), oid.ID{})
		if err = errors.Join(err, w.Flush()); err != nil {
			return errors.Join(err, b.Discard())
		}
		a, err := r.s.Append(context.Background())
		if err != nil {
			return errors.Join(err, b.Discard())
		}
		_, err = a.Commit(b, []byte("beside it"))
		if err = errors.Join(err, a.Close()); err == nil {
			r.saved = append(r.saved, "beside it")
			r.objects = append(r.objects, noise(50, 3000))
		}
		return err
	}
	for name, run := range map[string]func(r *replacedStore) error{
		"gc":    sweep(RepackOptions{Recompress: true}),
		"purge": sweep(RepackOptions{Purge: true, Log: true}),
		"repair": func(r *replacedStore) error {
			return r.s.Repair(context.Background(), func(Repaired) {}, nil)
		},
		"a save": saves,
		"a save in a new pack": func(r *replacedStore) error {
			r.s.limits.logCommits = 6
			return saves(r)
		},
		"a large save": func(r *replacedStore) error {
			r.s.limits.bulk = 100
			return saves(r)
		},
	} {
		for _, then := range []string{"nothing", "a save"} {
			t.Run(name+" and "+then, func(t *testing.T) {
				for n := 1; ; n += every(3) {
					r := newReplaced(t, n)
					if then == "a save" {
						r.then = func(rebuilt *Store) { r.saveBeside(rebuilt, "in the rebuilt store") }
					}
					err := run(r)
					if !r.done {
						if n < 2 || err != nil {
							t.Fatalf("%d changes: %v", n, err)
						}
						return
					}
					r.whole(fmt.Sprintf("replaced before change %d, which ended with %v", n, err))
					if t.Failed() {
						return
					}
				}
			})
		}
	}
}

func TestStay(t *testing.T) {
	r := newReplaced(t, 0)
	leave, err := r.s.Stay()
	if err != nil {
		t.Fatal(err)
	}
	r.replace()
	var replaced *ReplacedError
	if _, err := r.s.Use(context.Background()); !errors.As(err, &replaced) {
		t.Errorf("while it stays: %v", err)
	}
	leave()
	r.save(r.s, "in the rebuilt store")
	r.whole("after it")
}

// TestFailedLinkKeepsTheOldPacks: what replaces the packs of the mirror must be in it before they go.
func TestFailedLinkKeepsTheOldPacks(t *testing.T) {
	r := newReplaced(t, 0)
	o := r.o
	o.FS = noLinks{vfs.OS}
	s := reopen(t, o)
	plan, err := s.PlanRepack(RepackOptions{Purge: true, Log: true}, func(id oid.ID) bool { return id != oid.Sum(noise(1, 3000)) }, func(Commit) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadDir(o.Mirror)
	if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); done || err == nil {
		t.Errorf("done %v, %v", done, err)
	}
	if after, _ := os.ReadDir(o.Mirror); len(after) < len(before) {
		t.Errorf("%d names in the mirror, %d before", len(after), len(before))
	}
	r.whole("after it")
}

type noLinks struct{ vfs.FS }

func (noLinks) Link(a, b string) error {
	return &os.LinkError{Op: "link", Old: a, New: b, Err: fs.ErrPermission}
}
