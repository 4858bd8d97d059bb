package engine

import (
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

// moveOptions are what this restore wants of the conversation.
func (r *restoring) moveOptions() conversation.MoveOptions {
	return conversation.MoveOptions{
		Target: r.target, Before: r.before, Session: r.o.Session, InPlace: r.o.InPlace, DryRun: r.o.DryRun, Force: r.o.Force,
		Op: &r.op, Shorter: r.op.Kind == manifest.OpUndo && r.o.Half == conversation.Both,
	}
}

// prepareMove prepares the conversation's half. Where only the code can move, it says why.
func (r *restoring) prepareMove() (err error) {
	if r.o.Half == conversation.CodeOnly || r.move != nil {
		return nil
	}
	r.move, err = conversation.PrepareMove(r.ctx, r.Project, r.moveOptions())
	var none *conversation.NoConversationError
	if errors.As(err, &none) && r.o.Half == conversation.Both {
		r.without = none
		return nil
	}
	return err
}

// prepareMoveBack prepares to take back what operations, the newest last, did to the conversation.
// before are those that hold when they are taken back, the newest last.
func (r *restoring) prepareMoveBack(ops, before []manifest.Operation) (err error) {
	if r.o.Half == conversation.CodeOnly {
		return nil
	}
	r.move, err = conversation.PrepareMovesBack(r.ctx, r.Project, ops, before, r.moveOptions())
	return err
}

// dropMove leaves the conversation where it is: not one file could be moved, and the two move together.
func (r *restoring) dropMove() {
	if r.move == nil {
		return
	}
	r.move.Close()
	r.move, r.stuck = nil, true
	r.op.Fork, r.op.TranscriptBackup = "", ""
}

// recordWithoutFiles is a restore in which no file differs, or none is to: it moves the conversation, if that is to
// move. One that changes nothing is an operation, too: it is the one that undo-restore takes back.
func (r *restoring) recordWithoutFiles(done *Restored) (*Restored, error) {
	if r.stuck || r.move == nil && (len(problem.FailedOf(done.Skip)) > 0 || r.op.Kind == manifest.OpRevert) {
		return done, nil
	}
	if r.move == nil { // nothing refers to what the scan found
		if err := r.tx.Discard(); err != nil {
			return nil, err
		}
		r.tx = commit.Begin(r.Project).KeepDirs()
	}
	r.op.Time = r.Env.Time().UTC()
	var err error
	if r.op.Paths, err = r.tx.Put(r.move.Line()); err != nil {
		return nil, err
	}
	if err := r.commitMove(); err != nil {
		if r.move == nil && r.ctx.Err() == nil {
			return done, nil // nothing was to change, and nothing did
		}
		return nil, err
	}
	r.tx = nil
	done.Operation = r.op.Seq
	return done, nil
}

// commitMove puts the conversation in place and records the operation, or does neither.
func (r *restoring) commitMove() error {
	err := r.move.Publish()
	if err == nil {
		err = r.commitOperation(&r.op)
	}
	if err != nil {
		if berr := r.move.TakeBack(); berr != nil {
			return fmt.Errorf("%w; the conversation could not be put back: %w", err, berr)
		}
		return err
	}
	r.move.Keep()
	return nil
}
