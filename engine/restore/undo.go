package restore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Undo goes o.Steps (0: one) steps back through what changed the project. A step undoes work: it leads to
// the newest checkpoint whose files differ, or to the state that a newer operation left. Or it takes an operation back
// (restore, revert, back), with both halves where that had both. Called again, it goes further back from
// there; what is done in between is undone first. It is one operation, with one safety
// checkpoint, however many the steps. With o.To, it goes to before that operation.
// Errors: *NothingError, *FewStepsError where there are fewer, and as UndoRestore where operations are taken back.
func Undo(ctx context.Context, p *project.Project, o Options) (*Restored, error) {
	if o.To != 0 {
		return undoRestore(ctx, p, o, oplog.UndoVerb)
	}
	if o.Git != GitStays {
		return Do(ctx, p, o, manifest.OpUndo, (*Run).undoWithGit)
	}
	return Do(ctx, p, o, manifest.OpUndo, func(r *Run) (way Way, err error) {
		ops, err := oplog.Operations(ctx, r.Project, 0)
		if err != nil {
			return way, err
		}
		unfinished, err := r.leftNothing(ops)
		if err != nil {
			return way, err
		}
		past := newPast(r, ops)
		var steps []undoStep
		for len(steps) < max(o.Steps, 1) {
			var s *undoStep
			if r.filesStay(steps) {
				s, err = past.stepFromNow()
			} else {
				s, err = past.stepBelow(steps[len(steps)-1])
			}
			switch {
			case err != nil:
				return way, err
			case s == nil && len(steps) == 0:
				return way, &project.NothingError{What: oplog.UndoVerb, Next: cmp.Or(past.nestedInstead(), r.gitInstead(ops))}
			case s == nil:
				return way, &project.FewStepsError{What: oplog.UndoVerb, Have: len(steps)}
			}
			steps = append(steps, *s)
		}
		way, err = past.undoTo(steps)
		way.found.Unfinished = unfinished
		return way, err
	})
}

// nestedInstead is what to do where only a repository below the project is left to undo; "" where none is.
func (w *past) nestedInstead() string {
	if w.nested == "" {
		return ""
	}
	return "a restore leaves a git repository alone that no checkpoint has: remove it yourself if it is not wanted: " + w.nested
}

// undoStep is one step of an undo: to a state of the project.
type undoStep struct {
	state manifest.Checkpoint // of the root, the rules and the coverage that the state has; no root: the files stay
	named manifest.CheckpointID
	below uint64              // where the next step begins to look; 0: below state
	back  *manifest.Operation // what the step takes back; nil: work is undone
	left  *manifest.Operation // the operation that left the state; nil for a checkpoint
	way   *Way                // to it from the present files, where it took a plan to find the step; nil: not planned
}

// leftNothing is the command of a restore that came last, got as far as its safety checkpoint, and left nothing changed: it was
// killed before its first change, or put back. "" where there is none.
func (r *Run) leftNothing(newestFirst []manifest.Operation) (string, error) {
	c, err := r.NewestCheckpoint()
	if err != nil || c == nil || c.Kind != manifest.Safety {
		return "", err
	}
	if slices.ContainsFunc(newestFirst, func(o manifest.Operation) bool { return o.Kind.Moves() && (o.Seq > c.Seq || o.Safety == c.ID) }) {
		return "", nil
	}
	command, _ := strings.CutPrefix(c.Description, beforeCommand)
	if command == c.Description {
		return "", nil
	}
	return command, nil
}

// filesStay reports whether steps leave the files unchanged.
func (r *Run) filesStay(steps []undoStep) bool {
	return r.Options.Half == conversation.ConversationOnly || !slices.ContainsFunc(steps, func(s undoStep) bool { return s.state.Root != (oid.ID{}) })
}

// undoTo plans the way through steps.
func (w *past) undoTo(steps []undoStep) (way Way, err error) {
	r := w.r
	var back []manifest.Operation // the newest last
	for _, s := range slices.Backward(steps) {
		if s.back != nil {
			back = append(back, *s.back)
		}
	}
	if len(back) == len(steps) && r.Sel == nil {
		return r.takeBack(w.log, back, manifest.OpUndoRestore, oplog.UndoVerb)
	}
	last := steps[len(steps)-1]
	if len(back) > 0 && last.back == nil && r.Options.Half == conversation.ConversationOnly {
		return way, &project.RefusedError{What: "these steps mix operations and earlier checkpoints, and one move of the conversation cannot do both", Next: "run rewind undo --context-only once for each step"}
	}
	if last.way != nil {
		way = *last.way
	} else if way, err = r.planTree(last.state, last.state.Root, w.selected(last.state)); err != nil {
		return way, err
	}
	if last.left != nil {
		r.Op.Below = last.below
		way.named = &last.named
		if last.back == nil {
			way.found.Since = VerbOf(*last.left)
		}
	}
	if len(back) > 0 {
		if err := r.prepareMoveBack(&way, w.log, back); err != nil {
			return way, err
		}
		if err := r.gitOfSteps(&way, back); err != nil {
			return way, err
		}
	}
	if (last.left != nil || way.move != nil) && r.Options.Half == conversation.Both {
		r.Options.Half = conversation.CodeOnly // the conversation is where it belongs, or is on its way
	}
	return way, nil
}

