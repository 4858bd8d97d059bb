package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// shared is a store that two accounts use, each with a mirror of its own.
type shared struct {
	t     *testing.T
	fs    *crashfs.FS
	locks string
	live  []byte
	dead  []byte
}

func newShared(t *testing.T) *shared {
	w := &shared{t: t, fs: crashfs.New(), locks: t.TempDir(), live: text(1, 3000), dead: noise(2, 3000)}
	for _, account := range []string{"a", "b"} {
		s := w.open(account)
		save(t, s, "by "+account, w.live, w.dead)
		s.Close()
	}
	return w
}

func (w *shared) open(account string) *Store {
	w.t.Helper()
	s, err := Open(w.options(account))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *shared) options(account string) Options {
	return Options{Dir: "/objects", Mirror: "/vault-" + account, LockDir: w.locks, StoreID: [16]byte{1}, FS: w.fs}
}

// purge drops all but the live object, as far as the process lives.
func (w *shared) purge(account string) error {
	s, err := Open(w.options(account))
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Complete(context.Background()); err != nil {
		return err
	}
	for pass := range 6 {
		plan, err := s.PlanRepack(RepackOptions{Purge: true, Log: pass == 0}, func(id oid.ID) bool { return id == oid.Sum(w.live) }, func(Commit) bool { return true })
		if err != nil {
			return err
		}
		due := plan.Due()
		done, err := plan.Apply(context.Background(), func(Commit) error { return nil })
		if err != nil {
			return err
		}
		if !done {
			return errors.New("deferred")
		}
		if !due {
			return s.Mirror()
		}
	}
	return errors.New("it does not come to an end")
}

// look is any command of an account: what it sees, and that what lives is whole.
func (w *shared) look(account string) {
	w.t.Helper()
	s := w.open(account)
	defer s.Close()
	if _, err := s.CatchUp(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	mustGet(w.t, s, w.live)
}

// holding lists the files that hold the dead object, which is stored as it is.
func (w *shared) holding() (files []string) {
	w.t.Helper()
	for _, dir := range []string{"/objects", "/vault-a", "/vault-b"} {
		entries, err := w.fs.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := dir + "/" + e.Name()
			f, err := w.fs.OpenFile(name, 0, 0)
			if err != nil {
				w.t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				w.t.Fatal(err)
			}
			data := make([]byte, info.Size())
			if ok, err := pack.ReadFull(f, data, 0); !ok || err != nil {
				w.t.Fatal(name, ok, err)
			}
			f.Close()
			if bytes.Contains(data, w.dead[:64]) {
				files = append(files, name)
			}
		}
	}
	return files
}

// gone is the end of every story: nothing has the dead object, whoever looks.
func (w *shared) gone(when string) {
	w.t.Helper()
	for range 2 {
		w.look("b")
		w.look("a")
	}
	if files := w.holding(); len(files) > 0 {
		w.t.Errorf("%s: the dropped object is in %v", when, files)
	}
	s := w.open("a")
	defer s.Close()
	if got := fmt.Sprint(payloads(w.t, s, 0)); got != "[1:by a 2:by b]" {
		w.t.Errorf("%s: the log is %s", when, got)
	}
	check(w.t, s)
}

// TestOtherMirrorObeys: what one account drops stays dropped, though the mirror of another one has it still.
func TestOtherMirrorObeys(t *testing.T) {
	w := newShared(t)
	if len(w.holding()) != 3 {
		t.Fatalf("only %v hold the object before: the search is blind", w.holding())
	}
	if err := w.purge("a"); err != nil {
		t.Fatal(err)
	}
	w.gone("afterwards")
}

// TestOtherMirrorObeysWhenItSaves: an account whose hooks alone write, as in a container, lets go as well.
func TestOtherMirrorObeysWhenItSaves(t *testing.T) {
	w := newShared(t)
	if err := w.purge("a"); err != nil {
		t.Fatal(err)
	}
	for _, account := range []string{"a", "b"} {
		s := w.open(account)
		save(t, s, "after it", w.live)
		s.Close()
	}
	if files := w.holding(); len(files) > 0 {
		t.Errorf("the dropped object is in %v", files)
	}
	for _, account := range []string{"a", "b"} {
		w.look(account)
	}
}

