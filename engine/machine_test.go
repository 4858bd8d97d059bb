package engine

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// machine plays a person, an agent and rewind against the model.
type machine struct {
	*lab
	t       *rapid.T
	saved   map[manifest.CheckpointID]testlab.Tree
	order   []manifest.CheckpointID
	left    []testlab.Tree // what operations left
	undoing []step         // what undo-restore takes back, newest last
	redoing []step
}

// step is a restore: the trees around it.
type step struct {
	before, after testlab.Tree
	undo          bool // of work
}

// leftWith is the tree that the restore left, with those of its removed directories that now has: a directory that could
// not be removed is no later work, and one that was made again is no other than that.
func (s step) leftWith(now testlab.Tree) testlab.Tree {
	left := maps.Clone(s.after)
	for p, entry := range now {
		if strings.HasPrefix(entry, "d") && entry == s.before[p] {
			left[p] = entry
		}
	}
	return left
}

var machineNames = []string{"a", "b", "c", "-dash", "sp ace", "new\nline", "b\xffd", "Ünï", "long" + strings.Repeat("g", 240)}

func (m *machine) path(depth int) string {
	n := rapid.IntRange(1, depth).Draw(m.t, "depth")
	parts := make([]string, n)
	for i := range parts {
		parts[i] = rapid.SampledFrom(machineNames).Draw(m.t, "name")
	}
	return path.Join(parts...)
}

func (m *machine) file(p string) string { return filepath.Join(m.Root, filepath.FromSlash(p)) }

// parents are the directories above p, the topmost first.
func parents(p string) []string {
	var out []string
	for i := range len(p) {
		if p[i] == '/' {
			out = append(out, p[:i])
		}
	}
	return out
}

// solid reports whether all that is above p are real directories: an edit does
// not go through a link.
func (m *machine) solid(p string) bool {
	for _, dir := range parents(p) {
		if info, err := os.Lstat(m.file(dir)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// clear makes room for something at p: parents are directories, nothing is there.
func (m *machine) clear(p string) {
	for _, dir := range parents(p) {
		if info, err := os.Lstat(m.file(dir)); err == nil && !info.IsDir() {
			m.must(os.Remove(m.file(dir)))
		}
	}
	m.must(os.MkdirAll(filepath.Dir(m.file(p)), 0o755))
	m.must(os.RemoveAll(m.file(p)))
}

func (m *machine) must(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) content() []byte {
	switch rapid.IntRange(0, 9).Draw(m.t, "size") {
	case 0:
		return nil
	case 1: // large enough for chunks
		seed := rapid.Uint64().Draw(m.t, "seed")
		data := make([]byte, commit.ChunkedSize+rapid.IntRange(1, 1<<19).Draw(m.t, "more"))
		for i := range data {
			seed = seed*6364136223846793005 + 1442695040888963407
			data[i] = byte(seed >> 56)
		}
		return data
	case 2: // a version of something long, for deltas
		line := strings.Repeat("the same line again and again\n", 200)
		at := rapid.IntRange(0, len(line)).Draw(m.t, "at")
		return []byte(line[:at] + rapid.StringN(0, 20, 40).Draw(m.t, "edit") + line[at:])
	}
	return rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(m.t, "bytes")
}

func (m *machine) edit() {
	p := m.path(3)
	switch rapid.IntRange(0, 9).Draw(m.t, "edit") {
	case 0, 1, 2:
		m.clear(p)
		m.must(os.WriteFile(m.file(p), m.content(), 0o644))
	case 3:
		if m.solid(p) {
			m.must(os.RemoveAll(m.file(p)))
		}
	case 4:
		m.clear(p)
		m.must(os.Symlink(rapid.SampledFrom([]string{"a", "../b", "/nowhere", "."}).Draw(m.t, "target"), m.file(p)))
	case 5:
		m.clear(p)
		m.must(os.MkdirAll(m.file(p), 0o755))
	case 6:
		if info, err := os.Lstat(m.file(p)); m.solid(p) && err == nil && info.Mode()&os.ModeSymlink == 0 {
			m.must(os.Chmod(m.file(p), rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o700, 0o750}).Draw(m.t, "mode")))
		}
	case 7:
		to := m.path(3)
		if _, err := os.Lstat(m.file(p)); m.solid(p) && err == nil && to != p && !strings.HasPrefix(to, p+"/") && !strings.HasPrefix(p, to+"/") {
			m.clear(to)
			if _, err := os.Lstat(m.file(p)); m.solid(p) && err == nil { // clear may have taken it
				m.must(os.Rename(m.file(p), m.file(to)))
			}
		}
	case 8: // the same size, and the old times put back
		if info, err := os.Lstat(m.file(p)); m.solid(p) && err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			data, err := os.ReadFile(m.file(p))
			m.must(err)
			data[0] ^= 1
			m.must(os.WriteFile(m.file(p), data, 0))
			m.must(os.Chtimes(m.file(p), info.ModTime(), info.ModTime()))
		}
	case 9: // replaced by a rename, as editors do
		m.clear(p)
		temp := m.file(p) + "~"
		if len(path.Base(p)) < 200 {
			m.must(os.WriteFile(temp, m.content(), 0o600))
			m.must(os.Rename(temp, m.file(p)))
		}
	}
}

