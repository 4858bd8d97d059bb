package engine

import (
	"context"
	"slices"
	"sync"

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
	way, err := r.undoFrom()
	if err != nil {
		return nil, err
	}
	type view struct{ root, rules, coverage oid.ID }
	none := map[view]bool{} // what a plan has no change to
	var roots []oid.ID
	for {
		page, err := r.older(&way)
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
	}
}

// stepBelow finds the newest checkpoint below c whose files differ from those of c; nil for none.
func (r *restoring) stepBelow(c manifest.Checkpoint) (*manifest.Checkpoint, error) {
	today := rules.Today(r.Project, r.fs)
	way, same := below(c), map[oid.ID]bool{c.Root: true}
	for {
		page, err := r.older(&way)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		for _, older := range page {
			if same[older.Root] {
				continue
			}
			differ, err := r.stepDiffers(c, older, today)
			if err != nil {
				return nil, err
			}
			if differ {
				return &older, nil
			}
			same[older.Root] = true
		}
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

// descent is how far an undo has looked. It meets what was saved here first, the newest first, and
// then what was imported, which stands in the log where it was imported but is older.
type descent struct {
	before   uint64 // sequence number; 0: from the newest
	imported bool
}

func below(c manifest.Checkpoint) descent {
	return descent{before: c.Seq, imported: c.Kind == ImportedKind}
}

// older lists the next checkpoints of a descent, and moves it on; none: it is at its end.
func (r *restoring) older(way *descent) (page []manifest.Checkpoint, err error) {
	const limit = 64
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		for {
			n := 0
			for c, err := range db.Checkpoints(manifest.Query{Before: way.before, Limit: limit}) {
				if err != nil {
					return err
				}
				n++
				way.before = c.Seq
				if (c.Kind == ImportedKind) == way.imported {
					page = append(page, c)
				}
			}
			switch {
			case len(page) > 0:
				return nil
			case n > 0:
			case way.imported:
				return nil
			default:
				*way = descent{imported: true}
			}
		}
	})
	return page, err
}

// undoFrom is where an undo begins to look for its checkpoint: at the newest, unless an undo is what
// the working tree stands at. That is so after an undo, and after a restore or another undo behind
// it that was taken back: then the tree is as it was before that.
func (r *restoring) undoFrom() (way descent, err error) {
	ops, err := Operations(r.ctx, r.Project, 0)
	if err != nil {
		return way, err
	}
	now := r.now
	for {
		// What moved only a conversation has no trees.
		i := slices.IndexFunc(ops, func(o manifest.Operation) bool { return o.Kind.Moves() && o.After != (oid.ID{}) })
		if i < 0 {
			return way, nil
		}
		at := ops[i]
		if edited, err := r.editedSince(at, now); err != nil || edited {
			return way, err
		}
		if at.Kind == manifest.OpUndo {
			return r.belowUndo(at)
		}
		back := indexOf(ops, at.Undoes)
		if back <= i {
			return way, nil // a restore, or a log that lost its beginning
		}
		now, ops = ops[back].Before, ops[back+1:]
	}
}

// belowUndo is below the checkpoint that an undo went to; at the newest, if a save came after it.
func (r *restoring) belowUndo(undo manifest.Operation) (way descent, err error) {
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		target, ok, err := db.ByID(undo.Checkpoint)
		if err != nil || !ok {
			return err // collected meanwhile: from the newest again
		}
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1}) {
			if err != nil {
				return err
			}
			if c.Seq < undo.Seq {
				way = below(target)
			}
		}
		return nil
	})
	return way, err
}

// editedSince reports whether a tree, of now or of then, is no longer as the operation left it.
// The scan does not have what is ignored today, or cannot be captured, the operation may; and what was
// ignored before the operation may be seen since it took a rule file away: that is no edit.
func (r *restoring) editedSince(op manifest.Operation, now oid.ID) (bool, error) {
	today := rules.Today(r.Project, r.fs)
	saw := r.sightIn(now, r.scan.Problems, today)
	before := sync.OnceValues(func() (scopes *rules.Scopes, err error) {
		err = r.Query(r.ctx, func(db *manifest.DB) error {
			c, ok, err := db.ByID(op.Safety)
			if ok {
				scopes = rules.Of(r.Project, r.tx, c)
			}
			return err
		})
		return scopes, err
	})
	edited := false
	err := manifest.Diff(r.tx.Load, op.After, now, func(c manifest.Change) error {
		if edited {
			return nil
		}
		if c.New == nil {
			dir := c.Old.Kind == manifest.Subdir
			edited = today.Captures(c.Path, dir) && saw.unseen(c.Path, dir).None()
			return nil
		}
		if c.Old != nil {
			edited = true
			return nil
		}
		then, err := before()
		edited = then == nil || then.Captures(c.Path, c.New.Kind == manifest.Subdir)
		return err
	})
	return edited, err
}
