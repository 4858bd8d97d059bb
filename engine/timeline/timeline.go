package timeline

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Options select rows.
type Options struct {
	Present *Present   // the present tree, see Look; nil: it was not looked at, and there is no such row
	Folded  bool       // rows without news too
	Safety  bool       // all safety checkpoints, not only those that have changes of which no other row tells
	Git     *GitMemory // remembers what git did; nil: nothing is kept
	Only    bool       // checkpoints only, no operations; they count all the same for what is around
	Filter
}

// Timeline reads rows, newest first, a page at a time. It holds nothing open between
// pages. What is committed meanwhile is not in it. It is for one goroutine.
type Timeline struct {
	p       *project.Project
	o       Options
	through uint64 // sequence number of the newest event to take in, 0: all
	seen    uint64 // sequence number of the last checkpoint taken in, 0 at first
	done    bool

	ops    []manifest.Operation // that moved the tree, newest first
	op     int                  // the next of them
	folds  map[uint64]bool      // operations that were taken back, or did that
	starts project.TurnStarts

	newer    *State // the state that followed what comes next
	turns    map[sessionKey]*turn
	due      []dueEnd
	ended    map[callKey]callEnd // of calls whose end was seen, and not yet their beginning
	next     *project.Listed     // the last checkpoint taken in
	last     *Row                // of the last event taken in that says what the tree was; nil at first
	pending  *Row                // what came before it is not known yet
	folded   int
	stored   map[string]uint64 // bytes of rows that were left out, by the session whose next row has them; "" for the next row of any
	matching *pathMatcher
	began    bool
	git      *Git
	gitLooks int // rows that were looked at with it
	numbered int // the number of the last checkpoint that has one, in this look into the database; 0: not known yet
}

// New begins at the newest row.
func New(p *project.Project, o Options) *Timeline {
	return &Timeline{p: p, o: o, folds: map[uint64]bool{}, starts: project.TurnStarts{}, turns: map[sessionKey]*turn{}, ended: map[callKey]callEnd{}, stored: map[string]uint64{}}
}

// leaveOut keeps what a row brought into the store for the row that tells of it: that of its turn or its call, or the one before it.
func (t *Timeline) leaveOut(r *Row) {
	if c := r.Checkpoint; c != nil {
		session := ""
		if r.Folded == TurnEnd || r.Folded == CallEnd {
			session = c.Session
		}
		t.stored[session] += c.StoredBytes
	}
}

// takeStored gives a row that is shown its own bytes, and those that were kept for it.
func (t *Timeline) takeStored(r *Row) {
	if c := r.Checkpoint; c != nil {
		r.Stored = c.StoredBytes
	}
	if r.Kind == Now {
		return
	}
	for _, session := range slices.Compact([]string{"", r.Session}) {
		r.Stored += t.stored[session]
		delete(t.stored, session)
	}
}

// FoldedAway is how many rows without news were left out so far.
func (t *Timeline) FoldedAway() int { return t.folded }

// Next gives the next rows, at most limit of them (0: all that there are); none at the
// end. Of a pulled log there are those that are not in this store's own, too. Rows belong to the caller; the timeline may still take the prompt from one that
// turns out to be older than it.
func (t *Timeline) Next(ctx context.Context, limit int) ([]*Row, error) {
	var out []*Row
	full := func() bool { return limit > 0 && len(out) >= limit }
	if t.done {
		return nil, nil
	}
	emit := func(db *manifest.DB, older *event) error {
		r, err := t.shown(ctx, db, older)
		if r != nil {
			out = append(out, r)
		}
		return err
	}
	err := t.p.Query(ctx, func(db *manifest.DB) error {
		t.numbered = 0
		if !t.began {
			if err := t.begin(db); err != nil {
				return err
			}
		}
		// take takes the next in; false where the page is full before it.
		take := func(e event) (bool, error) {
			if err := emit(db, &e); err != nil || full() {
				return false, err
			}
			return true, t.take(db, e)
		}
		for c, err := range db.Checkpoints(manifest.Query{Before: t.seen, All: true}) {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			for t.op < len(t.ops) && t.ops[t.op].Seq > c.Seq {
				if ok, err := take(event{op: &t.ops[t.op]}); !ok || err != nil {
					return err
				}
			}
			if ok, err := take(event{checkpoint: &c}); !ok || err != nil {
				return err
			}
		}
		for t.op < len(t.ops) {
			if ok, err := take(event{op: &t.ops[t.op]}); !ok || err != nil {
				return err
			}
		}
		t.done = true
		return emit(db, nil)
	})
	return t.ofPulled(out), err
}

