package attribution

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// point is a state of the whole tree: a checkpoint's, or what an operation left.
type point struct {
	seq  uint64
	time time.Time
	root oid.ID
	c    *manifest.Checkpoint
	op   *manifest.Operation // where c is nil
	at   map[string]time.Time
}

func (p *point) version(e *manifest.Entry) Version {
	v := Version{Seq: p.seq, Time: p.time, Entry: e}
	if p.c != nil {
		v.Checkpoint = p.c.ID
	}
	return v
}

const (
	// lookback is how many checkpoints, or how much time, before those asked for are read for windows.
	lookback     = 512
	lookbackTime = 24 * time.Hour
)

// load reads the log: the points asked for, and the windows that reach into them.
func (a *Attribution) load(db *manifest.DB) error {
	before := a.o.To
	if before != 0 {
		before++
	}
	older := 0
	var since time.Time
	for c, err := range db.Checkpoints(manifest.Query{Before: before, All: true}) {
		if err != nil {
			return err
		}
		if err := a.ctx.Err(); err != nil {
			return err
		}
		a.points = append(a.points, &point{seq: c.Seq, time: c.Time, root: c.Root, c: &c})
		if c.Seq > a.o.From {
			since = c.Time
			continue
		}
		if older++; older > lookback || older > 1 && since.Sub(c.Time) > lookbackTime {
			break
		}
	}
	slices.Reverse(a.points)
	a.build()
	var first uint64
	if len(a.points) > 0 {
		first = a.points[0].seq
	}
	for o, err := range db.Operations() {
		switch {
		case err != nil:
			return err
		case o.Seq < first:
		case o.Kind.Moves() && o.After != (oid.ID{}) && (a.o.To == 0 || o.Seq <= a.o.To):
			a.points = append(a.points, &point{seq: o.Seq, time: o.Time, root: o.After, op: &o})
			continue
		default:
			continue
		}
		break
	}
	slices.SortFunc(a.points, func(x, y *point) int {
		if x.seq < y.seq {
			return -1
		}
		return 1
	})
	return nil
}

// build makes the windows of all points, checkpoints alone so far, oldest first.
func (a *Attribution) build() {
	b := newBuilder()
	for _, p := range a.points {
		if p.c.PromptID != "" && p.c.Prompt != "" {
			b.texts[p.c.PromptID] = p.c.Prompt
		}
	}
	var before time.Time
	for _, p := range a.points {
		for _, l := range linesWith(p.c) {
			l.before = before
			b.add(l)
		}
		before = p.time
	}
	for _, w := range b.windows {
		if w.background && w.closed == 0 {
			a.lasting = append(a.lasting, w)
		} else {
			a.windows = append(a.windows, w)
		}
	}
	a.turns, a.tells = b.turns, b.tells
	a.reach, a.turnReach = reachOf(a.windows), reachOf(a.turns)
}

// linesWith are the lines that a checkpoint brought.
func linesWith(c *manifest.Checkpoint) []line {
	if l, ok := lineOf(c); ok {
		return []line{l}
	}
	return nil
}
