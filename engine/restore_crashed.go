package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"rewind/engine/restore"
	"rewind/engine/rootfs"
	"rewind/manifest"
)

// CrashedRestore describes a restore that did not finish.
type CrashedRestore struct {
	Time       time.Time
	Checkpoint manifest.CheckpointID
	Paths      int
	// Done says that every path is in place and recorded, and that only temporary files are left: the next Save clears them.
	Done bool
}

// SettledRestore says what became of a restore that had crashed.
type SettledRestore struct {
	CrashedRestore
	Forward bool      // finished; else put back
	Left    []Problem // paths that held neither what they held before nor what they were to hold
}

// Crashed reports a restore that did not finish; the restore family finishes
// it or puts it back first. nil: none, or one that is still running.
func (p *Project) Crashed(ctx context.Context) (*CrashedRestore, error) {
	j, err := restore.Open(p.restoreDir())
	if err != nil {
		return nil, journalError(err)
	}
	if j == nil || !j.Touched {
		return nil, nil // it had not begun: there is nothing to tell
	}
	if p.readOnly == nil {
		expired, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
		defer cancel()
		lock, err := lockFile(expired, filepath.Join(p.place.store, lockName, treeLockName), treeLockName, true)
		var busy *BusyError
		if errors.As(err, &busy) {
			return nil, nil // it is running
		}
		if err != nil {
			return nil, err
		}
		defer lock.release()
		if j, err = restore.Open(p.restoreDir()); j == nil || err != nil {
			return nil, journalError(err) // it has just finished
		}
	}
	return describe(j), nil
}

func journalError(err error) error {
	var bad *restore.JournalError
	if errors.As(err, &bad) {
		return &DamagedStoreError{What: "the journal of a restore", Err: err}
	}
	return err
}

func describe(j *restore.Journal) *CrashedRestore {
	c := &CrashedRestore{Time: j.Time, Paths: j.Paths, Done: j.Committed}
	if rec, err := manifest.ParseRecord(j.Note); err == nil && rec.Operation != nil {
		c.Checkpoint = rec.Operation.Checkpoint
	}
	return c
}

// clearUp finishes a restore that was killed after its operation had been recorded, or before it
// had touched anything: what is left of it are temporary files. Any other is left to the restore family.
func (p *Project) clearUp(ctx context.Context) error {
	due := func() bool {
		j, err := restore.Open(p.restoreDir())
		return err == nil && j != nil && (!j.Touched || j.Committed)
	}
	if !due() {
		return nil
	}
	lock, err := p.lock(ctx, treeLockName)
	if err != nil {
		return err
	}
	defer lock.release()
	if !due() { // another was faster
		return nil
	}
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	r := &restoring{Project: p, ctx: ctx}
	if r.fs, err = rootfs.Open(p.place.root); err != nil {
		return err
	}
	defer r.fs.Close()
	return p.classify(r.settleCrashed())
}

// settleCrashed deals with a restore that crashed, before anything else is
// done. It is finished if its operation was recorded, or if the same restore
// is asked for again; else it is put back. For undo-restore, putting it back is
// all that there is to do.
func (r *restoring) settleCrashed() error {
	j, err := restore.Open(r.restoreDir())
	if err != nil || j == nil {
		return journalError(err)
	}
	var op manifest.Operation
	if j.Touched {
		rec, err := manifest.ParseRecord(j.Note)
		if err != nil || rec.Operation == nil {
			return &DamagedStoreError{What: "the journal of a restore", Err: fmt.Errorf("it holds no operation (%v)", err)}
		}
		op = *rec.Operation
	}
	recorded := j.Committed
	if j.Touched && !recorded {
		ops, err := r.Operations(r.ctx, 0)
		if err != nil {
			return err
		}
		recorded = slices.ContainsFunc(ops, func(o manifest.Operation) bool { return o.Safety == op.Safety })
	}
	again := r.op.Kind == manifest.OpRestore && op.Kind == manifest.OpRestore && r.o.Checkpoint.ID == op.Checkpoint
	forward := recorded || again
	if err := r.PutBackMove(r.ctx, &op, recorded); err != nil {
		return err
	}
	r.tx = r.begin().keepDirs()
	defer func() {
		_ = r.tx.Discard() // a committed one has nothing left to discard
		r.tx = nil
	}()
	done, err := j.Settle(r.ctx, r.fs, r.tx, forward, restore.ApplyOptions{
		Sink: r.tx, Owner: r.owner, NoSync: r.settings.Durability == "fast",
		Record: func(out *restore.Outcome) error { return r.recordSettled(op, out, forward && !recorded) },
	})
	if err != nil {
		return err
	}
	if !j.Touched {
		return nil // it had not begun: there is nothing to tell
	}
	r.settled = &SettledRestore{CrashedRestore: *describe(j), Forward: done.Forward, Left: problemsOf(done.Left)}
	if r.op.Kind == manifest.OpUndoRestore && !done.Forward {
		r.finished = true
		r.target.ID = op.Safety
	}
	return nil
}

// recordSettled commits what a settled restore leaves: a safety checkpoint of
// what had changed under it, and the operation if it had not been recorded.
func (r *restoring) recordSettled(op manifest.Operation, out *restore.Outcome, operation bool) error {
	if len(out.Late) > 0 {
		root, err := restore.EditTree(r.tx, r.tx, op.Before, out.Late, nil)
		if err != nil {
			return err
		}
		scan, err := r.capture(r.ctx, captureOptions{})
		if err != nil {
			return err
		}
		defer scan.discard()
		r.scan = scan
		if _, err := r.commitSafety(r.tx, root, "changed while a restore ran", false); err != nil {
			return err
		}
		r.tx = r.tx.next()
	}
	if !operation {
		return nil
	}
	return r.commitOperation(&op)
}