func (m *machine) now() testlab.Tree { return m.Read() }

func (m *machine) save() {
	saved := m.lab.Save()
	m.remember(saved.Checkpoint.ID)
	if len(saved.Partial) > 0 {
		m.t.Fatalf("not captured: %v", saved.Partial)
	}
}

func (m *machine) remember(id manifest.CheckpointID) {
	m.saved[id] = m.now()
	m.order = append(m.order, id)
}

func (m *machine) pick() manifest.CheckpointID {
	return rapid.SampledFrom(m.order).Draw(m.t, "checkpoint")
}

// check compares the working tree with the model.
func (m *machine) check(what string, want testlab.Tree) {
	if d := want.Diff(m.now()); d != "" {
		m.t.Fatalf("after %s:\n%s", what, d)
	}
}

func (m *machine) restore() {
	id := m.pick()
	before := m.now()
	m.Do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Resolve(ctx, p, id.String())
		if err != nil {
			return err
		}
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c.Checkpoint})
		if err == nil && len(done.Skip) > 0 {
			m.t.Fatalf("skipped: %v", done.Skip)
		}
		if err == nil {
			m.did(done, step{before, m.saved[id], false})
		}
		return err
	})
	m.check("restore", m.saved[id])
}

func (m *machine) restorePaths() {
	id, p := m.pick(), m.path(2)
	before := m.now()
	want := maps.Clone(before)
	for q := range before {
		if q == p || strings.HasPrefix(q, p+"/") {
			delete(want, q)
		}
	}
	found := false
	for q, v := range m.saved[id] {
		if q == p || strings.HasPrefix(q, p+"/") {
			want[q], found = v, true
		}
	}
	if !found {
		return // a path that the checkpoint lacks; its parents are another test's
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if before[dir] == "" || !strings.HasPrefix(before[dir], "d") {
			return // the parents come along or are in the way: another test's
		}
	}
	m.Do(func(ctx context.Context, pr *project.Project) error {
		c, err := inspect.Resolve(ctx, pr, id.String())
		if err != nil {
			return err
		}
		done, err := restore.Restore(ctx, pr, restore.Options{Checkpoint: c.Checkpoint, Paths: []string{pathspec.EscapeGlob(p)}})
		if err == nil {
			m.did(done, step{before, want, false})
		}
		return err
	})
	m.check("restore of "+p, want)
}

// did notes a restore as the newest step. One that changes nothing is a step, too, and leaves those that can be redone.
func (m *machine) did(done *restore.Restored, s step) {
	if done.Operation == 0 {
		return
	}
	m.left, m.undoing = append(m.left, s.after), append(m.undoing, s)
	if len(done.Create)+len(done.Replace)+len(done.Delete)+len(done.Mode) > 0 {
		m.redoing = nil
	}
}

func (m *machine) undoRestore() {
	m.walk(&m.undoing, &m.redoing, restore.UndoRestore, func(s step) (testlab.Tree, testlab.Tree) { return s.after, s.before })
}

func (m *machine) redoRestore() {
	m.walk(&m.redoing, &m.undoing, restore.RedoRestore, func(s step) (testlab.Tree, testlab.Tree) { return s.before, s.after })
}

// walk takes the newest step of from back. It only applies exactly where nothing was changed since.
func (m *machine) walk(from, to *[]step, verb func(context.Context, *project.Project, restore.Options) (*restore.Restored, error), sides func(step) (now, then testlab.Tree)) {
	if len(*from) == 0 {
		err := m.Try(func(ctx context.Context, p *project.Project) error {
			_, err := verb(ctx, p, restore.Options{})
			return err
		})
		var nothing *project.NothingError
		if !errors.As(err, &nothing) {
			m.t.Fatalf("nothing to take back gives %v", err)
		}
		return
	}
	s := (*from)[len(*from)-1]
	is, then := sides(s)
	before := m.now()
	want := maps.Clone(before)
	touched, moved := map[string]bool{}, false
	for p := range maps.Keys(is) {
		touched[p] = is[p] != then[p]
	}
	for p := range maps.Keys(then) {
		touched[p] = is[p] != then[p]
	}
	for p, changed := range touched {
		if !changed {
			continue
		}
		if before[p] != is[p] {
			moved = true
		}
		delete(want, p)
		if then[p] != "" {
			want[p] = then[p]
		}
	}
	if moved || len(before.Diff(is)) > 0 {
		return // later work is in the way or beside: TestUndoRestoreLeavesLaterWork and TestUndoRestoreRefuses
	}
	m.Do(func(ctx context.Context, p *project.Project) error {
		_, err := verb(ctx, p, restore.Options{})
		return err
	})
	m.left = append(m.left, want)
	*from, *to = (*from)[:len(*from)-1], append(*to, s)
	m.check("undo or redo of a restore", want)
}

