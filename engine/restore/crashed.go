package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// RecoveredRestore says what became of a restore that had crashed.
type RecoveredRestore struct {
	project.CrashedRestore
	Forward bool              // finished; else put back
	Left    []problem.Problem // paths that held neither what they held before nor what they were to hold
}

// ClearUp finishes a restore that was killed after its operation had been recorded, or before it
// had touched anything: what is left of it are temporary files. Any other is left to the restore family.
func ClearUp(ctx context.Context, p *project.Project) error {
	due := func() bool {
		j, err := treeio.Open(p.RestoreDir())
		if err != nil || j == nil {
			return false
		}
		_, recorded, err := (&Run{Project: p, Ctx: ctx}).killed(j)
		return err == nil && (!j.Touched || recorded)
	}
	if !due() {
		return nil
	}
	lock, err := p.Lock(ctx, account.TreeLockName)
	if err != nil {
		return err
	}
	defer lock.Release()
	if !due() { // another was faster
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	r := &Run{Project: p, Ctx: ctx}
	if r.FS, err = rootfs.Open(p.Root()); err != nil {
		return err
	}
	defer r.FS.Close()
	_, err = r.recoverCrashed()
	return p.Classify(err)
}

// recovery is what is to do, or was done, about a restore that crashed.
type recovery struct {
	done  *RecoveredRestore       // nil where nothing was done
	due   *project.CrashedRestore // on a dry run: what would be dealt with first
	alone *manifest.Operation     // that is put back, where nothing else is to do: undo and redo; else nil
	back  []treeio.Change         // what that changes
	left  []problem.Problem       // and what it leaves alone

	git     *gitMove             // the way back of git's own state, where undo or redo put it back; else nil
	gitLeft bool                 // that stays as somebody has left it since: a notice says so
	safety  *manifest.Checkpoint // of what somebody did in git since and what went; nil where nothing did
}

// addTo notes in an answer what was dealt with.
func (c recovery) addTo(answer *Restored) {
	answer.Recovered, answer.Crashed, answer.GitLeft, answer.Safety = c.done, c.due, c.gitLeft, c.safety
}

// recoverCrashed deals with a restore that crashed, before anything else is
// done. It is finished if its operation was recorded, or if the same restore
// is asked for again and git's own state is in neither; else it is put back, with git's own state. For an undo or a redo, putting
// it back is all that there is to do.
func (r *Run) recoverCrashed() (found recovery, err error) {
	j, err := treeio.Open(r.RestoreDir())
	if err != nil || j == nil {
		return found, project.JournalError(err)
	}
	op, recorded, err := r.killed(j)
	if err != nil {
		return found, err
	}
	again := r.Op.Kind == manifest.OpRestore && op.Kind == manifest.OpRestore && r.Options.Checkpoint.ID == op.Checkpoint
	begun := gitBegun(j)
	if recorded {
		begun = nil
	}
	git := begun != nil || !op.GitAfter.IsZero() || r.Options.Git != GitStays
	forward := recorded || again && !git // with git's own state, all is put back and then done again, so that it is one operation
	r.Tx = commit.Begin(r.Project).KeepDirs()
	defer func() {
		_ = r.Tx.Discard() // a committed one has nothing left to discard
		r.Tx = nil
	}()
	if begun != nil {
		if err := r.putGitBack(*begun, &found); err != nil {
			return found, err
		}
	}
	if err := conversation.PutBackMove(r.Ctx, r.Project, &op, recorded); err != nil {
		return found, err
	}
	alone := r.goesBack() && j.Touched && !forward
	var half *checkpoint.Captured
	if alone {
		if half, err = checkpoint.CaptureTree(r.Ctx, r.Project, checkpoint.CaptureOptions{}); err != nil {
			return found, err
		}
		defer half.Discard()
	}
	done, err := j.Recover(r.Ctx, r.FS, r.Tx, forward, treeio.ApplyOptions{
		Sink: r.Tx, Owner: r.Owner, NoSync: r.Settings().Durability == "fast",
		Record: func(out *treeio.Outcome) error {
			if recorded {
				return r.recordLate(op, out)
			}
			return r.recordRecovered(op, j.Back(), out, forward)
		},
	})
	if err != nil {
		return found, err
	}
	if !j.Touched { // it had not begun, or its journal was cut off
		_, err := maintain.RemoveHeld(r.Ctx, r.Project)
		return found, err
	}
	found.done = &RecoveredRestore{CrashedRestore: *project.Describe(j), Forward: done.Forward, Left: done.Left}
	if alone {
		found.alone, found.left = &op, done.Left
		found.back, err = backFrom(half, j, found.left)
	}
	return found, err
}

// goesBack reports whether the call is to go back or forward over what was done last.
func (r *Run) goesBack() bool {
	return r.Op.Kind != manifest.OpRestore && r.Op.Kind != manifest.OpRevert
}

// killed is the operation of a restore that did not finish, and whether the log has it.
func (r *Run) killed(j *treeio.Journal) (op manifest.Operation, recorded bool, err error) {
	if !j.Touched {
		return op, j.Committed, nil
	}
	rec, err := manifest.ParseRecord(j.Note)
	if err != nil || rec.Operation == nil {
		return op, false, &account.DamagedStoreError{What: "the journal of a restore", Err: fmt.Errorf("it contains no operation (%v)", err)}
	}
	op = *rec.Operation
	if j.Committed {
		return op, true, nil
	}
	recorded, err = r.Recorded(r.Ctx, op)
	return op, recorded, err
}

// backFrom are the changes that putting a restore back makes of the tree that it left.
func backFrom(half *checkpoint.Captured, j *treeio.Journal, left []problem.Problem) ([]treeio.Change, error) {
	to, err := treeio.EditTree(half.Tx, half.Tx, half.Root(), without(j.Back(), left), nil)
	if err != nil {
		return nil, err
	}
	return changesBetween(half.Tx.Load, half.Root(), to)
}

// foreseeRecovery finds out what a dry run leaves out: a restore that did not finish is dealt with before anything else.
func (r *Run) foreseeRecovery() (found recovery, err error) {
	crash, err := r.Crashed(r.Ctx)
	if err != nil || crash == nil || crash.Done {
		return found, err
	}
	found.due = crash
	if !r.goesBack() {
		return found, nil
	}
	j, err := treeio.Open(r.RestoreDir())
	if err != nil || j == nil {
		return found, project.JournalError(err)
	}
	op, recorded, err := r.killed(j)
	if err != nil || recorded {
		return found, err
	}
	half, err := checkpoint.CaptureTree(r.Ctx, r.Project, checkpoint.CaptureOptions{Look: true})
	if err != nil {
		return found, err
	}
	defer half.Discard()
	found.alone = &op
	if begun := gitBegun(j); begun != nil {
		r.Tx = half.Tx
		found.git, err = r.foreseeGitBack(*begun)
		if r.Tx = nil; err != nil {
			return found, err
		}
	}
	found.left, err = j.Foresee(func(path string) (*manifest.Entry, error) { return inspect.EntryAt(half.Tx.Load, half.Root(), path) })
	if err != nil {
		return found, err
	}
	found.back, err = backFrom(half, j, found.left)
	return found, err
}

// recoveryAlone is the answer where dealing with a crashed restore is all.
func (r *Run) recoveryAlone(crashed recovery) (way Way, out *Restored) {
	way.Target.ID, way.git = crashed.alone.Safety, crashed.git
	crashed.addTo(&way.found)
	way.found.Of, way.found.OfVerb, way.found.PutBack = crashed.alone.Kind, commandOf(*crashed.alone), true
	return way, r.report(&way, crashed.back, crashed.left)
}

// recordLate commits a safety checkpoint of what had changed under a recovered restore.
func (r *Run) recordLate(op manifest.Operation, out *treeio.Outcome) error {
	if len(out.Late) == 0 {
		return nil
	}
	root, err := treeio.EditTree(r.Tx, r.Tx, op.Before, out.Late, nil)
	if err != nil {
		return err
	}
	scan, err := checkpoint.CaptureTree(r.Ctx, r.Project, checkpoint.CaptureOptions{})
	if err != nil {
		return err
	}
	defer scan.Discard()
	r.Scan = scan
	if _, err := r.commitSafety(r.Tx, root, "changed while a restore ran", false); err != nil {
		return err
	}
	r.Tx = r.Tx.Next()
	return nil
}

// recordRecovered commits what the log does not have of a recovered restore: that it was put back, where checkpoints
// have seen it half done, and itself, where it was finished.
func (r *Run) recordRecovered(op manifest.Operation, back []treeio.Edit, out *treeio.Outcome, finished bool) error {
	if err := r.recordLate(op, out); err != nil {
		return err
	}
	if err := r.recordPutBack(op, without(back, out.Skips)); err != nil || !finished {
		return err
	}
	return r.commitOperation(&op)
}

// recordPutBack commits an operation that leads from what the newest checkpoint saw to what was there before a
// restore that did not finish: otherwise what came back with it would count as somebody's work.
func (r *Run) recordPutBack(op manifest.Operation, back []treeio.Edit) error {
	saw, err := r.NewestCheckpoint()
	if err != nil || saw == nil {
		return err
	}
	var changes []treeio.Change
	after, err := treeio.EditTree(r.Tx, r.Tx, saw.Root, back, nil)
	if err == nil {
		changes, err = changesBetween(r.Tx.Load, saw.Root, after)
	}
	switch {
	case project.IsDamage(r.Classify(err)):
		return nil // the files come first
	case err != nil || len(changes) == 0:
		return err
	}
	if last, err := oplog.Operations(r.Ctx, r.Project, 1); err != nil || len(last) > 0 && last[0].PutsBack() && last[0].Before == saw.Root && last[0].After == after {
		return err // it was recorded, and then killed
	}
	o := manifest.Operation{Time: r.Env.Time(), Kind: manifest.OpUndoRestore, Checkpoint: op.Safety, Safety: saw.ID,
		Before: saw.Root, After: after, Session: r.Options.By, Args: "of one that did not finish"}
	if o.Paths, err = r.putPaths(&o, changes, nil); err != nil {
		return err
	}
	if err := r.commitOperation(&o); err != nil {
		return err
	}
	r.Tx = r.Tx.Next()
	return nil
}

// without are the edits of all paths but those that were left alone.
func without(edits []treeio.Edit, left []problem.Problem) []treeio.Edit {
	skip := map[string]bool{}
	for _, l := range left {
		skip[l.Path] = true
	}
	return slices.DeleteFunc(edits, func(e treeio.Edit) bool { return skip[e.Path] })
}

// changesBetween are the changes that lead from one tree to another.
func changesBetween(load func(oid.ID) (manifest.Dir, error), from, to oid.ID) (changes []treeio.Change, err error) {
	err = manifest.Diff(load, from, to, func(c manifest.Change) error {
		change := treeio.Change{Path: c.Path, Action: treeio.Replace}
		if c.Old == nil {
			change.Action = treeio.Create
		} else {
			change.Before = *c.Old
		}
		switch {
		case c.New == nil:
			change.Action = treeio.Delete
		default:
			if change.After = *c.New; c.Old != nil && c.Old.Kind == manifest.Subdir && c.New.Kind == manifest.Subdir {
				change.Action = treeio.Mode
			}
		}
		changes = append(changes, change)
		return nil
	})
	return changes, err
}
