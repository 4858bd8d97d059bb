package manifest

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// checkReplay compares what a replay and a search from the log's end say with the model.
func (m *model) checkReplay(t fataler) {
	t.Helper()
	r, err := Replay(background, m.w, 1, Strict)
	if err != nil {
		t.Fatalf("Replay: %v", err)
	}
	var living []Checkpoint
	for _, c := range slices.Backward(m.alive) {
		living = append(living, *c)
	}
	equal(t, "Replayed.Checkpoints", r.Checkpoints(), living)
	equal(t, "Replayed.Operations", append([]Operation(nil), r.Operations()...), m.ops)
	last := uint64(0)
	if n := len(m.w.log); n > 0 {
		last = m.w.log[n-1].Seq
	}
	equal(t, "Replayed.Last", r.Last(), last)
	equal(t, "Replayed.Touches", r.Touches(), append([]Touch{}, m.touch...))
	for id := range m.all {
		i := slices.IndexFunc(living, func(c Checkpoint) bool { return c.ID == id })
		got, ok := r.ByID(id)
		equal(t, "Replayed.ByID", ok, i >= 0)
		if ok {
			equal(t, "Replayed.ByID", got, living[i])
		}
	}
	for _, session := range []string{"", "one", "s", "none"} {
		match := func(c *Checkpoint) bool { return session == "" || c.Session == session }
		var want *Checkpoint
		if i := slices.IndexFunc(living, func(c Checkpoint) bool { return match(&c) }); i >= 0 {
			want = &living[i]
		}
		got, _, err := Newest(background, m.w, last, 0, match)
		equal(t, "Newest of "+session, []any{got, err}, []any{want, error(nil)})
		equal(t, "Replayed.Newest of "+session, r.Newest(match), want)
	}
}