// stepFromNow finds the next step from the present files, nil for none.
func (w *past) stepFromNow() (*undoStep, error) {
	r := w.r
	type view struct {
		root, rules, coverage oid.ID
		held                  int
	}
	none := map[view]bool{} // what a plan has no change to
	var roots []oid.ID
	differs := func(s *undoStep) (bool, error) {
		c := s.state
		v := view{c.Root, c.Rules, c.Coverage, w.heldFor(c)}
		if c.Root == r.Now || none[v] {
			return false, nil
		}
		way, err := w.readTo(c)
		if err != nil || !way.Plan.Empty() || slices.ContainsFunc(way.Plan.Skips, func(s problem.Problem) bool { return s.Code == problem.InTheWay && s.Failed }) {
			s.way = &way
			return true, err
		}
		none[v] = true
		for _, s := range way.Plan.Skips {
			if s.Reason == treeio.ReasonNested && w.nested == "" {
				w.nested = s.Path
			}
		}
		roots = append(roots, c.Root)
		return false, nil
	}
	for {
		c, op, err := w.next()
		if err != nil {
			return nil, err
		}
		var steps []undoStep
		switch {
		case c != nil && r.Options.Half == conversation.ConversationOnly && c.Transcript != nil:
			if there, err := w.talksThere(*c); err != nil {
				return nil, err
			} else if !there {
				w.talk = c.Transcript
				return &undoStep{state: *c}, nil
			}
		case c != nil:
			steps = []undoStep{{state: *c}}
		case op == nil:
			return nil, r.pathsExist(roots...)
		default:
			if steps, err = w.stepsOf(*op); err != nil {
				return nil, err
			}
		}
		for _, s := range steps {
			if s.back != nil && r.Sel == nil {
				return &s, nil
			}
			if s.back == nil && op != nil {
				if edited, err := r.editedSince(*op, r.Now); err != nil {
					return nil, err
				} else if !edited {
					continue
				}
			}
			if differ, err := differs(&s); err != nil || differ {
				return &s, err
			}
		}
	}
}

// byID is a checkpoint of the log; ok is false where it was collected meanwhile.
func (r *Run) byID(id manifest.CheckpointID) (c manifest.Checkpoint, ok bool, err error) {
	err = r.Query(r.Ctx, func(db *manifest.DB) (err error) {
		c, ok, err = db.ByID(id)
		return err
	})
	return c, ok, err
}

// readTo plans the way from the present files to a state, and reads what it would change: trees may differ where the working
// tree does not, since what is ignored is in one of them only.
func (w *past) readTo(c manifest.Checkpoint) (Way, error) {
	way, err := w.r.planTree(c, c.Root, w.selected(c))
	if err == nil && !way.Plan.Empty() {
		err = way.Plan.Read(w.r.Ctx, w.r.Tx)
	}
	return way, err
}

