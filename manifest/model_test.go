package manifest

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// model answers what a DB answers, the plain and slow way: by the definition,
// from all records, with whole trees.
type model struct {
	w     *world
	all   map[CheckpointID]*Checkpoint // deleted ones too, for their ids
	alive []*Checkpoint                // by sequence number
	ops   []Operation
	sess  map[[2]string]sessionAt
	bound map[boundAt]Binding
	touch []Touch
	trees map[oid.ID]tree // flat
}

func newModel(w *world) *model {
	m := &model{w: w, bound: map[boundAt]Binding{}, all: map[CheckpointID]*Checkpoint{}, sess: map[[2]string]sessionAt{}, trees: map[oid.ID]tree{{}: {}}}
	name := func(c *Checkpoint, name string) {
		for _, other := range m.alive {
			if name != "" && other.Name == name {
				other.Name = ""
			}
		}
		c.Name = name
	}
	find := func(id CheckpointID) *Checkpoint {
		for _, c := range m.alive {
			if c.ID == id {
				return c
			}
		}
		return nil
	}
	for _, r := range w.log {
		switch rec := r.Record; {
		case rec.Checkpoint != nil:
			if m.all[rec.Checkpoint.ID] != nil {
				continue
			}
			c := *rec.Checkpoint
			c.Seq = r.Seq
			name(&c, c.Name)
			m.all[c.ID] = &c
			m.alive = append(m.alive, &c)
		case rec.Mark != nil:
			if c := find(rec.Mark.Checkpoint); c != nil {
				if rec.Mark.Name != nil {
					name(c, *rec.Mark.Name)
				}
				if rec.Mark.Pinned != nil {
					c.Pinned = *rec.Mark.Pinned
				}
			}
		case rec.Delete != nil:
			m.alive = slices.DeleteFunc(m.alive, func(c *Checkpoint) bool { return slices.Contains(rec.Delete.Checkpoints, c.ID) })
			m.touch = slices.DeleteFunc(m.touch, func(t Touch) bool { return slices.Contains(rec.Delete.Touches, t.Seq) })
		case rec.Rewrite != nil:
			for i, id := range rec.Rewrite.Checkpoints {
				if c := find(id); c != nil {
					c.Root = rec.Rewrite.Roots[i]
				}
			}
		case rec.Operation != nil:
			o := *rec.Operation
			o.Seq = r.Seq
			m.ops = append([]Operation{o}, m.ops...)
		case rec.Session != nil:
			m.sess[[2]string{rec.Session.Agent, rec.Session.ID}] = sessionAt{r.Seq, *rec.Session}
		case rec.Binding != nil:
			for _, entry := range rec.Binding.Entries {
				b := *rec.Binding
				b.Seq, b.Entries = r.Seq, []string{entry}
				m.bound[boundAt{b.Session, entry}] = b
			}
		case rec.Touch != nil:
			t := *rec.Touch
			t.Seq = r.Seq
			m.touch = append(m.touch, t)
		case rec.Amend != nil:
			for _, a := range rec.Amend.Records {
				if i := slices.IndexFunc(m.touch, func(t Touch) bool { return t.Seq == a.Seq }); i >= 0 && a.Record.Touch != nil && (a.Record.Touch.Path == "" || a.Record.Touch.Path == m.touch[i].Path) {
					m.touch[i] = *a.Record.Touch
					m.touch[i].Seq = a.Seq
				}
			}
			m.touch = slices.DeleteFunc(m.touch, func(t Touch) bool { return t.Path == "" })
		}
	}
	return m
}

func (m *model) flat(root oid.ID) tree {
	if t, ok := m.trees[root]; ok {
		return t
	}
	t := tree{}
	if err := Walk(m.w.Dir, root, func(path string, e Entry) error { t[path] = *e.bare(); return nil }); err != nil {
		panic(err)
	}
	m.trees[root] = t
	return t
}

func (m *model) query(q Query) []Checkpoint {
	var out []Checkpoint
	for _, c := range slices.Backward(m.alive) {
		fits := q.All || q.Kinds != nil || c.Kind != Safety
		if fits && (q.Before == 0 || c.Seq < q.Before) && (q.Session == "" || c.Session == q.Session) &&
			(q.Kinds == nil || slices.Contains(q.Kinds, c.Kind)) && (q.Limit <= 0 || len(out) < q.Limit) {
			out = append(out, *c)
		}
	}
	return out
}