// Every kind of record after every other: folded before, between, after or not at all, replayed
// whole or from the end, the log means the same.
func TestEveryOrderOfTwo(t *testing.T) {
	one, two := CheckpointID{1}, CheckpointID{2}
	name, other, none, yes, no := "name", "other", "", true, false
	touched := func(path string, after bool, n byte) Record {
		e := file(n)
		e.Name = path[strings.LastIndexByte(path, '/')+1:]
		return Record{Touch: &Touch{Time: at(8), Agent: "claude", Session: "one", Tool: "Edit", Path: path, After: after, Entry: &e}}
	}
	kinds := map[string]func(w *world) Record{
		"save": func(w *world) Record {
			return Record{Checkpoint: &Checkpoint{ID: two, Time: at(5), Kind: Prompt, Session: "one", Name: name, Root: w.store(tree{"b": file(2)})}}
		},
		"the same save": func(w *world) Record {
			return Record{Checkpoint: &Checkpoint{ID: one, Time: at(6), Kind: Manual, Name: other, Root: w.store(tree{"x": file(9)})}}
		},
		"safety": func(w *world) Record {
			return Record{Checkpoint: &Checkpoint{ID: CheckpointID{3}, Time: at(7), Kind: Safety, Root: w.store(tree{"c": file(3)})}}
		},
		"name":          func(*world) Record { return Record{Mark: &Mark{Checkpoint: one, Name: &name}} },
		"another name":  func(*world) Record { return Record{Mark: &Mark{Checkpoint: two, Name: &other}} },
		"no name":       func(*world) Record { return Record{Mark: &Mark{Checkpoint: one, Name: &none}} },
		"pin":           func(*world) Record { return Record{Mark: &Mark{Checkpoint: one, Pinned: &yes}} },
		"unpin":         func(*world) Record { return Record{Mark: &Mark{Checkpoint: two, Pinned: &no}} },
		"delete":        func(*world) Record { return Record{Delete: &Delete{Checkpoints: []CheckpointID{one}}} },
		"delete newest": func(*world) Record { return Record{Delete: &Delete{Checkpoints: []CheckpointID{two, {9}}}} },
		"rewrite": func(w *world) Record {
			return Record{Rewrite: &Rewrite{Checkpoints: []CheckpointID{one, two}, Roots: []oid.ID{w.store(tree{}), w.store(tree{"r": file(4)})}}}
		},
		"operation": func(w *world) Record {
			return Record{Operation: &Operation{Kind: OpRestore, Checkpoint: one, Safety: two, Before: w.store(tree{"b": file(2)})}}
		},
		"session": func(*world) Record { return Record{Session: &Session{ID: "one", Agent: "claude"}} },
		"binding": func(*world) Record {
			return Record{Binding: &Binding{Agent: "pi", Session: "one", Entries: []string{"a", "b"}, Checkpoint: two}}
		},
		"another binding": func(*world) Record {
			return Record{Binding: &Binding{Agent: "pi", Session: "one", Entries: []string{"a"}, Checkpoint: one}}
		},
		"touch":         func(*world) Record { return touched("d/a", true, 7) },
		"another touch": func(*world) Record { return touched("b", false, 8) },
		"touch of nothing": func(*world) Record {
			return Record{Touch: &Touch{Session: "s", Path: "d/a", After: true}}
		},
		"delete touch": func(*world) Record { return Record{Delete: &Delete{Touches: []uint64{2, 77}}} },
		"amend touch": func(*world) Record {
			return Record{Amend: &Amend{Records: []Sequenced{{Seq: 2, Record: touched("d/a", false, 9)}}}}
		},
		"drop touch": func(*world) Record {
			return Record{Amend: &Amend{Records: []Sequenced{{Seq: 2, Record: Record{Touch: &Touch{}}}, {Seq: 66, Record: Record{Touch: &Touch{}}}}}}
		},
	}
	pairs := 0
	for first, a := range kinds {
		for second, b := range kinds {
			if pairs++; testing.Short() && pairs%7 != 0 { // others in each run: the order of a map is random
				continue
			}
			t.Run(first+", "+second, func(t *testing.T) {
				t.Parallel()
				for folded := range 4 {
					w, o := newWorld(), inTemp(t)
					w.add(Record{Checkpoint: &Checkpoint{ID: one, Time: at(1), Kind: Manual, Session: "s", Root: w.store(tree{"a": file(1)})}})
					for i, make := range []func(*world) Record{a, b} {
						if i == folded {
							mustFold(t, o, w)
						}
						w.add(make(w))
					}
					if folded == 2 {
						mustFold(t, o, w)
					}
					check(t, o, w)
				}
			})
		}
	}
}

// withUnreadable is a world whose log has an entry that is no record after the one of a sequence number.
type withUnreadable struct {
	*world
	after uint64
}

func (w withUnreadable) Records(from uint64) iter.Seq2[Sequenced, error] {
	return func(yield func(Sequenced, error) bool) {
		for r, err := range w.world.Records(from) {
			if !yield(r, err) {
				return
			}
			if r.Seq == w.after && !yield(Sequenced{}, &EntryError{Seq: r.Seq, Err: errors.New("not a record")}) {
				return
			}
		}
	}
}

// An entry that cannot be read ends a strict replay, and hides nothing from the others.
func TestReplayPassesOverWhatCannotBeRead(t *testing.T) {
	w := diary()
	src := withUnreadable{w, 5}
	if _, err := Replay(background, src, 1, Strict); err == nil || !errors.As(err, new(*EntryError)) {
		t.Errorf("strict: %v", err)
	}
	var told []string
	r, err := Replay(background, src, 1, func(e *EntryError) error {
		told = append(told, fmt.Sprint(e))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Replay(background, w, 1, Strict)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "Checkpoints", r.Checkpoints(), whole.Checkpoints())
	equal(t, "told", told, []string{"entry 5 of the log: not a record"})
	db, err := Open(background, inTemp(t), src)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newModel(w).check(t, db)
}
