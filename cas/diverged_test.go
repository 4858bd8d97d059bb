package cas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// parted is a store of two accounts in whose place account b put an older state, and went on; account a's mirror has another end of the log.
func parted(t *testing.T, samePack bool) (w *shared, ours, theirs []string) {
	w = &shared{t: t, fs: crashfs.New(), locks: t.TempDir(), live: text(1, 3000), dead: noise(2, 3000)}
	say := func(account, payload string) {
		s := w.open(account)
		defer s.Close()
		save(t, s, payload, w.live)
	}
	say("a", "both 1")
	if !samePack {
		say("b", "both 2")
	}
	old := w.files("/objects", "/vault-b")
	for i := range 3 {
		theirs = append(theirs, fmt.Sprint("a ", i))
		say("a", theirs[i])
	}
	w.replace(old, "/objects", "/vault-b")
	for i := range 5 {
		ours = append(ours, fmt.Sprint("b ", i))
		say("b", ours[i])
	}
	return w, ours, theirs
}

// files are the contents of directories.
func (w *shared) files(dirs ...string) map[string][]byte {
	all := map[string][]byte{}
	for _, dir := range dirs {
		entries, err := w.fs.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			f, err := w.fs.OpenFile(filepath.Join(dir, e.Name()), os.O_RDONLY, 0)
			if err != nil {
				w.t.Fatal(err)
			}
			info, err := f.Stat()
			if err != nil {
				w.t.Fatal(err)
			}
			data := make([]byte, info.Size())
			if ok, err := pack.ReadFull(f, data, 0); !ok || err != nil {
				w.t.Fatal(ok, err)
			}
			f.Close()
			all[filepath.Join(dir, e.Name())] = data
		}
	}
	return all
}

// replace puts files in the place of all that directories have: they are files of their own.
func (w *shared) replace(files map[string][]byte, dirs ...string) {
	for name := range w.files(dirs...) {
		if err := w.fs.Remove(name); err != nil {
			w.t.Fatal(err)
		}
	}
	for name, data := range files {
		f, err := w.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := f.WriteAt(data, 0); err != nil {
			w.t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			w.t.Fatal(err)
		}
		f.Close()
	}
	for _, dir := range dirs {
		if err := w.fs.SyncDir(dir); err != nil {
			w.t.Fatal(err)
		}
	}
}

// payloads are those of the log that an account sees.
func payloadsOf(t *testing.T, s *Store) (all []string) {
	t.Helper()
	for c, err := range s.Commits(1) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(c.Payload))
	}
	return all
}

// join commits what only the mirror has, as far as the process lives.
func (w *shared) join() error {
	s, err := Open(w.options("a"))
	if err != nil {
		return err
	}
	defer s.Close()
	if !s.Diverged() {
		return nil
	}
	branch, err := s.Branch()
	if err != nil {
		return err
	}
	defer branch.Close()
	a, err := s.Append(context.Background())
	if err != nil {
		return err
	}
	defer a.Close()
	known := map[string]bool{}
	for c, err := range s.Commits(1) {
		if err != nil {
			return err
		}
		known[string(c.Payload)] = true
	}
	var more [][]byte
	for c, err := range branch.Commits(1) {
		if err != nil {
			return err
		}
		if !known[string(c.Payload)] {
			more = append(more, c.Payload)
		}
	}
	if len(more) > 0 {
		if _, err := a.Commit(nil, more...); err != nil {
			return err
		}
	}
	return s.Joined()
}

// Two ends of one log: a save and a look of the other account take nothing from either, and whoever dies while they
// are joined leaves both.
func TestPartedLog(t *testing.T) {
	for _, samePack := range []bool{false, true} {
		for cut := 0; ; cut += every(5) {
			w, ours, theirs := parted(t, samePack)
			s := w.open("a")
			if !s.Diverged() {
				t.Fatalf("same pack %v: not seen", samePack)
			}
			s.Close()
			if cut == 0 {
				w.look("a")
				s := w.open("a")
				save(t, s, "a further", w.live)
				s.Close()
				ours = append(ours, "a further")
			}
			left := cut
			w.fs.Hook = func(op, name string) error {
				if left--; left < 0 {
					return crashfs.ErrGone
				}
				return nil
			}
			err := w.join()
			w.fs.Hook = nil
			whole := left >= 0
			if err != nil && !errors.Is(err, crashfs.ErrGone) {
				t.Fatal(samePack, cut, err)
			}
			if cut%2 == 1 {
				w.fs = w.fs.Crash(rand.New(rand.NewPCG(uint64(cut), 1)))
			}
			if err := w.join(); err != nil {
				t.Fatal(samePack, cut, err)
			}
			s = w.open("a")
			got := payloadsOf(t, s)
			for _, p := range slices.Concat(ours, theirs, []string{"both 1"}) {
				if !slices.Contains(got, p) {
					t.Errorf("same pack %v, cut %d: %q is lost: %q", samePack, cut, p, got)
				}
			}
			if s.Diverged() {
				t.Errorf("same pack %v, cut %d: still parted", samePack, cut)
			}
			if err := s.Mirror(); err != nil {
				t.Errorf("same pack %v, cut %d: %v", samePack, cut, err)
			}
			check(t, s)
			s.Close()
			if whole || t.Failed() {
				if cut < 20 && !t.Failed() {
					t.Errorf("only %d operations", cut)
				}
				break
			}
		}
	}
}
