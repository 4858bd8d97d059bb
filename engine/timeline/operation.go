package timeline

import (
	"errors"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// movedTree reports whether an operation went to another tree, and not with the conversation alone.
func movedTree(o *manifest.Operation) bool { return o.After != (oid.ID{}) }

func (t *Timeline) takeOperation(db *manifest.DB, o *manifest.Operation) error {
	t.op++
	r := &Row{Kind: Operation, Seq: o.Seq, Time: o.Time, Operation: o, Session: o.Session, Side: Did}
	if movedTree(o) {
		r.From, r.To = &State{Root: o.Before}, &State{Seq: o.Seq, Root: o.After}
	}
	if r.From != nil {
		if err := t.untold(db, r, r.To, false); err != nil {
			return err
		}
	}
	if r.Then == nil {
		if err := t.foldTakenBack(db, o); err != nil {
			return err
		}
	}
	if t.folds[o.Seq] {
		r.Folded = TakenBack
	}
	c, ok, err := db.ByID(o.Safety)
	if err != nil {
		return err
	}
	if ok && r.From != nil {
		r.From = stateOf(&c)
		if r.To.git, r.To.repository = r.From.git, r.From.repository; !o.GitAfter.IsZero() {
			r.To.git, r.To.repository = o.GitAfter, true
		}
		r.spanGit(r.From, r.To, t.newer)
	}
	if r.Target, err = listed(db, o.Checkpoint); err != nil {
		return err
	}
	if r.Turn, err = revertedTurn(db, o); err != nil {
		return err
	}
	if err := t.part(r); err != nil {
		return err
	}
	if err := targetEnds(db, r); err != nil {
		return err
	}
	if !t.o.Only {
		t.pending = r
	}
	if r.From == nil {
		return nil
	}
	t.newer, t.last = r.From, r
	clear(t.turns) // what an older turn did ended before it
	t.due = nil
	clear(t.ended)
	return nil
}

// foldTakenBack folds an operation that took others back, and these, where nothing but they was between: together they
// are no news.
func (t *Timeline) foldTakenBack(db *manifest.DB, o *manifest.Operation) error {
	end := t.op
	for end < len(t.ops) && t.ops[end].Seq > o.Undoes {
		end++
	}
	if t.folds[o.Seq] || o.Undoes == 0 || end == len(t.ops) || t.ops[end].Seq != o.Undoes {
		return nil
	}
	oldest := &t.ops[end]
	if movedTree(o) && movedTree(oldest) {
		if o.After != oldest.Before {
			return nil // a part of it, or something else changed as well
		}
		before := o.Before
		for i := t.op; i <= end; i++ {
			if op := &t.ops[i]; movedTree(op) {
				if op.After != before {
					return nil
				}
				before = op.Before
			}
		}
	} else if end != t.op || movedTree(o) || movedTree(oldest) {
		return nil
	}
	for c, err := range db.Checkpoints(manifest.Query{Before: o.Seq, Limit: 1}) {
		if err != nil || c.Seq > o.Undoes {
			return err
		}
	}
	t.folds[o.Seq] = true
	for i := t.op; i <= end; i++ {
		t.folds[t.ops[i].Seq] = true
	}
	return nil
}

// revertedTurn finds the prompt of the turn that a revert took back: what was typed, as prompt~1, is another one since.
func revertedTurn(db *manifest.DB, o *manifest.Operation) (*project.Listed, error) {
	if o.Kind != manifest.OpRevert {
		return nil, nil
	}
	of := work.ParseDone(*o).Work
	if of.Session == "" || of.All || of.Call != "" || of.Subagent != "" || len(of.Turns) != 1 {
		return nil, nil
	}
	turn := of.Turns[0]
	for c, err := range db.Checkpoints(manifest.Query{Session: of.Session, Kinds: []manifest.CheckpointKind{manifest.Prompt, manifest.SessionStart}}) {
		switch {
		case err != nil:
			return nil, err
		case c.Agent != of.Agent || c.Prompt == "":
		case conversation.PromptTime(&c).Equal(turn.From), turn.PromptID != "" && c.PromptID == turn.PromptID:
			return &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, nil
		}
	}
	return nil, nil
}

var errPart = errors.New("a part")

// part finds out whether an operation brought less than its target. Precious files, which stay where
// the target has none, are no difference.
func (t *Timeline) part(r *Row) error {
	o := r.Operation
	if r.Target == nil || !movedTree(o) || o.After == r.Target.Root || o.Kind != manifest.OpRestore && o.Kind != manifest.OpUndo {
		return nil
	}
	err := manifest.Diff(t.p.LoadDir, o.After, r.Target.Root, func(c manifest.Change) error {
		if c.Precious() {
			return nil
		}
		return errPart
	})
	if r.Part = errors.Is(err, errPart); r.Part || project.IsDamage(t.p.Classify(err)) {
		return nil
	}
	return err
}