// shown finishes the pending row, which older is behind, and gives it if it is to be shown; else nil.
func (t *Timeline) shown(ctx context.Context, db *manifest.DB, older *event) (*Row, error) {
	r := t.pending
	t.pending = nil
	if r == nil {
		return nil, nil
	}
	older, err := t.withTree(db, older)
	if err != nil {
		return nil, err
	}
	if err := t.finish(db, r, older); err != nil {
		return nil, err
	}
	if r.Kind == Safety && !t.o.Safety {
		alone, err := t.alone(ctx, db, r, older)
		if err == nil && !alone {
			alone, err = t.tellsGit(r)
		}
		if err == nil && !alone {
			t.leaveOut(r)
		}
		if err != nil || !alone {
			return nil, err
		}
	}
	if r.Then != nil {
		if differs, err := t.differs(ctx, r.Then); err != nil {
			return nil, err
		} else if !differs {
			r.Then = nil
		}
	}
	ok, err := t.passes(ctx, r)
	if err != nil || !ok {
		return nil, err
	}
	if r.Folded != "" && !t.o.Folded && t.o.Text == "" { // without news, and not searched for
		t.folded++
		t.leaveOut(r)
		return nil, nil
	}
	t.takeStored(r)
	return r, nil
}

// ofPulled leaves out of a pulled log's rows what this store's own log has, and marks the others as of that log.
func (t *Timeline) ofPulled(rows []*Row) []*Row {
	of := t.p.Of()
	if of == "" {
		return rows
	}
	if i := slices.IndexFunc(rows, func(r *Row) bool { return r.Seq <= t.p.Fork() }); i >= 0 {
		rows, t.done = rows[:i], true
	}
	for _, r := range rows {
		for _, l := range []*project.Listed{r.Checkpoint, r.Target, r.Turn} {
			if l != nil {
				l.Of = of
			}
		}
	}
	return rows
}

// event is a checkpoint or an operation.
type event struct {
	checkpoint *manifest.Checkpoint
	op         *manifest.Operation
}

// after is the state that it left.
func (e *event) after() *State {
	switch {
	case e == nil:
		return nil
	case e.op != nil:
		return &State{Seq: e.op.Seq, Root: e.op.After}
	}
	return stateOf(e.checkpoint)
}

// withTree is the newest event, from the next one on, that says what the tree was: an operation on
// the conversation alone does not.
func (t *Timeline) withTree(db *manifest.DB, next *event) (*event, error) {
	if next == nil || next.op == nil || movedTree(next.op) {
		return next, nil
	}
	var found *event
	for i := t.op; i < len(t.ops) && found == nil; i++ {
		if movedTree(&t.ops[i]) {
			found = &event{op: &t.ops[i]}
		}
	}
	c, err := db.Previous(next.op.Seq)
	if err != nil {
		return nil, err
	}
	if c != nil && (found == nil || c.Seq > found.op.Seq) {
		found = &event{checkpoint: c}
	}
	return found, nil
}

func (t *Timeline) begin(db *manifest.DB) error {
	t.began = true
	for o, err := range db.Operations() {
		if err != nil {
			return err
		}
		if o.Kind.Moves() {
			t.ops = append(t.ops, o)
		}
	}
	if t.through != 0 {
		t.seen = t.through + 1
		for t.op < len(t.ops) && t.ops[t.op].Seq > t.through {
			t.op++
		}
	} else if n := t.o.Present; n != nil {
		t.newer = n.state()
		t.pending = &Row{Kind: Now, Time: n.Time, Side: Since, To: t.newer}
		t.endings(n.windows, nil, n.at)
	}
	return t.prepare(db)
}

