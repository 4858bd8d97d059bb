package engine

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// Undo goes o.Steps (0: one) steps back. The first is to the newest checkpoint that differs from
// the working tree: one to which a plan has something to do. Each further step is to the newest
// below it whose files differ from its own. Called again, it goes further back from there, unless
// there was a save or an edit in between. It is one operation, with one safety checkpoint, however
// many the steps. Errors: *NothingError, *FewStepsError where there are fewer.
func Undo(ctx context.Context, p *project.Project, o RestoreOptions) (*Restored, error) {
	return runRestore(ctx, p, o, manifest.OpUndo, func(r *restoring) (*restore.Plan, error) {
		plan, err := r.firstStep()
		if err != nil || o.Steps < 2 {
			return plan, err
		}
		for done := 1; done < o.Steps; done++ {
			next, err := r.stepBelow(r.target)
			if err != nil {
				return nil, err
			}
			if next == nil {
				return nil, &project.FewStepsError{What: "undo", Have: done}
			}
			r.target = *next
		}
		return r.planTo(r.target)
	})
}

// firstStep plans the way to the newest checkpoint that differs from the working tree.
func (r *restoring) firstStep() (*restore.Plan, error) {
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
}

// stepBelow finds the newest checkpoint below c whose files differ from those of c; nil for none.
func (r *restoring) stepBelow(c manifest.Checkpoint) (*manifest.Checkpoint, error) {
	today := rules.Today(r.Project, r.fs)
	from, same := c.Seq, map[oid.ID]bool{c.Root: true}
	for {
		page, err := r.older(from, 64)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		for _, below := range page {
			if same[below.Root] {
				continue
			}
			differ, err := r.stepDiffers(c, below, today)
			if err != nil {
				return nil, err
			}
			if differ {
				return &below, nil
			}
			same[below.Root] = true
		}
		from = page[len(page)-1].Seq
	}
}

// stepDiffers reports whether a restore that goes from the one checkpoint to the other has
// something to do: a path that the other did not see, or that is out of scope, is no difference.
func (r *restoring) stepDiffers(from, to manifest.Checkpoint, today *rules.Scopes) (bool, error) {
	target := rules.Of(r.Project, r.tx, to)
	var saw *sight
	differ := false
	err := manifest.Diff(r.tx.Load, to.Root, from.Root, func(c manifest.Change) error {
		if differ || r.sel != nil && !r.sel.Has(c.Path) {
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
		differ = target.MayGo(c.Path, dir) && today.MayGo(c.Path, dir) && saw.unseen(c.Path, dir).None()
		return nil
	})
	return differ, err
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
// checkpoint: 0, the newest, unless an undo is what the working tree stands at. That is so
// after an undo, and after a restore or another undo behind it that was taken back.
func (r *restoring) undoFrom() (uint64, error) {
	ops, err := Operations(r.ctx, r.Project, 0)
	if err != nil {
		return 0, err
	}
	undo, _ := stacks(ops)
	at, ok := last(undo)
	if ok {
		at = originOf(ops, at)
	}
	if !ok || at.Kind != manifest.OpUndo {
		return 0, nil
	}
	from := uint64(0)
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		target, ok, err := db.ByID(at.Checkpoint)
		if err != nil || !ok {
			return err // collected meanwhile: from the newest again
		}
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1}) {
			if err != nil {
				return err
			}
			if c.Seq < at.Seq { // else a save came after it
				from = target.Seq
			}
		}
		return nil
	})
	if err != nil || from == 0 {
		return 0, err
	}
	// What moved only a conversation has no trees.
	i := slices.IndexFunc(ops, func(o manifest.Operation) bool { return o.Kind.Moves() && o.After != (oid.ID{}) })
	if i < 0 {
		return 0, nil
	}
	edited, err := r.editedSince(ops[i])
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
