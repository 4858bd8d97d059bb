package attempts

import (
	"context"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Base is what two states are compared with.
type Base struct {
	Checkpoint project.Listed
	Fork       *Fork // nil: the two are not in different attempts of one place
	A, B       int   // in Fork: the attempts
	Linear     bool  // without a Fork: one of the two came from the other, which is the base
}

// BaseOf finds the nearest state that two have in common; nil is the present tree. Of two attempts of a place, that is
// its base. Else it is the newest checkpoint that both came from: after a restore, that is the checkpoint to which it went. nil
// where nothing is known of that: the log has lost it.
func BaseOf(ctx context.Context, p *project.Project, x, y *manifest.Checkpoint) (base *Base, err error) {
	_, err = with(ctx, p, func(r *reading) (*Fork, error) {
		for _, k := range r.sessions(maxTranscripts) {
			if err := r.joinPrompts(k); err != nil {
				return nil, err
			}
		}
		f, a, b, err := r.common(x, y)
		if err != nil {
			return nil, err
		}
		if f != nil {
			base = &Base{Checkpoint: f.Base, Fork: f, A: a, B: b}
			return f, nil
		}
		c := r.ancestor(x, y)
		if c == nil {
			return nil, nil
		}
		base = &Base{Linear: x != nil && c.Seq == x.Seq || y != nil && c.Seq == y.Seq}
		return nil, p.Query(ctx, func(db *manifest.DB) error {
			base.Checkpoint = project.Listed{Checkpoint: *c, N: db.Position(c.Seq)}
			return nil
		})
	})
	return base, err
}

// ancestor is the newest checkpoint that both states came from; nil for none.
func (r *reading) ancestor(x, y *manifest.Checkpoint) *manifest.Checkpoint {
	from := map[uint64]*manifest.Checkpoint{} // what the state of a checkpoint came from
	before := map[uint64]*manifest.Checkpoint{}
	roots := map[oid.ID]*manifest.Checkpoint{}
	var cur *manifest.Checkpoint
	for _, e := range r.l.events {
		if c := e.c; c != nil {
			from[c.Seq] = cur
			cur, roots[c.Root] = c, c
			continue
		}
		op := e.op
		before[op.Seq] = cur
		if op.After == (oid.ID{}) || op.PutsBack() {
			continue
		}
		switch op.Kind {
		case manifest.OpUndoRestore, manifest.OpRedoRestore:
			if was, ok := before[op.Undoes]; ok {
				cur = was
				continue
			}
		case manifest.OpRestore, manifest.OpUndo:
		default:
			continue
		}
		switch c := r.l.byID[op.Checkpoint]; {
		case c != nil && r.part(op, c):
		case c != nil:
			cur = c
		case roots[op.After] != nil:
			cur = roots[op.After]
		}
	}
	if x == nil {
		x = cur
	}
	if y == nil {
		y = cur
	}
	line := map[uint64]bool{}
	for c := x; c != nil && !line[c.Seq]; c = from[c.Seq] {
		line[c.Seq] = true
	}
	seen := map[uint64]bool{}
	for c := y; c != nil && !seen[c.Seq]; c = from[c.Seq] {
		if seen[c.Seq] = true; line[c.Seq] {
			return c
		}
	}
	return nil
}
