package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// Undo restores the newest checkpoint that differs from the working tree: one to which a plan has something to do.
// Called again, it goes further back from there, unless there was a save or an
// edit in between. Error: *NothingError.
func Undo(ctx context.Context, p *project.Project, o RestoreOptions) (*Restored, error) {
	return runRestore(ctx, p, o, manifest.OpUndo, func(r *restoring) (*restore.Plan, error) {
		from, err := r.undoFrom()
		if err != nil {
			return nil, err
		}
		type view struct{ root, rules, coverage oid.ID }
		none := map[view]bool{} // what a plan has no change to
		var roots []oid.ID
		for {
			page, err := r.older(from, 64)
			if err != nil {
				return nil, err
			}
			if len(page) == 0 {
				if err := r.pathsExist(roots...); err != nil {
					return nil, err
				}
				return nil, &project.NothingError{What: "undo"}
			}
			for _, c := range page {
				v := view{c.Root, c.Rules, c.Coverage}
				if c.Root == r.now || none[v] {
					continue
				}
				plan, err := r.planTo(c)
				if err == nil && !plan.Empty() {
					// Trees may differ where the working tree does not: what is ignored is in the one only.
					err = plan.Read(r.ctx, r.tx)
				}
				if err != nil || !plan.Empty() {
					return plan, err
				}
				none[v] = true
				roots = append(roots, c.Root)
			}
			from = page[len(page)-1].Seq
		}
	})
}

// older lists checkpoints, newest first, below a sequence number (0: from the newest).
func (r *restoring) older(before uint64, limit int) (page []manifest.Checkpoint, err error) {
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Before: before, Limit: limit}) {
			if err != nil {
				return err
			}
			page = append(page, c)
		}
		return nil
	})
	return page, err
}

// undoFrom is the sequence number below which an undo looks for its
// checkpoint: 0, the newest, unless the last thing that happened was an undo.
func (r *restoring) undoFrom() (uint64, error) {
	ops, err := Operations(r.ctx, r.Project, 0)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(ops, func(o manifest.Operation) bool { return o.Kind.Moves() })
	if i < 0 || ops[i].Kind != manifest.OpUndo {
		return 0, nil
	}
	last := ops[i]
	from := uint64(0)
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		target, ok, err := db.ByID(last.Checkpoint)
		if err != nil || !ok {
			return err // collected meanwhile: from the newest again
		}
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1}) {
			if err != nil {
				return err
			}
			if c.Seq < last.Seq { // else a save came after it
				from = target.Seq
			}
		}
		return nil
	})
	if err != nil || from == 0 {
		return 0, err
	}
	edited, err := r.editedSince(last)
	if err != nil || edited {
		return 0, err
	}
	return from, nil
}

// editedSince reports whether the tree is no longer as the operation left it.
// The scan does not have what is ignored today, or cannot be captured, the operation may: that is no edit.
func (r *restoring) editedSince(op manifest.Operation) (bool, error) {
	today := rules.Today(r.Project, r.fs)
	saw := r.sightIn(r.now, r.scan.Problems, today)
	edited := false
	err := manifest.Diff(r.tx.Load, op.After, r.now, func(c manifest.Change) error {
		dir := c.Old != nil && c.Old.Kind == manifest.Subdir
		if c.New != nil || today.Captures(c.Path, dir) && saw.unseen(c.Path, dir).None() {
			edited = true
		}
		return nil
	})
	return edited, err
}

// stacks reads the operation log as two stacks: what can be taken back, and
// what can be done again. The newest is last.
//
// Every operation is taken back the same way, from its After to its Before. So
// a redo takes back the undo, and goes onto the first stack in the place of
// what it did again.
func stacks(newestFirst []manifest.Operation) (undo, redo []manifest.Operation) {
	for _, op := range slices.Backward(newestFirst) {
		switch op.Kind {
		case manifest.OpRestore, manifest.OpUndo:
			undo, redo = append(undo, op), nil
		case manifest.OpUndoRestore:
			if i := indexOf(undo, op.Undoes); i >= 0 {
				undo, redo = undo[:i], append(redo, op)
			}
		case manifest.OpRedoRestore:
			if i := indexOf(redo, op.Undoes); i >= 0 {
				redo, undo = redo[:i], append(undo, op)
			}
		}
	}
	return undo, redo
}

func indexOf(ops []manifest.Operation, seq uint64) int {
	return slices.IndexFunc(ops, func(o manifest.Operation) bool { return o.Seq == seq })
}

// UndoRestore takes the last restore back, and touches only the paths that it
// changed. Errors: *NothingError, and *RefusedError where a path changed since.
func UndoRestore(ctx context.Context, p *project.Project, o RestoreOptions) (*Restored, error) {
	return takeBack(ctx, p, o, manifest.OpUndoRestore, func(ops []manifest.Operation) (manifest.Operation, bool) {
		undo, _ := stacks(ops)
		return last(undo)
	})
}