func (m *model) changes(i int) []Change {
	var before oid.ID
	if i > 0 {
		before = m.alive[i-1].Root
	}
	return plainDiff(m.flat(before), m.flat(m.alive[i].Root))
}

func collect[T any](t fataler, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var out []T
	for v, err := range seq {
		if err != nil {
			t.Fatalf("%v", err)
		}
		out = append(out, v)
	}
	return out
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var _ fataler = (*testing.T)(nil)

func equal[T any](t fataler, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// check compares every answer of db with the model's.
func (m *model) check(t fataler, db *DB) {
	t.Helper()
	safety := 0
	var positions []Checkpoint
	for _, c := range slices.Backward(m.alive) {
		if c.Kind == Safety {
			safety++
		} else {
			positions = append(positions, *c)
		}
	}
	n, s, err := db.Count()
	equal(t, "Count", []any{n, s, err}, []any{len(positions), safety, error(nil)})
	for i, want := range positions {
		c, ok, err := db.Nth(i + 1)
		equal(t, "Nth", []any{c, ok, err}, []any{want, true, error(nil)})
		equal(t, "Position", db.Position(want.Seq), i+1)
	}
	for _, beyond := range []int{0, -1, len(positions) + 1} {
		if _, ok, err := db.Nth(beyond); ok || err != nil {
			t.Fatalf("Nth(%d): %v, %v", beyond, ok, err)
		}
	}
	for _, q := range m.queries() {
		equal(t, fmt.Sprintf("Checkpoints(%+v)", q), collect(t, db.Checkpoints(q)), m.query(q))
	}
	names := map[string]bool{"": true, "no such name": true}
	for id, c := range m.all {
		want, alive := Checkpoint{}, false
		for _, a := range m.alive {
			if a.ID == id {
				want, alive = *a, true
			}
		}
		got, ok, err := db.ByID(id)
		equal(t, "ByID", []any{got, ok, err}, []any{want, alive, error(nil)})
		got, ok, err = find(db, func(s *state) (*Checkpoint, error) { return s.bySeq(c.Seq) })
		equal(t, "BySeq", []any{got, ok, err}, []any{want, alive, error(nil)})
		names[c.Name] = true
		for _, prefix := range []string{id.String()[:1], id.String()[:2], id.String()[:5], id.String()} {
			m.checkPrefix(t, db, prefix)
		}
	}
	m.checkPrefix(t, db, "")
	for _, r := range m.w.log {
		if r.Record.Mark != nil && r.Record.Mark.Name != nil {
			names[*r.Record.Mark.Name] = true
		}
		if r.Record.Checkpoint != nil {
			names[r.Record.Checkpoint.Name] = true
		}
	}
	for name := range names {
		var want Checkpoint
		var has bool
		for _, c := range m.alive {
			if c.Name == name && name != "" {
				want, has = *c, true
			}
		}
		got, ok, err := db.ByName(name)
		equal(t, "ByName "+name, []any{got, ok, err}, []any{want, has, error(nil)})
	}
	m.checkTimes(t, db)
	equal(t, "Operations", collect(t, db.Operations()), m.ops)
	var sessions []Session
	for _, at := range slices.SortedFunc(maps.Values(m.sess), func(a, b sessionAt) int { return cmp.Compare(b.seq, a.seq) }) {
		sessions = append(sessions, at.session)
	}
	equal(t, "Sessions", collect(t, db.Sessions()), sessions)
	m.checkBindings(t, db)
	m.checkTouches(t, db)
	m.checkPaths(t, db)
}

func (m *model) checkBindings(t fataler, db *DB) {
	t.Helper()
	for _, session := range []string{"", "one", "two", "none"} {
		var want []Binding
		for at, b := range m.bound {
			if at.session == session {
				want = append(want, b)
			}
		}
		slices.SortFunc(want, newestBinding)
		equal(t, "Bindings "+session, collect(t, db.Bindings(session)), want)
		for _, entry := range []string{"a", "b", "none"} {
			got, ok, err := db.Bound(session, entry)
			b, has := m.bound[boundAt{session, entry}]
			equal(t, "Bound "+session+" "+entry, []any{got, ok, err}, []any{b, has, error(nil)})
		}
	}
}

func (m *model) checkTouches(t fataler, db *DB) {
	t.Helper()
	queries := []TouchQuery{{}, {From: 1 << 40}, {To: 1}}
	for _, r := range m.w.log {
		queries = append(queries, TouchQuery{From: r.Seq}, TouchQuery{To: r.Seq}, TouchQuery{From: r.Seq, To: r.Seq})
	}
	for _, q := range queries {
		var want []Touch
		for _, touch := range m.touch {
			if touch.Seq >= q.From && (q.To == 0 || touch.Seq <= q.To) {
				want = append(want, touch)
			}
		}
		equal(t, fmt.Sprintf("Touches(%+v)", q), collect(t, db.Touches(q)), want)
		paths := []string{"d/a", "none", "d", "b", "d/a"}
		wants := map[string][]Touch{}
		for _, touch := range m.touch {
			if touch.Seq >= q.From && (q.To == 0 || touch.Seq <= q.To) && slices.Contains(paths, touch.Path) {
				wants[touch.Path] = append(wants[touch.Path], touch)
			}
		}
		several, err := db.TouchesOf(q, paths)
		if err != nil {
			t.Fatalf("%v", err)
		}
		equal(t, fmt.Sprintf("TouchesOf(%+v)", q), several, wants)
	}
	for first := range db.Touches(TouchQuery{}) {
		equal(t, "the first touch", first, m.touch[0])
		break // nothing is said after it
	}
}

func (m *model) queries() []Query {
	qs := []Query{{}, {All: true}, {Limit: 3}, {Limit: 2, All: true}, {Kinds: []CheckpointKind{Prompt}, Session: "one"},
		{Kinds: []CheckpointKind{Safety, "newer"}}, {Session: "one"}, {Session: "one", Limit: 1, All: true}, {Session: "none"}}
	for _, c := range m.alive {
		qs = append(qs, Query{Before: c.Seq}, Query{Before: c.Seq + 1, Session: c.Session, All: true, Limit: 2})
	}
	return qs
}

func (m *model) checkPrefix(t fataler, db *DB, prefix string) {
	t.Helper()
	var want []Checkpoint
	for _, c := range m.alive {
		if strings.HasPrefix(c.ID.String(), prefix) {
			want = append(want, *c)
		}
	}
	slices.SortFunc(want, func(a, b Checkpoint) int { return slices.Compare(a.ID[:], b.ID[:]) })
	for _, limit := range []int{0, 1, 2} {
		first := want
		if limit > 0 && len(first) > limit {
			first = first[:limit]
		}
		got, err := db.ByPrefix(prefix, limit)
		equal(t, fmt.Sprintf("ByPrefix(%q, %d)", prefix, limit), []any{got, err}, []any{first, error(nil)})
	}
}

func (m *model) checkTimes(t fataler, db *DB) {
	t.Helper()
	times := []time.Time{time.Unix(0, 0), at(-10), at(1 << 20)}
	for _, c := range m.alive {
		times = append(times, c.Time, c.Time.Add(-time.Nanosecond), c.Time.Add(time.Second/2))
	}
	for _, when := range times {
		var want Checkpoint
		for _, c := range m.alive {
			if c.Kind != Safety && !c.Time.After(when) && !c.Time.Before(want.Time) {
				want = *c
			}
		}
		got, ok, err := db.At(when)
		equal(t, "At "+when.String(), []any{got, ok, err}, []any{want, want.Seq != 0, error(nil)})
	}
}

// checkPaths compares changes and histories.
func (m *model) checkPaths(t fataler, db *DB) {
	t.Helper()
	histories := map[string][]Version{"no/such/path": nil}
	for i, c := range m.alive {
		want := m.changes(i)
		got := collect(t, db.Changes(c.Seq))
		if !sameChanges(got, want) {
			t.Fatalf("Changes(%d):\ngot  %v\nwant %v", c.Seq, got, want)
		}
		for _, change := range want {
			histories[change.Path] = append([]Version{{Seq: c.Seq, Old: change.Old, New: change.New}}, histories[change.Path]...)
		}
		var before uint64
		if i > 0 {
			before = m.alive[i-1].Seq
		}
		equal(t, "Prev", db.now().index.prev(c.Seq, &anyKind), before)
	}
	for path, want := range histories {
		equal(t, "History of "+path, collect(t, db.History(path)), want)
	}
	all, err := db.Histories(append(slices.Collect(maps.Keys(histories)), "", "/", "a//b"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	delete(histories, "no/such/path") // nothing is said of it
	equal(t, "Histories", all, histories)
	if got := collect(t, db.Changes(1<<40)); got != nil {
		t.Fatalf("changes of no checkpoint: %v", got)
	}
}