// take makes the next event the pending row.
func (t *Timeline) take(db *manifest.DB, e event) error {
	if e.op != nil {
		return t.takeOperation(db, e.op)
	}
	l := &project.Listed{Checkpoint: *e.checkpoint, N: t.number(db, e.checkpoint)}
	t.seen = l.Seq
	t.starts.See(l)
	r := newRow(l)
	if r.Kind == Prompt {
		if begins, err := conversation.BeginsTurn(db, &l.Checkpoint); err != nil {
			return err
		} else if !begins {
			r.Kind = Message
		}
	}
	if r.Kind == Stop || r.Kind == SessionEnd {
		if err := ends(db, r); err != nil {
			return err
		}
	}
	state := stateOf(&l.Checkpoint)
	told, err := t.settle(db, state)
	if err != nil {
		return err
	}
	r.spanGit(state, state, t.newer)
	if l.Kind == manifest.Safety {
		if t.o.Safety || !t.o.Only {
			t.pending = r
		}
		if err := t.untold(db, r, state, told); err != nil {
			return err
		}
		t.newer, t.next, t.last = state, l, r
		t.endingsOf(l)
		return nil
	}
	if err := t.untold(db, r, state, told); err != nil {
		return err
	}
	if r.Side != Since {
		r.To = t.newer
	}
	t.ofCall(r, state)
	if err := t.ofTurn(db, r, state); err != nil {
		return err
	}
	if n := t.next; n != nil && n.Parent == l.ID && t.newer != nil && t.newer.ID == n.ID {
		if r.Side != Since && r.To != nil && r.To.ID == n.ID {
			r.counts = &n.Counts // as the log has them
		}
		if r.Side == After && !n.Counts.None() {
			kind := newRow(n).Kind
			r.Claimed = kind == Manual || kind == Safety && t.o.Safety || kind == Stop && t.last.Side == Since
		}
	}
	t.pending, t.newer, t.next, t.last = r, state, l, r
	t.endingsOf(l)
	return nil
}

// number is a checkpoint's number; they come one after the other, and to ask for each by itself takes long.
func (t *Timeline) number(db *manifest.DB, c *manifest.Checkpoint) int {
	switch {
	case c.Kind == manifest.Safety:
		return 0
	case t.numbered == 0:
		t.numbered = db.Position(c.Seq)
	default:
		t.numbered++
	}
	return t.numbered
}

// listed finds a checkpoint by its id; nil where it is gone.
func listed(db *manifest.DB, id manifest.CheckpointID) (*project.Listed, error) {
	c, ok, err := db.ByID(id)
	if err != nil || !ok {
		return nil, err
	}
	return &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, nil
}

// finish completes a row by what came before it.
func (t *Timeline) finish(db *manifest.DB, r *Row, older *event) error {
	if r.Side == Since && r.From == nil {
		r.From = older.after()
		if c := r.Checkpoint; c != nil && (r.From == nil || r.From.ID == c.Parent) {
			r.counts = &c.Counts
		}
	}
	if r.Kind == Now && older != nil {
		if r.Operation = older.op; r.Operation != nil {
			var err error
			if r.Target, err = listed(db, r.Operation.Checkpoint); err != nil {
				return err
			}
			if err := t.part(r); err != nil {
				return err
			}
			// Where it went has no number: the newest that has is the better name.
			if t := r.Target; t == nil || t.N == 0 {
				if c, ok, err := db.Nth(1); err != nil {
					return err
				} else if ok && c.Root == r.To.Root {
					r.Target = &project.Listed{Checkpoint: c, N: 1}
				}
			}
		} else {
			r.Target = &project.Listed{Checkpoint: *older.checkpoint, N: db.Position(older.checkpoint.Seq)}
		}
		if err := targetEnds(db, r); err != nil {
			return err
		}
	}
	if r.Folded == "" {
		r.Folded = fold(r)
	}
	if err := t.foldEnd(db, r); err != nil {
		return err
	}
	return t.unfoldGit(r)
}

// fold says why a row has no news: what it did is nothing, and the state that it has is
// the next one's too. Where a session began or ended and somebody then saved, the row of the save tells the rest.
func fold(r *Row) Fold {
	c := r.Checkpoint
	if c == nil || r.marked() {
		return ""
	}
	switch {
	case r.Kind == Tool && same(r.From, r.To):
		return Unchanged
	case r.Side != After || !same(r.From, r.To) && (!r.Claimed || r.Kind == Stop):
		return ""
	case r.Kind == Stop:
		if r.Ends == "" && r.Subagent == "" && !r.within {
			return "" // nothing else tells of its turn
		}
		return TurnEnd
	case r.Kind == SessionStart && c.Parent == (manifest.CheckpointID{}):
		return "" // the history begins here
	}
	return Boundary
}
