package engine

import (
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

// moveOptions are what this restore wants of the conversation.
func (r *restoring) moveOptions() conversation.MoveOptions {
	return conversation.MoveOptions{
		Target: r.target, Before: r.before, Session: r.o.Session, InPlace: r.o.InPlace, DryRun: r.o.DryRun, Force: r.o.Force,
		Op: &r.op,
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
	r.move, err = conversation.PrepareMovesBack(r.ctx, r.Project, ops, before, r.moveOptions())
	return err
}

// moveOnly is a restore in which no file differs, or none is to.
func (r *restoring) moveOnly(done *Restored) (*Restored, error) {
	r.op.Time = r.Env.Time().UTC()
	var err error
	if r.op.Paths, err = r.tx.Put(r.move.Line()); err != nil {
		return nil, err
	}
	if err := r.commitMove(); err != nil {
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
