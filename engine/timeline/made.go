package timeline

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
)

// Made is what made a change.
type Made struct {
	Row   *Row               // that tells of it; nil where none does, as of what several could have made
	Owner *attribution.Owner // whose it is; nil: not known
}

// Then reports whether it came after what its row did: a turn had ended.
func (m *Made) Then() bool { return m.Row != nil && m.Row.Side == After }

// owners are the steps that were asked for.
type owners struct {
	a     *attribution.Attribution
	low   uint64 // it knows what came behind
	far   uint64 // how far back it will be asked; 0: not known
	steps map[string][]attribution.Step
}

// madeIn is what made what lies between two neighbouring states: the row of its owner.
func (m *Makers) madeIn(ctx context.Context, path string, from, to uint64) (made Made, err error) {
	if made.Owner, err = m.owner(ctx, path, from, to); err != nil {
		return made, err
	}
	if made.Owner == nil {
		made.Row, err = m.made(ctx, from, to, func(*Row) bool { return true }, nil)
		return made, err
	}
	switch by, one := made.Owner.Maker(); {
	case !one:
	case by == nil:
		// These rows reach no further than to the next state.
		made.Row, err = m.made(ctx, from, to, func(r *Row) bool {
			return r.Kind == Manual || r.Kind == Safety || r.Side == After && r.Kind != Operation
		}, func(r, _ *Row) bool { return r.Seq < from })
	case by.Operation != 0:
		made.Row, err = m.Row(ctx, by.Operation)
	default:
		made.Row, err = m.rowOf(ctx, by, from, to)
	}
	return made, err
}

// rowOf is the row that tells of a call: its own, else that of its turn.
func (m *Makers) rowOf(ctx context.Context, by *attribution.Work, from, to uint64) (*Row, error) {
	own := func(r *Row) bool { return r.Session == by.Session && r.Agent == by.Agent && r.Checkpoint != nil }
	isCall := func(r *Row) bool {
		return own(r) && r.Kind == Tool && r.Tool == by.Tool && r.Checkpoint.ToolUseID == by.Call
	}
	// None is looked for in front of the prompt of the turn.
	r, err := m.made(ctx, from, to, func(r *Row) bool {
		return own(r) && r.Kind != Manual && r.Side != After && (r.Kind != Tool || isCall(r))
	}, func(r, best *Row) bool { return best != nil && best.Kind == Prompt && r.Seq < best.Seq })
	if err != nil || r != nil && (r.Kind == Tool || by.Call == "") {
		return r, err
	}
	// It may be first seen long after it was done.
	asked := by.Start.Add(time.Second)
	for i, pages := m.at(to), 0; ; i++ {
		if i >= len(m.rows) {
			if pages++; pages > 2 {
				return r, nil
			}
		}
		o, err := m.row(ctx, i)
		if err != nil {
			return nil, err
		}
		switch {
		case o == nil:
			return r, nil
		case !own(o) || o.Time.After(asked):
		case isCall(o) && by.Call != "":
			return o, nil
		case o.Kind == Prompt && o.Subagent == "":
			if r == nil && (by.PromptID == "" || o.Checkpoint.PromptID == by.PromptID) {
				r = o
			}
			return r, nil
		}
	}
}

// owner is whose the changes between two neighbouring states are; nil: not known.
func (m *Makers) owner(ctx context.Context, path string, from, to uint64) (*attribution.Owner, error) {
	if to == ThenNow && m.present == nil {
		return nil, nil
	}
	if err := m.attribute(ctx, from); err != nil {
		return nil, err
	}
	m.a.Within(m.db)
	steps, err := m.stepsOf(path)
	switch {
	case project.IsDamage(err):
		return nil, nil // verify tells of that
	case err != nil:
		return nil, err
	}
	end := upTo(steps, to)
	if steps = steps[upTo(steps, from):end]; len(steps) == 0 && end > 0 {
		steps = m.steps[path][end-1 : end] // it was seen before the checkpoint that did not see it was written
	}
	if len(steps) > 0 {
		if steps[0].Found() {
			return nil, nil
		}
		o := attribution.Together(steps)
		return &o, nil
	}
	in, err := m.a.Between(from, to)
	if err != nil {
		if project.IsDamage(err) {
			err = nil
		}
		return nil, err
	}
	for p, list := range in {
		if path == "" || strings.HasPrefix(p, path+"/") {
			steps = append(steps, list...)
		}
	}
	if len(steps) == 0 {
		return nil, nil
	}
	o := attribution.Several(steps)
	return &o, nil
}

// upTo is how many of some steps, oldest first, are no newer than seq.
func upTo(steps []attribution.Step, seq uint64) int {
	n, _ := slices.BinarySearchFunc(steps, seq, func(s attribution.Step, seq uint64) int {
		if s.To.Seq <= seq {
			return -1
		}
		return 1
	})
	return n
}

func (m *Makers) stepsOf(path string) (steps []attribution.Step, err error) {
	if path == "" {
		return nil, nil
	}
	steps, ok := m.steps[path]
	if !ok {
		if steps, err = m.a.Steps(path); err == nil {
			m.steps[path] = steps
		}
	}
	return steps, err
}

// Reach says that nothing before checkpoint seq will be asked: what is there already need not be read again.
func (m *Makers) Reach(seq uint64) { m.far = max(seq, 1) }

// fewest is how many sequence numbers behind the newest row are read at first for who changed what.
const fewest = 512

// attribute sees to it that who changed what is known behind a checkpoint; each time, twice as far back.
func (m *Makers) attribute(ctx context.Context, from uint64) error {
	if m.a != nil && m.low <= from {
		return nil
	}
	var low uint64
	if m.far != 0 && m.a == nil {
		low = min(m.far-1, from)
	} else if newest := m.rows[0].Seq; newest > from {
		if back := max(2*(newest-from), fewest); newest > back {
			low = newest - back
		}
	} else if newest > fewest {
		low = newest - fewest
	}
	a, err := attribution.New(ctx, m.p, attribution.Options{From: low, Now: m.present.Seen(m.p)})
	if err != nil {
		return err
	}
	m.a, m.low, m.steps = a, low, map[string][]attribution.Step{}
	return nil
}
