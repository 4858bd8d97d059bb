package manifest

import (
	"context"
	"os"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"pgregory.net/rapid"
)

// scribe writes random logs.
type scribe struct {
	w       *world
	tree    tree
	ids     []CheckpointID // of all checkpoints ever
	clock   int
	deleted map[CheckpointID]bool
}

func newScribe() *scribe {
	return &scribe{w: newWorld(), tree: tree{}, deleted: map[CheckpointID]bool{}}
}

func (s *scribe) edit(t *rapid.T) {
	for path, e := range trees().Draw(t, "edit") {
		free := true
		for i := range path {
			if path[i] == '/' {
				if e, ok := s.tree[path[:i]]; ok && e.Kind != Subdir {
					free = false
				}
			}
		}
		if old, ok := s.tree[path]; free && !(ok && old.Kind == Subdir && e.Kind != Subdir) {
			s.tree[path] = e
		}
	}
	// Every directory above is there, whatever the edit left out.
	for path := range s.tree {
		for i := range path {
			if path[i] == '/' {
				if _, ok := s.tree[path[:i]]; !ok {
					s.tree[path[:i]] = folderOf(0o755)
				}
			}
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
		s.removeOne(t)
	}
}

// removeOne takes a path, and what is below it, out of the tree, or makes it a link.
func (s *scribe) removeOne(t *rapid.T) {
	victim := rapid.SampledFrom([]string{"a", "b", "a.b", "a!", "ab", "a/a", "b/b"}).Draw(t, "victim")
	old, ok := s.tree[victim]
	if !ok {
		return
	}
	for path := range s.tree {
		if len(path) > len(victim) && path[:len(victim)+1] == victim+"/" {
			delete(s.tree, path)
		}
	}
	delete(s.tree, victim)
	if old.Kind == Subdir && rapid.Bool().Draw(t, "link") {
		s.tree[victim] = link("elsewhere")
	}
}

func (s *scribe) some(t *rapid.T) CheckpointID {
	if len(s.ids) == 0 {
		return CheckpointID{9}
	}
	return rapid.SampledFrom(s.ids).Draw(t, "checkpoint")
}

// record appends one random record.
func (s *scribe) record(t *rapid.T) {
	name := rapid.SampledFrom([]string{"", "x", "y", "z"})
	session := rapid.SampledFrom([]string{"", "one", "two", "0b8f26f5-cb23-4d0c-9a58-2b9f1c1d0e11"})
	switch rapid.IntRange(0, 11).Draw(t, "record") {
	default:
		s.edit(t)
		c := Checkpoint{
			Kind: rapid.SampledFrom(append(checkpointKinds[:len(checkpointKinds):len(checkpointKinds)], "newer")).Draw(t, "kind"),
			Name: name.Draw(t, "name"), Session: session.Draw(t, "session"), Root: s.w.store(s.tree),
			Pinned: rapid.Bool().Draw(t, "pinned"), Files: uint64(len(s.tree)),
		}
		// Now and then the clock stands still, or goes back.
		s.clock += rapid.IntRange(-1, 3).Draw(t, "clock")
		c.Time = at(s.clock)
		copy(c.ID[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xF0}), 8, 8).Draw(t, "id"))
		if rapid.IntRange(0, 9).Draw(t, "twice") == 0 {
			c.ID = s.some(t)
		}
		s.w.add(Record{Checkpoint: &c})
		s.ids = append(s.ids, c.ID)
	case 7:
		m := Mark{Checkpoint: s.some(t), Time: at(s.clock)}
		if rapid.Bool().Draw(t, "rename") {
			n := name.Draw(t, "name")
			m.Name = &n
		}
		if rapid.Bool().Draw(t, "pin") {
			p := rapid.Bool().Draw(t, "pinned")
			m.Pinned = &p
		}
		s.w.add(Record{Mark: &m})
	case 8, 9:
		d := Delete{Time: at(s.clock), Reason: "test"}
		for range rapid.IntRange(1, 3).Draw(t, "how many") {
			d.Checkpoints = append(d.Checkpoints, s.some(t))
		}
		s.w.add(Record{Delete: &d})
	case 10:
		switch rapid.IntRange(0, 2).Draw(t, "which") {
		case 0:
			s.w.add(Record{Operation: &Operation{Time: at(s.clock), Kind: OpRestore, Checkpoint: s.some(t), Before: oid.ID{1}}})
		case 1:
			s.w.add(Record{Binding: &Binding{Time: at(s.clock), Agent: "pi", Session: session.Draw(t, "session"),
				Entries: rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 2).Draw(t, "entries"), Checkpoint: s.some(t)}})
		default:
			s.w.add(Record{Session: &Session{ID: session.Draw(t, "session"), Agent: rapid.SampledFrom([]string{"claude", "droid"}).Draw(t, "agent"), Time: at(s.clock)}})
		}
	case 11:
		if rapid.IntRange(0, 3).Draw(t, "rarely") > 0 {
			return
		}
		s.edit(t)
		s.w.add(Record{Rewrite: &Rewrite{Time: at(s.clock), Checkpoints: []CheckpointID{s.some(t)}, Roots: []oid.ID{s.w.store(s.tree)}}})
	}
}

// The answers are those of the model, wherever the log was folded, and also
// when the trees of deleted checkpoints are gone.
func TestDatabaseAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "manifest")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		o := Options{Dir: dir + "/manifests"}
		ctx := context.Background()
		s := newScribe()
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 12).Draw(t, "records") {
				s.record(t)
			}
			if rapid.Bool().Draw(t, "collect") {
				s.w.forgetUnused()
			}
			if rapid.IntRange(0, 2).Draw(t, "fold") > 0 {
				if err := Fold(ctx, o, s.w); err != nil {
					t.Fatal(err)
				}
			}
			db, err := Open(ctx, o, s.w)
			if err != nil {
				t.Fatal(err)
			}
			newModel(s.w).check(t, db)
			if err := db.Damaged(); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// forgetUnused makes the directories that no living checkpoint has unreadable, as gc does.
func (w *world) forgetUnused() {
	m := newModel(w)
	w.gone = map[oid.ID]bool{}
	used := map[oid.ID]bool{}
	var mark func(id oid.ID)
	mark = func(id oid.ID) {
		if used[id] {
			return
		}
		used[id] = true
		for _, e := range w.dirs[id].Entries {
			if e.Kind == Subdir {
				mark(e.ID)
			}
		}
	}
	for _, c := range m.alive {
		mark(c.Root)
	}
	for id := range w.dirs {
		if !used[id] {
			w.gone[id] = true
		}
	}
}