// TestOtherMirrorObeysAfterAKill: the process dies at any operation of the purge, or of the other account's look.
func TestOtherMirrorObeysAfterAKill(t *testing.T) {
	dies := func(w *shared, after int, run func() error) (died bool) {
		left := after
		w.fs.Hook = func(op, name string) error {
			if left--; left < 0 {
				return crashfs.ErrGone
			}
			return nil
		}
		err := run()
		w.fs.Hook = nil
		if err != nil && !errors.Is(err, crashfs.ErrGone) {
			w.t.Fatalf("after %d operations: %v", after, err)
		}
		return err != nil || left < 0
	}
	look := func(w *shared, account string) func() error {
		return func() error {
			s, err := Open(w.options(account))
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.CatchUp(context.Background())
			return err
		}
	}
	for after := 0; ; after += every(15) {
		w := newShared(t)
		if !dies(w, after, func() error { return w.purge("a") }) {
			if after < 50 {
				t.Fatalf("only %d operations", after)
			}
			break
		}
		w.look("b") // between the kill and what finishes it
		if err := w.purge([]string{"a", "b"}[after%2]); err != nil {
			t.Fatalf("killed after %d operations: %v", after, err)
		}
		w.gone(fmt.Sprintf("killed after %d operations", after))
		if t.Failed() {
			return
		}
	}
	for after := 0; ; after += every(7) {
		w := newShared(t)
		if err := w.purge("a"); err != nil {
			t.Fatal(err)
		}
		if !dies(w, after, look(w, "b")) {
			if after < 10 {
				t.Fatalf("only %d operations", after)
			}
			break
		}
		w.gone(fmt.Sprintf("the other account's look was killed after %d operations", after))
		if t.Failed() {
			return
		}
	}
}