// stepsOf are the steps that lead through an operation: to what it left, where work came after it, and to before it,
// unless it is an undo itself. None, where it has nothing of the half that was asked for.
func (w *past) stepsOf(op manifest.Operation) (steps []undoStep, err error) {
	r := w.r
	if op.Undoes != 0 && !op.MovesHalf() && op.GitAfter.IsZero() {
		return nil, nil // all was there already, or what it took back cancels out
	}
	if there, err := r.treesThere(w.log, op); err != nil || !there {
		return nil, err
	}
	origin, whole := oplog.OriginOf(w.log, op), oplog.TakenBackWhole(w.log, op)
	takesBack := isOneStep(w.log, op)
	files, moved := op.After != (oid.ID{}), origin.Fork != "" || origin.TranscriptBackup != ""
	back := op // or what did it again last
	undo, _ := oplog.Stacks(w.log)
	if i := slices.IndexFunc(undo, func(o manifest.Operation) bool { return oplog.OriginOf(w.log, o).Seq == origin.Seq }); i >= 0 {
		back = undo[i]
	}
	switch {
	case r.Options.Half == conversation.CodeOnly && !files, r.Options.Half == conversation.ConversationOnly && !moved, !files && r.Sel != nil:
		return nil, nil
	case !files || r.Options.Half == conversation.ConversationOnly:
		if takesBack {
			steps = append(steps, undoStep{state: manifest.Checkpoint{Root: op.Before}, below: op.Seq, back: &back, left: &op})
		}
		return steps, nil
	}
	safety, known, err := r.byID(op.Safety)
	if err != nil {
		return nil, err
	}
	// Where it is not known, it was collected, and its rules are not known
	if known && op.Kind == manifest.OpUndoRestore && !whole { // its state is the safety checkpoint of what it took back
		if saved, err := w.follows(op.After); err != nil || saved {
			return nil, err // the checkpoint is the better name for the same
		}
	}
	if known {
		after := safety
		if after.Root = op.After; !op.GitAfter.IsZero() {
			after.Git = op.GitAfter
		}
		steps = append(steps, undoStep{state: after, named: op.Checkpoint, below: op.Seq + 1, left: &op})
	}
	if takesBack {
		safety.Root = op.Before
		steps = append(steps, undoStep{state: safety, named: op.Safety, below: op.Seq, back: &back, left: &op})
	}
	return steps, nil
}

// treesThere reports whether what is needed to undo an operation is kept: of old ones it may be gone.
func (r *Run) treesThere(newestFirst []manifest.Operation, op manifest.Operation) (bool, error) {
	if oplog.IndexOf(newestFirst, op.Seq) < project.KeptOperations {
		return true, nil
	}
	there, err := true, error(nil)
	if op.Safety != (manifest.CheckpointID{}) {
		_, there, err = r.byID(op.Safety)
	}
	for _, root := range []oid.ID{op.Before, op.After} {
		if err == nil && there && root != (oid.ID{}) {
			_, err = r.Tx.Load(root)
		}
	}
	if project.IsDamage(err) {
		return false, nil
	}
	return there, err
}

// stepBelow finds the next step from a state that differs from it; nil for none.
func (w *past) stepBelow(from undoStep) (*undoStep, error) {
	r := w.r
	today := r.Today()
	same := map[oid.ID]bool{from.state.Root: true}
	differs := func(to manifest.Checkpoint) (bool, error) {
		if same[to.Root] {
			return false, nil
		}
		differ, err := w.stepDiffers(from.state, to, today)
		same[to.Root] = !differ
		return differ, err
	}
	if from.left != nil && from.back == nil { // the operation itself is next
		steps, err := w.stepsOf(*from.left)
		if err != nil {
			return nil, err
		}
		if last := steps[len(steps)-1]; last.back != nil {
			return &last, nil
		}
	}
	for {
		c, op, err := w.next()
		if err != nil || c == nil && op == nil {
			return nil, err
		}
		var steps []undoStep
		if c != nil {
			steps = []undoStep{{state: *c}}
		} else if steps, err = w.stepsOf(*op); err != nil {
			return nil, err
		}
		for _, s := range steps {
			if s.back != nil && s.state.Root == (oid.ID{}) { // it moved the conversation alone
				s.state = from.state
				return &s, nil
			}
			if s.back == nil && op != nil { // as stepFromNow has it
				if edited, err := r.editedSince(*op, from.state.Root); err != nil {
					return nil, err
				} else if !edited {
					continue
				}
			}
			if differ, err := differs(s.state); err != nil || differ {
				return &s, err
			}
		}
	}
}

// stepDiffers reports whether a restore that goes from the one checkpoint to the other has
// something to do: a path that the other did not see, or that is out of scope, is no difference.
func (w *past) stepDiffers(from, to manifest.Checkpoint, today *rules.Scopes) (bool, error) {
	r, selected := w.r, w.selected(to)
	target := rules.Of(r.Project, r.Tx, to)
	var saw *Sight
	differ, kept := false, r.Sessions()
	err := manifest.Diff(r.Tx.Load, to.Root, from.Root, func(c manifest.Change) error {
		if differ || selected != nil && !selected.Has(c.Path) || kept(c.Path) {
			return nil
		}
		if saw == nil {
			saw = r.sightOf(to, target)
		}
		if c.Old != nil { // what the target has comes, unless it is half of something
			differ = !saw.torn[c.Path]
			return nil
		}
		dir := c.New.Kind == manifest.Subdir
		differ = target.MayGo(c.Path, dir) && today.MayGo(c.Path, dir) && saw.Unseen(c.Path, dir).None()
		return nil
	})
	return differ, err
}