// RedoRestore does again what UndoRestore took back. A new restore clears what
// could be redone, a save does not. Errors as UndoRestore.
func RedoRestore(ctx context.Context, p *project.Project, o RestoreOptions) (*Restored, error) {
	return takeBack(ctx, p, o, manifest.OpRedoRestore, func(ops []manifest.Operation) (manifest.Operation, bool) {
		_, redo := stacks(ops)
		return last(redo)
	})
}

func last(ops []manifest.Operation) (op manifest.Operation, ok bool) {
	if len(ops) == 0 {
		return op, false
	}
	return ops[len(ops)-1], true
}

func takeBack(ctx context.Context, p *project.Project, o RestoreOptions, kind manifest.OperationKind, which func([]manifest.Operation) (manifest.Operation, bool)) (*Restored, error) {
	return runRestore(ctx, p, o, kind, func(r *restoring) (*restore.Plan, error) {
		ops, err := Operations(ctx, r.Project, 0)
		if err != nil {
			return nil, err
		}
		op, ok := which(ops)
		if !ok {
			return nil, &project.NothingError{What: map[manifest.OperationKind]string{manifest.OpUndoRestore: "undo", manifest.OpRedoRestore: "redo"}[kind]}
		}
		r.op.Undoes, r.op.Checkpoint = op.Seq, op.Safety
		if err := r.reportTarget(op); err != nil {
			return nil, err
		}
		var before []manifest.Operation
		if undo, _ := stacks(ops); kind == manifest.OpUndoRestore {
			before = undo[:len(undo)-1]
		}
		if err := r.prepareMoveBack(op, before); err != nil {
			return nil, err
		}
		r.o.Half = conversation.CodeOnly // what is left to prepare
		return r.planBack(op)
	})
}

// reportTarget finds the checkpoint that the answer names: the one that has
// the tree from before the operation.
func (r *restoring) reportTarget(op manifest.Operation) error {
	return r.Query(r.ctx, func(db *manifest.DB) error {
		c, ok, err := db.ByID(op.Safety)
		if !ok {
			c.ID = op.Safety // collected meanwhile; the operation's own trees are kept
		}
		r.target = c
		return err
	})
}

// planBack plans the way from an operation's After to its Before, on the paths
// that it changed. Their present state must be the one or the other.
func (r *restoring) planBack(op manifest.Operation) (*restore.Plan, error) {
	src := r.tx
	var paths []string
	changes := map[string]manifest.Change{}
	err := manifest.Diff(src.Load, op.Before, op.After, func(c manifest.Change) error {
		if r.sel == nil || r.sel.Has(c.Path) {
			paths = append(paths, c.Path)
			changes[c.Path] = c
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// What each of them is now: as the operation left it, unless this says otherwise.
	since := map[string]*manifest.Entry{}
	err = manifest.Diff(src.Load, r.now, op.After, func(c manifest.Change) error {
		if _, ok := changes[c.Path]; ok {
			since[c.Path] = c.Old
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	present := func(path string) *manifest.Entry {
		if e, ok := since[path]; ok {
			return e
		}
		return changes[path].New
	}
	// What is ignored today is not in the scan: it is looked up on disk.
	var missing []string
	for _, path := range paths {
		if present(path) == nil {
			missing = append(missing, path)
		}
	}
	found, modes, err := restore.LookUp(r.ctx, r.fs, src, r.tx, missing)
	if err != nil {
		return nil, err
	}
	for i := range found {
		since[found[i].Path] = &found[i].Entry
	}
	current, err := restore.EditTree(src, r.tx, r.now, found, modes)
	if err != nil {
		return nil, err
	}
	var conflicts []string
	var edits []restore.Edit
	for _, path := range paths {
		c, now := changes[path], present(path)
		if !restore.Same(now, c.New) && !restore.Same(now, c.Old) {
			conflicts = append(conflicts, path)
		}
		e := restore.Edit{Path: path}
		if c.Old != nil {
			e.Entry = *c.Old
		}
		edits = append(edits, e)
	}
	if len(conflicts) > 0 && !r.o.Force {
		return nil, &project.RefusedError{What: changedSince(len(conflicts)), Paths: conflicts[:min(len(conflicts), manyPaths)], Forcible: true}
	}
	target, err := restore.EditTree(src, r.tx, current, edits, nil)
	if err != nil {
		return nil, err
	}
	r.now = current
	return restore.NewPlan(r.ctx, restore.Options{
		FS: r.fs, Source: src, Current: current, Target: target, Select: restore.NewExactly(paths), Store: rules.StorePath(r.Project), Workers: r.tx.Workers(),
	})
}

// manyPaths is how many paths an error names at most.
const manyPaths = 100

func changedSince(n int) string {
	if n == 1 {
		return "a path has changed since that restore"
	}
	return fmt.Sprintf("%d paths have changed since that restore", n)
}
