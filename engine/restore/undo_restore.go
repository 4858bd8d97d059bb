package restore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// UndoRestore takes the last operation back, and touches only the paths that it
// changed. With o.To, it takes back all that came since too. Errors: *NothingError, *NotTakenBackError where
// o.To cannot be taken back, and *RefusedError where a path changed since.
func UndoRestore(ctx context.Context, p *project.Project, o Options) (*Restored, error) {
	return undoRestore(ctx, p, o, "")
}

func undoRestore(ctx context.Context, p *project.Project, o Options, verb string) (*Restored, error) {
	return runTakeBack(ctx, p, o, manifest.OpUndoRestore, func(r *Run, ops []manifest.Operation) (way Way, err error) {
		undo, _ := oplog.Stacks(ops)
		i := len(undo) - 1
		if to := o.To; to != 0 {
			if at := oplog.IndexOf(ops, to); at >= 0 {
				if again := oplog.DidAgain(ops, ops[at]); len(again) > 0 {
					to = again[0].Seq
				}
			}
			if i = oplog.IndexOf(undo, to); i < 0 {
				return way, notTakenBack(ops, o.To)
			}
		}
		if i < 0 {
			return way, &project.NothingError{What: oplog.UndoVerb}
		}
		return r.takeBack(ops, undo[i:], manifest.OpUndoRestore, verb)
	})
}

// NotTakenBackError: an operation that Undo with Options.To cannot take back.
type NotTakenBackError struct {
	Verb string // the command that made it
	By   uint64 // sequence number of the one that took it back already, 0 for none
}

func (e *NotTakenBackError) Error() string {
	if e.By != 0 {
		return "that " + e.Verb + " is taken back already"
	}
	return "undo --to does not lead to before that " + e.Verb
}

func notTakenBack(ops []manifest.Operation, seq uint64) error {
	i := oplog.IndexOf(ops, seq)
	if i < 0 {
		return &project.NothingError{What: "undo"}
	}
	e := &NotTakenBackError{Verb: commandOf(ops[i])}
	if by, ok := oplog.TakenBackBy(ops)[seq]; ok {
		e.By = by
	}
	return e
}

// RedoRestore does again what UndoRestore took back. A new restore clears what
// could be redone, a save does not. Errors as UndoRestore.
func RedoRestore(ctx context.Context, p *project.Project, o Options) (*Restored, error) {
	return runTakeBack(ctx, p, o, manifest.OpRedoRestore, func(r *Run, ops []manifest.Operation) (way Way, err error) {
		_, redo := oplog.Stacks(ops)
		if len(redo) == 0 {
			return way, &project.NothingError{What: oplog.RedoVerb}
		}
		return r.takeBack(ops, redo[len(redo)-1:], manifest.OpRedoRestore, "")
	})
}

// Redo goes forward again over the last undo, or the last o.Steps of them: each with all the steps that it went. It is
// one operation, or several where undos of work and operations that were taken back follow each other; nothing is changed
// unless all of it can be. Errors: as UndoRestore, *FewStepsError where there are fewer.
func Redo(ctx context.Context, p *project.Project, o Options) (*Restored, error) {
	n := max(o.Steps, 1)
	ops, err := oplog.Operations(ctx, p, 0)
	if err != nil {
		return nil, err
	}
	var runs []int // of one kind each
	list := oplog.Redoable(ops)
	for i := range min(n, len(list)) {
		if at := len(list) - 1 - i; i > 0 && oplog.RedoKind(list[at]) == oplog.RedoKind(list[at+1]) {
			runs[len(runs)-1]++
		} else {
			runs = append(runs, 1)
		}
	}
	if len(runs) < 2 || n > len(list) || o.DryRun {
		return redo(ctx, p, o, n)
	}
	whole := o
	whole.DryRun, whole.Confirm = true, nil
	all, err := redo(ctx, p, whole, n)
	if err != nil {
		return nil, err
	}
	if all.takesAway() {
		if err := o.confirm(all); err != nil {
			return nil, err
		}
	}
	o.Confirm = nil // once for all of it
	left := n
	all.StepsBack = 0
	for _, n := range runs {
		done, err := redo(ctx, p, o, n)
		switch {
		case err != nil && left < max(o.Steps, 1):
			return nil, fmt.Errorf("only a part was redone, and rewind redo %d does the rest: %w", left, err)
		case err != nil:
			return nil, err
		}
		left -= n
		all.StepsBack += done.StepsBack
		all.DryRun, all.Checkpoint, all.Safety, all.Operation = false, done.Checkpoint, done.Safety, done.Operation
		all.Skip, all.Late = append(all.Skip, done.Skip...), append(all.Late, done.Late...)
	}
	return all, nil
}