func (m *machine) undo() {
	before := m.now()
	err := m.Try(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Undo(ctx, p, restore.Options{})
		if err != nil {
			return err
		}
		if done.Of != "" { // it took an operation back
			now := m.now()
			i := len(m.undoing) - 1
			for i >= 0 && (m.undoing[i].undo || len(before.Diff(m.undoing[i].leftWith(before)))+len(now.Diff(m.undoing[i].before)) > 0 || len(before.Diff(now)) == 0) {
				i--
			}
			if i < 0 {
				m.t.Fatalf("undo took back a %s that did not lead from %v to %v", done.Of, now, before)
			}
			s := m.undoing[i]
			m.undoing, m.redoing = m.undoing[:i], append(m.redoing, s)
			m.left = append(m.left, s.before)
			m.check("undo of an operation", s.before)
			return nil
		}
		want, ok := m.saved[done.Checkpoint.ID]
		if done.Since != "" { // to what an operation left
			ok = slices.ContainsFunc(m.left, func(t testlab.Tree) bool { want = t; return len(m.now().Diff(t)) == 0 })
		}
		if !ok {
			m.t.Fatalf("undo went to %s, which no save has", done.Checkpoint.ID)
		}
		m.check("undo", want)
		m.left, m.undoing = append(m.left, want), append(m.undoing, step{before, want, true})
		return nil
	})
	var nothing *project.NothingError
	if err != nil && !errors.As(err, &nothing) {
		m.t.Fatal(err)
	}
}

func (m *machine) gc() {
	keep := rapid.IntRange(1, 6).Draw(m.t, "keep")
	before := m.now()
	m.Do(func(ctx context.Context, p *project.Project) error {
		got, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: keep})
		if err != nil {
			return err
		}
		for _, id := range got.Removed {
			delete(m.saved, id)
			m.order = slices.DeleteFunc(m.order, func(o manifest.CheckpointID) bool { return o == id })
		}
		return nil
	})
	m.check("gc", before)
}

// exact looks at one checkpoint's tree without restoring it.
func (m *machine) exact() {
	id := m.pick()
	got := testlab.Tree{}
	m.Do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Resolve(ctx, p, id.String())
		if err != nil {
			return err
		}
		return inspect.Tree(ctx, p, c.Checkpoint, "", func(e inspect.TreeEntry) error {
			got[e.Path] = ""
			return nil
		})
	})
	if len(got) != len(m.saved[id]) {
		m.t.Fatalf("checkpoint %s has %d paths, want %d", id, len(got), len(m.saved[id]))
	}
}

// TestMachine plays random edits, saves, restores, undos and sweeps. After each
// step the tree is byte, mode, link and empty directory exact.
func TestMachine(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	if was := checks.Value.String(); was == checks.DefValue { // make soak plays on
		if err := checks.Value.Set("40"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = checks.Value.Set(was) }()
	}
	playMachine(t)
}

// TestSoakMachine goes on for as long as REWIND_SOAK says; without it, it has nothing to add.
func TestSoakMachine(t *testing.T) {
	long, err := time.ParseDuration(os.Getenv("REWIND_SOAK"))
	if err != nil {
		t.Skip("set REWIND_SOAK to a duration, as make soak does")
	}
	for end := time.Now().Add(long); time.Now().Before(end); {
		playMachine(t)
	}
}

func playMachine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{lab: newLab(t), t: rt, saved: map[manifest.CheckpointID]testlab.Tree{}}
		m.Env.Getenv = func(string) string { return "" }
		m.remember(m.Init().Checkpoint.ID)
		rt.Repeat(map[string]func(*rapid.T){
			"edit":         func(*rapid.T) { m.edit() },
			"edits":        func(*rapid.T) { m.edit(); m.edit(); m.edit() },
			"save":         func(*rapid.T) { m.save() },
			"restore":      func(*rapid.T) { m.restore() },
			"restorePaths": func(*rapid.T) { m.restorePaths() },
			"undo":         func(*rapid.T) { m.undo() },
			"undoRestore":  func(*rapid.T) { m.undoRestore() },
			"redoRestore":  func(*rapid.T) { m.redoRestore() },
			"gc":           func(*rapid.T) { m.gc() },
			"exact":        func(*rapid.T) { m.exact() },
		})
	})
}
