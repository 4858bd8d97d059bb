package timeline

import (
	"context"
	"math"
	"slices"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// RowOf is the row of one checkpoint or operation, nil where it is gone. It reads what is near it in the log, however
// long the history after it is. look, which may be nil, is called where the row may reach until now. The caller holds the
// project.
func RowOf(ctx context.Context, p *project.Project, seq uint64, look func() *Present) (*Row, error) {
	t := New(p, Options{Folded: true, Safety: true})
	if err := p.Query(ctx, func(db *manifest.DB) (err error) {
		t.through, err = through(ctx, db, seq)
		return err
	}); err != nil {
		return nil, err
	}
	if t.through == 0 && look != nil {
		t.o.Present = look()
	}
	for {
		rows, err := t.Next(ctx, 16)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		for _, r := range rows {
			switch {
			case r.Kind == Now || r.Seq > seq:
			case r.Seq == seq:
				return r, nil
			default:
				return nil, nil
			}
		}
	}
}

const (
	// quiet is after how many events a session that had none of them is taken to have ended. The line of a stop that
	// made no checkpoint is in the next checkpoint of any session.
	quiet = 1024
	// firstStretch is how many sequence numbers are looked at first.
	firstStretch = 64
)

// unfinished is a session whose next turn was not seen yet.
type unfinished struct {
	calls int // how many of its checkpoints may still lie before the end of a call
	quiet int // how many events came after its last
}

// through is the sequence number of the event from which a timeline has to be read, so that the row of seq is as if all
// had been read; 0 is the newest. That is an operation that moved the tree, which ends all turns, or where every session
// that the row may tell of has begun its next turn.
func through(ctx context.Context, db *manifest.DB, seq uint64) (uint64, error) {
	moved := uint64(math.MaxUint64)
	for o, err := range db.Operations() {
		if err != nil {
			return 0, err
		}
		if o.Seq > seq && o.Kind.Moves() && movedTree(&o) {
			moved = min(moved, o.Seq)
		}
	}
	waits := map[sessionKey]*unfinished{}
	c, err := db.Previous(seq + 1)
	switch {
	case err != nil:
		return 0, err
	case c == nil:
	case c.Seq != seq:
		return 0, nil
	case c.Session != "":
		u := &unfinished{}
		if c.Kind == manifest.PreTool {
			u.calls = nearCall
		}
		waits[sessionKey{c.Agent, c.Session}] = u
	}
	first := true
	for from, n := seq, uint64(firstStretch); ; from, n = from+n, 2*n {
		stretch, newest, err := after(db, from, n)
		if err != nil {
			return 0, err
		}
		for i := range slices.Backward(stretch) {
			c := &stretch[i]
			if moved < c.Seq {
				return moved, nil
			}
			if first { // the row may tell of what came up to this one
				first = false
				waitFor(waits, c)
			}
			if err := seen(db, waits, c); err != nil {
				return 0, err
			}
			if len(waits) == 0 {
				return c.Seq, nil
			}
		}
		if err := ctx.Err(); err != nil || newest {
			return 0, err
		}
	}
}

// after reads the checkpoints of the next n sequence numbers, the newest first, and reports whether these were all.
func after(db *manifest.DB, seq, n uint64) (stretch []manifest.Checkpoint, newest bool, err error) {
	last, err := db.Previous(math.MaxUint64)
	if err != nil {
		return nil, false, err
	}
	newest = last != nil && last.Seq <= seq+n
	for c, err := range db.Checkpoints(manifest.Query{Before: seq + n + 1, All: true}) {
		if err != nil {
			return nil, false, err
		}
		if c.Seq <= seq {
			break
		}
		stretch = append(stretch, c)
	}
	return stretch, newest, nil
}

// waitFor adds the sessions of a checkpoint and of the ends of turns that its lines have.
func waitFor(waits map[sessionKey]*unfinished, c *manifest.Checkpoint) {
	add := func(agent, session string) {
		if key := (sessionKey{agent, session}); session != "" && waits[key] == nil {
			waits[key] = &unfinished{}
		}
	}
	add(c.Agent, c.Session)
	windows, _ := manifest.ParseWindows(c.Windows) // what is damaged has no ends
	for _, w := range windows {
		if ending(w) {
			add(w.Agent, w.Session)
		}
	}
}

// seen takes the next checkpoint in, and removes the sessions of which nothing newer has to be seen.
func seen(db *manifest.DB, waits map[sessionKey]*unfinished, c *manifest.Checkpoint) error {
	for key, u := range waits {
		if u.quiet++; u.quiet > quiet {
			delete(waits, key)
		}
	}
	u := waits[sessionKey{c.Agent, c.Session}]
	if u == nil {
		return nil
	}
	u.quiet = 0
	if u.calls > 0 {
		u.calls--
		return nil
	}
	begins, err := conversation.BeginsTurn(db, c)
	if begins {
		delete(waits, sessionKey{c.Agent, c.Session})
	}
	return err
}