// redo goes over the last n undos by one operation.
func redo(ctx context.Context, p *project.Project, o Options, n int) (*Restored, error) {
	withGit := false
	done, err := runTakeBack(ctx, p, o, manifest.OpUndoRestore, func(r *Run, ops []manifest.Operation) (way Way, err error) {
		list := oplog.Redoable(ops)
		switch {
		case len(list) == 0:
			return way, &project.NothingError{What: oplog.RedoVerb}
		case len(list) < n:
			return way, &project.FewStepsError{What: oplog.RedoVerb, Have: len(list)}
		}
		withGit = slices.ContainsFunc(list[len(list)-n:], func(o manifest.Operation) bool { return strings.Contains(o.Args, "--git") })
		return r.takeBack(ops, list[len(list)-n:], oplog.RedoKind(list[len(list)-1]), oplog.RedoVerb)
	})
	if err != nil || done.StepsBack < 2 || done.Operation == 0 {
		return done, err
	}
	if ops, err := oplog.Operations(ctx, p, 0); err == nil { // else the files are what counts
		if i := oplog.IndexOf(ops, done.Operation); i >= 0 && isOneStep(ops, ops[i]) {
			done.StepsBack = 1
		}
	}
	// A step in which only git's own state differs is none of an undo without --git, so that fewer can lead back.
	for n := done.StepsBack; withGit && n > 0; n-- {
		back, err := Undo(ctx, p, Options{Steps: n, DryRun: true})
		if err == nil && slices.Equal(back.Delete, done.Create) && slices.Equal(back.Create, done.Delete) && slices.Equal(back.Replace, done.Replace) {
			done.StepsBack = n
			break
		}
	}
	return done, nil
}

// isOneStep reports whether an undo takes back an operation of the log as one step.
func isOneStep(log []manifest.Operation, op manifest.Operation) bool {
	return oplog.TakenBackWhole(log, op) ||
		op.Kind != manifest.OpUndoRestore && oplog.OriginOf(log, op).Kind != manifest.OpUndo && len(oplog.DidAgain(log, op)) == 0
}

// stepsOf is how many steps an undo went, by what was typed.
func stepsOf(undo manifest.Operation) int {
	typed, _, _ := strings.Cut(undo.Args+" ", "-- ")
	words := strings.Fields(typed)
	for i, word := range words {
		if n, err := strconv.Atoi(word); err == nil && n > 0 && (i == 0 || words[i-1] != "--to") {
			return n
		}
	}
	return 1
}

// runTakeBack runs what takes operations back. choose gets the log, the newest first.
func runTakeBack(ctx context.Context, p *project.Project, o Options, kind manifest.OperationKind, choose func(*Run, []manifest.Operation) (Way, error)) (*Restored, error) {
	return Do(ctx, p, o, kind, func(r *Run) (way Way, err error) {
		ops, err := oplog.Operations(ctx, r.Project, 0)
		if err != nil {
			return way, err
		}
		return choose(r, ops)
	})
}

// takeBack plans to take back operations of the log, the newest last, as one operation.
func (r *Run) takeBack(ops, back []manifest.Operation, kind manifest.OperationKind, verb string) (way Way, err error) {
	oldest := back[0]
	for _, op := range back {
		if there, err := r.treesThere(ops, op); err != nil {
			return way, err
		} else if !there {
			return way, &project.NothingError{What: cmp.Or(verb, oplog.UndoVerb), Next: "the state before that operation was removed, since it is old: rewind list --all shows what is kept"}
		}
		way.takesBack = append(way.takesBack, op.Seq)
		if verb == oplog.RedoVerb {
			way.found.StepsBack += stepsOf(op)
		}
	}
	if len(back) == 1 {
		origin := oplog.OriginOf(ops, oldest)
		way.found.Of, way.found.OfVerb = origin.Kind, commandOf(origin)
		if kind == manifest.OpRedoRestore && origin.Kind == manifest.OpRevert {
			if way.Notice, err = noticeAgain(r.Ctx, r.Project, origin); err != nil {
				return way, err
			}
		}
	}
	r.Op.Kind, r.Op.Verb, r.Op.Undoes = kind, verb, oldest.Seq
	if way.Target, err = r.stateBefore(oldest); err != nil {
		return way, err
	}
	if err := r.prepareMoveBack(&way, ops, back); err != nil {
		return way, err
	}
	if err := r.hasHalf(way.move, back); err != nil {
		return way, err
	}
	if err := r.takeBackGit(&way, back); err != nil {
		return way, err
	}
	r.Options.Half = conversation.CodeOnly // what is left to prepare
	if way.found.Forgotten, err = r.forgottenOf(back); err != nil {
		return way, err
	}
	way.Plan, err = r.planBack(way.Target, back)
	return way, err
}

