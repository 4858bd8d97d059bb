package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// RecoveredRestore says what became of a restore that had crashed.
type RecoveredRestore struct {
	project.CrashedRestore
	Forward bool              // finished; else put back
	Left    []problem.Problem // paths that held neither what they held before nor what they were to hold
}

// clearUp finishes a restore that was killed after its operation had been recorded, or before it
// had touched anything: what is left of it are temporary files. Any other is left to the restore family.
func clearUp(ctx context.Context, p *project.Project) error {
	due := func() bool {
		j, err := restore.Open(p.RestoreDir())
		return err == nil && j != nil && (!j.Touched || j.Committed)
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
	r := &restoring{Project: p, ctx: ctx}
	if r.fs, err = rootfs.Open(p.Root()); err != nil {
		return err
	}
	defer r.fs.Close()
	return p.Classify(r.recoverCrashed())
}

// recoverCrashed deals with a restore that crashed, before anything else is
// done. It is finished if its operation was recorded, or if the same restore
// is asked for again; else it is put back. For undo-restore, putting it back is
// all that there is to do.
func (r *restoring) recoverCrashed() error {
	j, err := restore.Open(r.RestoreDir())
	if err != nil || j == nil {
		return project.JournalError(err)
	}
	var op manifest.Operation
	if j.Touched {
		rec, err := manifest.ParseRecord(j.Note)
		if err != nil || rec.Operation == nil {
			return &account.DamagedStoreError{What: "the journal of a restore", Err: fmt.Errorf("it contains no operation (%v)", err)}
		}
		op = *rec.Operation
	}
	recorded := j.Committed
	if j.Touched && !recorded {
		ops, err := Operations(r.ctx, r.Project, 0)
		if err != nil {
			return err
		}
		recorded = slices.ContainsFunc(ops, func(o manifest.Operation) bool { return o.Safety == op.Safety })
	}
	again := r.op.Kind == manifest.OpRestore && op.Kind == manifest.OpRestore && r.o.Checkpoint.ID == op.Checkpoint
	forward := recorded || again
	if err := conversation.PutBackMove(r.ctx, r.Project, &op, recorded); err != nil {
		return err
	}
	r.tx = commit.Begin(r.Project).KeepDirs()
	defer func() {
		_ = r.tx.Discard() // a committed one has nothing left to discard
		r.tx = nil
	}()
	done, err := j.Recover(r.ctx, r.fs, r.tx, forward, restore.ApplyOptions{
		Sink: r.tx, Owner: r.Owner, NoSync: r.Settings().Durability == "fast",
		Record: func(out *restore.Outcome) error { return r.recordRecovered(op, out, forward && !recorded) },
	})
	if err != nil {
		return err
	}
	if !j.Touched {
		return nil // it had not begun: there is nothing to tell
	}
	r.recovered = &RecoveredRestore{CrashedRestore: *project.Describe(j), Forward: done.Forward, Left: done.Left}
	if r.op.Kind == manifest.OpUndoRestore && !done.Forward {
		r.finished = true
		r.target.ID = op.Safety
	}
	return nil
}

// recordRecovered commits what a recovered restore leaves: a safety checkpoint of
// what had changed under it, and the operation if it had not been recorded.
func (r *restoring) recordRecovered(op manifest.Operation, out *restore.Outcome, operation bool) error {
	if len(out.Late) > 0 {
		root, err := restore.EditTree(r.tx, r.tx, op.Before, out.Late, nil)
		if err != nil {
			return err
		}
		scan, err := checkpoint.CaptureTree(r.ctx, r.Project, checkpoint.CaptureOptions{})
		if err != nil {
			return err
		}
		defer scan.Discard()
		r.scan = scan
		if _, err := r.commitSafety(r.tx, root, "changed while a restore ran", false); err != nil {
			return err
		}
		r.tx = r.tx.Next()
	}
	if !operation {
		return nil
	}
	return r.commitOperation(&op)
}