// TestDroppedInARebuiltStore: a store that is gone comes back from one mirror, and the other one's packs are dropped still.
func TestDroppedInARebuiltStore(t *testing.T) {
	w := newShared(t)
	if err := w.purge("a"); err != nil {
		t.Fatal(err)
	}
	entries, err := w.fs.ReadDir("/objects")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := w.fs.Remove("/objects/" + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := RestoreFromMirror(w.fs, "/vault-a", "/objects", nil); err != nil {
		t.Fatal(err)
	}
	w.gone("rebuilt")
}

// TestListsOfDroppedPacks: a list of an earlier version means every pack of a name; that version finds the names in a list of this one; what a
// later one says of a pack drops nothing that it does not name.
func TestListsOfDroppedPacks(t *testing.T) {
	w := newShared(t)
	s := w.open("a")
	defer s.Close()
	name := pack.Name{Kind: pack.Log, Tag: 1}
	is, err := s.describe(name)
	if err != nil || len(is.commits) != 2 {
		t.Fatal(is, err)
	}
	list := string(appendDropped(nil, []droppedPack{is, {name: pack.Name{Kind: pack.Data, Tag: 9}, exact: true, forgotten: true}}))
	var names []string
	for line := range strings.Lines(list) {
		if n, ok := pack.ParseName(strings.TrimSuffix(line, "\n")); ok {
			names = append(names, n.File())
		}
	}
	if got := strings.Join(names, " "); got != "log-00000001.pack data-0000000000000009.pack" {
		t.Errorf("the names are %s", got)
	}
	if again := string(appendDropped(nil, parseDropped(list))); again != list {
		t.Errorf("%q is read as %q", list, again)
	}
	for _, c := range []struct {
		list string
		part droppedPart
	}{
		{list, droppedPart{end: math.MaxInt64, seq: 2, all: true}},
		{strings.Replace(list, " gc ", " forget 2:77 ", 1), droppedPart{end: math.MaxInt64, forgotten: math.MaxInt64, seq: 2, all: true}},
		{name.File() + "\n", droppedPart{end: math.MaxInt64, forgotten: math.MaxInt64, all: true}},
		{name.File() + "\n later AAAA\n", droppedPart{}},
		{name.File() + "\n gc AAAAAAAA\n", droppedPart{}},
		{name.File() + "\n gc !\n", droppedPart{}},
		{pack.Name{Kind: pack.Log, Tag: 2}.File() + "\n", droppedPart{}},
	} {
		if part, err := s.droppedPart("/vault-b", name, parseDropped(c.list)); err != nil || part != c.part {
			t.Errorf("%q: %+v, %v", c.list, part, err)
		}
	}
}

// An older state that was put in the store's place has an object that a purge wrote into another pack: it was not forgotten, though
// the packs that came back have no index. Nor was one that is in both; but what only packs have that the purge dropped was.
func TestWhatAPurgeKeptIsNotForgotten(t *testing.T) {
	w := newShared(t)
	old := w.files("/objects", "/vault-b")
	s := w.open("a")
	save(t, s, "by a again", text(7, 3000))
	s.Close()
	if err := w.purge("a"); err != nil {
		t.Fatal(err)
	}
	w.replace(old, "/objects", "/vault-b")
	s = w.open("b")
	save(t, s, "by b on the older state", text(8, 3000))
	s.Close()
	o := w.options("a")
	o.Returning = func(Return) error { return nil }
	s = reopen(t, o)
	if _, err := s.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
	branches, err := s.Older()
	if err != nil || len(branches) != 1 {
		t.Fatal(len(branches), err)
	}
	defer branches[0].Close()
	for name, want := range map[string]bool{"live": false, "dead": true, "later": false} {
		data := map[string][]byte{"live": w.live, "dead": w.dead, "later": text(8, 3000)}[name]
		if gone, err := branches[0].Forgotten(oid.Sum(data)); gone != want || err != nil {
			t.Errorf("%s: forgotten %v, %v", name, gone, err)
		}
	}
}

// What another account's gc replaced is needed again where all packs are removed that replaced it: this account's mirror gives
// back what it has, and not nothing. What a purge dropped stays away.
func TestDroppedIsNeededWithoutWhatReplacedIt(t *testing.T) {
	for _, purge := range []bool{false, true} {
		for _, write := range []bool{false, true} {
			a := testStore(t)
			o := a.o
			o.Mirror += "-b"
			for n := range 4 {
				save(t, a, fmt.Sprint("save ", n), noise(uint64(n), 3000))
			}
			b := reopen(t, o)
			if err := b.Mirror(); err != nil {
				t.Fatal(err)
			}
			plan, err := b.PlanRepack(RepackOptions{Log: true, Purge: purge}, func(oid.ID) bool { return true }, func(c Commit) bool { return c.Seq > 2 })
			if err != nil {
				t.Fatal(err)
			}
			if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
				t.Fatal(done, err)
			}
			names, err := b.names()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				for _, file := range []string{filepath.Join(o.Dir, n.File()), filepath.Join(o.Mirror, n.File()), filepath.Join(o.Dir, n.IndexFile())} {
					if err := ignoreMissing(os.Remove(file)); err != nil {
						t.Fatal(err)
					}
				}
			}
			a = reopen(t, a.o)
			want := "[1:save 0 2:save 1 3:save 2 4:save 3"
			if write {
				save(t, a, "further", text(1, 3000))
				want += " 5:further"
			} else if _, err := a.CatchUp(context.Background()); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(payloads(t, reopen(t, a.o), 0))
			switch {
			case purge && strings.Contains(got, "save"):
				t.Errorf("after a purge: %s", got)
			case !purge && got != want+"]":
				t.Errorf("write %v: %s", write, got)
			case !purge:
				check(t, reopen(t, a.o))
			}
		}
	}
}