// hasHalf refuses to take back operations that have nothing of the half that was asked for: the log would count them as
// taken back.
func (r *Run) hasHalf(move *conversation.Move, back []manifest.Operation) error {
	switch {
	case r.Options.Half == conversation.ConversationOnly && move == nil:
		return &conversation.NoConversationError{Reason: "that operation moved no conversation"}
	case r.Options.Half == conversation.CodeOnly && !slices.ContainsFunc(back, func(o manifest.Operation) bool {
		return o.After != (oid.ID{}) || o.Fork == "" && o.TranscriptBackup == "" // what cancelled out moved neither half
	}):
		what := oplog.UndoVerb
		if r.Op.Verb == oplog.RedoVerb || r.Op.Kind == manifest.OpRedoRestore {
			what = oplog.RedoVerb
		}
		return &project.NothingError{What: what, Next: "that operation moved only the conversation: leave out --code-only"}
	}
	return nil
}

// stateBefore is the checkpoint that has the tree from before an operation; only its id where it was collected meanwhile.
func (r *Run) stateBefore(op manifest.Operation) (manifest.Checkpoint, error) {
	c, _, err := r.byID(op.Safety)
	c.ID = op.Safety
	return c, err
}

// planBack plans the way from the After of operations, the newest last, to the Before of the first,
// on the paths that they changed. What is there now must be the After or the Before
// of each in its turn.
func (r *Run) planBack(target manifest.Checkpoint, ops []manifest.Operation) (*treeio.Plan, error) {
	w := wayBack{r: r, selected: r.selected(target), now: map[string]*manifest.Entry{}}
	for _, op := range slices.Backward(ops) {
		if err := w.take(op); err != nil {
			return nil, err
		}
	}
	current, err := treeio.EditTree(r.Tx, r.Tx, r.Now, w.found, w.modes)
	if err != nil {
		return nil, err
	}
	if len(w.conflicts) > 0 && !r.Options.Force {
		slices.Sort(w.conflicts)
		w.conflicts = slices.Compact(w.conflicts)
		return nil, &project.RefusedError{What: changedSince(len(w.conflicts)), Paths: w.conflicts[:min(len(w.conflicts), manyPaths)], Forcible: true}
	}
	var edits []treeio.Edit
	paths := slices.Sorted(maps.Keys(w.now))
	for _, path := range paths {
		e := treeio.Edit{Path: path}
		if to := w.now[path]; to != nil {
			e.Entry = *to
		}
		edits = append(edits, e)
	}
	root, err := treeio.EditTree(r.Tx, r.Tx, current, edits, nil)
	if err != nil {
		return nil, err
	}
	r.Now = current
	return treeio.NewPlan(r.Ctx, r.PlanOptions(root, treeio.NewExactly(paths)))
}

// wayBack is the working tree on the paths of operations, as it becomes while they are taken back.
type wayBack struct {
	r         *Run
	selected  treeio.Selection           // nil: everything
	now       map[string]*manifest.Entry // by path, after what was taken back so far; nil: nothing there
	found     []treeio.Edit
	modes     map[string]uint32
	conflicts []string
}

// take takes one operation back.
func (w *wayBack) take(op manifest.Operation) error {
	r := w.r
	changes, kept := map[string]manifest.Change{}, r.Sessions()
	err := manifest.Diff(r.Tx.Load, op.Before, op.After, func(c manifest.Change) error {
		if (w.selected == nil || w.selected.Has(c.Path)) && !kept(c.Path) {
			changes[c.Path] = c
		}
		return nil
	})
	if err != nil {
		return err
	}
	added, err := r.withDatabases(op, changes)
	if err != nil {
		return err
	}
	// What each of them is now: as the operation left it, unless this says otherwise.
	since := map[string]*manifest.Entry{}
	err = manifest.Diff(r.Tx.Load, r.Now, op.After, func(c manifest.Change) error {
		if _, ok := changes[c.Path]; ok {
			since[c.Path] = c.Old
		}
		return nil
	})
	if err != nil {
		return err
	}
	present := func(path string) *manifest.Entry {
		if e, ok := w.now[path]; ok {
			return e
		}
		if e, ok := since[path]; ok {
			return e
		}
		return changes[path].New
	}
	// What is ignored today is not in the scan: it is looked up on disk.
	var missing []string
	for path := range changes {
		if _, ok := w.now[path]; !ok && present(path) == nil {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	found, modes, err := treeio.LookUp(r.Ctx, r.FS, r.Tx, r.Tx, missing)
	if err != nil {
		return err
	}
	for i := range found {
		since[found[i].Path] = &found[i].Entry
	}
	w.found = append(w.found, found...)
	if w.modes == nil {
		w.modes = modes
	} else {
		maps.Copy(w.modes, modes)
	}
	for path, c := range changes {
		now := present(path)
		none := func(e *manifest.Entry) bool { return e == nil || treeio.Nothing(*e) }
		if added[path] && none(c.New) && none(now) {
			continue
		}
		if !treeio.Same(now, c.New) && !treeio.Same(now, c.Old) {
			w.conflicts = append(w.conflicts, path)
		}
		w.now[path] = c.Old
	}
	return nil
}

// manyPaths is how many paths an error names at most.
const manyPaths = 100

func changedSince(n int) string {
	if n == 1 {
		return "a path has changed since that operation"
	}
	return fmt.Sprintf("%d paths have changed since that operation", n)
}
