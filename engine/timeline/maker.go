package timeline

import (
	"context"
	"math"
	"sort"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Makers says which rows made what is first seen in a checkpoint: the tool call before it, the prompt
// whose turn it was, what a person did after a stop, a restore. It reads the timeline once, and no
// further back than it is asked. The caller holds the project; it is for one goroutine.
type Makers struct {
	p       *project.Project
	t       *Timeline
	present *Present
	now     *Row
	rows    []*Row   // newest first: all that there are
	reach   []uint64 // of each whole page of them, up to where its rows reach: see ended
	done    bool
	known   map[makerKey]Made
	db      *manifest.DB // while Ask runs
	owners
}

type makerKey struct {
	path     string
	from, to uint64
}

// ThenNow is the end of what came after all checkpoints.
const ThenNow = math.MaxUint64

// makerPage is how many rows are read at a time.
const makerPage = 256

// NewMakers begins at the newest row. now may be nil: the tree was not looked at.
func NewMakers(p *project.Project, now *Present) *Makers {
	return &Makers{p: p, t: New(p, Options{Present: now, Folded: true, Safety: true}), present: now, known: map[makerKey]Made{}}
}

// Ask is for many questions with one look into the database.
func (m *Makers) Ask(ctx context.Context, questions func() error) error {
	return m.p.Query(ctx, func(db *manifest.DB) error {
		m.db = db
		defer func() { m.db = nil }()
		return questions()
	})
}

// Now is the row of the present tree; nil if it was not looked at.
func (m *Makers) Now(ctx context.Context) (*Row, error) {
	if len(m.rows) == 0 && !m.done {
		if err := m.more(ctx); err != nil {
			return nil, err
		}
	}
	return m.now, nil
}

// Row is that of a checkpoint; nil where it is gone.
func (m *Makers) Row(ctx context.Context, seq uint64) (*Row, error) {
	if err := m.readTo(ctx, seq); err != nil {
		return nil, err
	}
	if i := m.at(seq); i < len(m.rows) && m.rows[i].Seq == seq {
		return m.rows[i], nil
	}
	return nil, nil
}

// Shown is the row of a checkpoint, or, where the list leaves that row out, the row whose turn the checkpoint is in; nil where
// it is gone.
func (m *Makers) Shown(ctx context.Context, seq uint64) (*Row, error) {
	own, err := m.Row(ctx, seq)
	if own == nil || own.Folded == "" || err != nil {
		return own, err
	}
	before, err := m.checkpointBefore(ctx, seq)
	if before == nil || err != nil {
		return own, err
	}
	turn, err := m.made(ctx, before.Seq, seq, func(r *Row) bool {
		return r.Folded == "" && r.Checkpoint != nil && r.Agent == own.Agent && r.Session == own.Session
	}, func(_, best *Row) bool { return best != nil })
	if turn == nil || err != nil {
		return own, err
	}
	return turn, nil
}

// Maker is what made what differs at a path ("": anywhere; of a directory, in it) between a checkpoint and the one
// before it, or, of ThenNow, between the newest and now. Nothing is known of what was there in the oldest checkpoint
// already.
func (m *Makers) Maker(ctx context.Context, path string, seq uint64) (Made, error) {
	before, err := m.checkpointBefore(ctx, seq)
	if err != nil {
		return Made{}, err
	}
	if before == nil {
		// Of the oldest: what a person saved. Anything else began with what was there.
		r, err := m.Row(ctx, seq)
		if r == nil || r.Side != Since || r.Checkpoint == nil || r.Checkpoint.Parent != (manifest.CheckpointID{}) {
			return Made{}, err
		}
		return Made{Row: r}, err
	}
	return m.Between(ctx, path, before.Seq, seq)
}

// Between is Maker for two checkpoints that are not neighbours: what made the newest difference.
func (m *Makers) Between(ctx context.Context, path string, from, to uint64) (Made, error) {
	key := makerKey{path, from, to}
	if r, ok := m.known[key]; ok {
		return r, nil
	}
	r, err := m.between(ctx, path, from, to)
	if err == nil {
		m.known[key] = r
	}
	return r, err
}

func (m *Makers) between(ctx context.Context, path string, from, to uint64) (Made, error) {
	if err := m.readTo(ctx, from); err != nil {
		return Made{}, err
	}
	var states []*State // newest first
	if to == ThenNow {
		states = append(states, &State{Seq: ThenNow})
		if m.present != nil {
			states[0].Root = m.present.Root
		}
	}
	for i := m.at(to); i < len(m.rows) && m.rows[i].Seq >= from; i++ {
		if s := m.rows[i].left(); s != nil {
			states = append(states, s)
		}
	}
	if len(states) < 2 {
		return Made{}, nil
	}
	for i := 0; i+1 < len(states); i++ {
		if states[i].Seq == ThenNow && m.present == nil && len(states) > 2 {
			continue // of now nothing is known
		}
		if len(states) == 2 {
			break
		}
		differs, err := m.differ(path, states[i+1].Root, states[i].Root)
		if project.IsDamage(m.p.Classify(err)) {
			continue
		} else if err != nil {
			return Made{}, err
		}
		if differs {
			return m.madeIn(ctx, path, states[i+1].Seq, states[i].Seq)
		}
	}
	return m.madeIn(ctx, path, states[1].Seq, states[0].Seq)
}

// Prompt is what a row's agent was asked to do: its own, or that of the turn that it is in.
func (m *Makers) Prompt(ctx context.Context, r *Row) (string, error) {
	c := r.Checkpoint
	switch {
	case c == nil:
		return "", nil
	case c.Prompt != "" || r.Kind != Tool || r.Session == "":
		return c.Prompt, nil
	}
	for i := m.at(r.Seq) + 1; ; i++ {
		o, err := m.row(ctx, i)
		if o == nil {
			return "", err
		}
		switch {
		case o.Agent != r.Agent || o.Session != r.Session || o.Subagent != "" || o.Checkpoint == nil:
			continue
		case o.Checkpoint.Prompt != "":
			return o.Checkpoint.Prompt, nil
		case o.Kind == Stop:
			return "", nil
		}
	}
}

// left is the state that a row's event left; nil for none.
func (r *Row) left() *State {
	switch {
	case r.Checkpoint != nil:
		return stateOf(&r.Checkpoint.Checkpoint)
	case r.Kind == Operation:
		return r.To
	}
	return nil
}

func (m *Makers) differ(path string, a, b oid.ID) (bool, error) {
	if path == "" || a == b {
		return a != b, nil
	}
	load := m.present.load(m.p.LoadDir)
	x, inA, err := manifest.Find(load, a, path)
	if err != nil {
		return false, err
	}
	y, inB, err := manifest.Find(load, b, path)
	switch {
	case err != nil || inA != inB:
		return true, err
	}
	return inA && !x.Alike(y), nil
}

// load loads a directory of the tree as it was, where it was looked at, or else as stored does.
func (n *Present) load(stored func(oid.ID) (manifest.Dir, error)) func(oid.ID) (manifest.Dir, error) {
	if n == nil {
		return stored
	}
	return func(id oid.ID) (manifest.Dir, error) {
		if d, ok := n.dirs[id]; ok {
			return d, nil
		}
		return stored(id)
	}
}

// made finds the row of what lies between two neighbouring states, at the finest grain that there is, among those that
// fit. stop, which may be nil, says from which row on, given the best so far, no older one is looked at.
func (m *Makers) made(ctx context.Context, from, to uint64, fits func(*Row) bool, stop func(r, best *Row) bool) (best *Row, err error) {
	rank := math.MaxInt
	for i := m.at(to); ; i++ {
		r, err := m.row(ctx, i)
		if r == nil {
			return best, err
		}
		if r.Seq < from && (rank < rankTurn || r.Kind == Operation) {
			return best, nil // a turn, too, ends before an operation
		}
		if stop != nil && stop(r, best) {
			return best, nil
		}
		if r.Seq < from && i%makerPage == 0 && m.ended(i/makerPage, from) {
			i += makerPage - 1
			continue
		}
		if n := r.grain(); n < rank && r.covers(from, to) && fits(r) {
			best, rank = r, n
		}
	}
}

// ended reports whether all rows of a page ended before a state, and none is an operation.
func (m *Makers) ended(page int, state uint64) bool {
	for n := len(m.reach); (n+1)*makerPage <= len(m.rows); n++ {
		last := uint64(0)
		for _, r := range m.rows[n*makerPage : (n+1)*makerPage] {
			if r.Kind == Operation || r.To == nil || r.To.Seq == 0 {
				last = math.MaxUint64
				break
			}
			last = max(last, r.To.Seq)
		}
		m.reach = append(m.reach, last)
	}
	return page < len(m.reach) && m.reach[page] <= state
}

// rankTurn is the grain of what has several states in it: rows that are older may be meant.
const rankTurn = 5

// grain is the smaller, the less a row tells of together.
func (r *Row) grain() int {
	switch {
	case r.Kind == Operation:
		return 0
	case r.Kind == Tool && r.Side == Did:
		return 1
	case r.Kind == Tool:
		return 2
	case r.Kind == Safety:
		return 6
	case r.Side == Since && r.Kind != Stop:
		return 3
	case r.Side == After:
		return 4
	}
	return rankTurn
}

// covers reports whether what lies between two neighbouring states is the row's.
func (r *Row) covers(from, to uint64) bool {
	if r.Kind == Operation {
		return r.To != nil && r.Seq == to
	}
	var low uint64
	if r.From != nil {
		low = r.From.Seq
	}
	switch {
	case r.To == nil || r.To.Now: // the newest
		return low <= from
	case r.To.Seq == 0: // what an operation found, and no checkpoint has
		return low == from
	}
	return low <= from && to <= r.To.Seq
}

// checkpointBefore is the newest checkpoint's row before a sequence number; nil for none.
func (m *Makers) checkpointBefore(ctx context.Context, seq uint64) (*Row, error) {
	for i := m.at(seq); ; i++ {
		r, err := m.row(ctx, i)
		if r == nil || r.Seq < seq && r.Checkpoint != nil {
			return r, err
		}
	}
}

// row is the i-th row, the newest first; nil behind the oldest.
func (m *Makers) row(ctx context.Context, i int) (*Row, error) {
	for i >= len(m.rows) {
		if m.done {
			return nil, nil
		}
		if err := m.more(ctx); err != nil {
			return nil, err
		}
	}
	return m.rows[i], nil
}

// at is the index of the newest row that is not newer than seq.
func (m *Makers) at(seq uint64) int {
	return sort.Search(len(m.rows), func(i int) bool { return m.rows[i].Seq <= seq })
}

// readTo reads rows until there is one that is as old as seq.
func (m *Makers) readTo(ctx context.Context, seq uint64) error {
	for !m.done && (len(m.rows) == 0 || m.rows[len(m.rows)-1].Seq > seq) {
		if err := m.more(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *Makers) more(ctx context.Context) error {
	rows, err := m.t.Next(ctx, makerPage)
	if err != nil {
		return err
	}
	m.done = len(rows) == 0
	for _, r := range rows {
		if r.Kind == Now {
			m.now = r
		} else {
			m.rows = append(m.rows, r)
		}
	}
	return nil
}
