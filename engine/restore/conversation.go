package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

// moveOptions are what this restore wants of the conversation.
func (r *Run) moveOptions(target manifest.Checkpoint, before *conversation.PromptPlace) conversation.MoveOptions {
	return conversation.MoveOptions{
		Target: target, Before: before, Session: r.Options.Session, InPlace: r.Options.InPlace, DryRun: r.Options.DryRun, Force: r.Options.Force,
		Op: &r.Op, Shorter: r.Op.Kind == manifest.OpUndo && r.Options.Half == conversation.Both,
	}
}

// prepareMove prepares the conversation's half. Where only the code can move, it says why.
func (r *Run) prepareMove(way *Way) (err error) {
	if r.Options.Half == conversation.CodeOnly || way.move != nil {
		return nil
	}
	way.move, err = conversation.PrepareMove(r.Ctx, r.Project, r.moveOptions(way.Target, way.before))
	var none *conversation.NoConversationError
	if errors.As(err, &none) && r.Options.Half == conversation.Both {
		way.found.Without = none
		return nil
	}
	return err
}

// prepareMoveBack prepares to take back what operations, the newest last, did to the conversation.
// log are all operations, the newest first.
func (r *Run) prepareMoveBack(way *Way, log, ops []manifest.Operation) (err error) {
	if r.Options.Half == conversation.CodeOnly {
		return nil
	}
	holds, _ := oplog.Stacks(log)
	before := slices.DeleteFunc(slices.Clone(holds), func(o manifest.Operation) bool { return o.Seq >= ops[0].Seq })
	above := slices.DeleteFunc(holds, func(o manifest.Operation) bool { return o.Seq <= ops[len(ops)-1].Seq })
	way.move, err = conversation.PrepareMovesBack(r.Ctx, r.Project, ops, before, above, r.moveOptions(way.Target, way.before))
	return err
}

// dropMove leaves the conversation where it is: not one file could be moved, and the two move together.
func (r *Run) dropMove(way *Way) {
	if way.move == nil {
		return
	}
	way.move.Close()
	way.move, way.found.Stuck = nil, true
	r.Op.Fork, r.Op.TranscriptBackup = "", ""
}

// recordWithoutFiles is a restore in which no file differs, or none is to: it moves the conversation, if that is to
// move. One that changes nothing is an operation, too: it is the one that undo-restore takes back.
func (r *Run) recordWithoutFiles(way *Way, done *Restored) (*Restored, error) {
	if way.found.Stuck || way.move == nil && (len(problem.FailedOf(done.Skip)) > 0 || r.Op.Kind == manifest.OpRevert) {
		return done, nil
	}
	if way.move.Line() == nil { // nothing refers to what the scan found
		if err := r.Tx.Discard(); err != nil {
			return nil, err
		}
		r.Tx = commit.Begin(r.Project).KeepDirs()
	}
	r.Op.Time = r.Env.Time().UTC()
	var err error
	if r.Op.Paths, err = r.Tx.Put(way.move.Line()); err != nil {
		return nil, err
	}
	if err := r.commitMove(way); err != nil {
		if way.move == nil && r.Ctx.Err() == nil {
			return done, nil // nothing was to change, and nothing did
		}
		return nil, err
	}
	r.Tx = nil
	done.Operation = r.Op.Seq
	return done, nil
}

// commitMove puts the conversation in place and records the operation, or does neither.
func (r *Run) commitMove(way *Way) error {
	err := way.move.Publish()
	if err == nil {
		err = r.commitOperation(&r.Op)
	}
	if err != nil {
		if berr := way.move.TakeBack(); berr != nil {
			return fmt.Errorf("%w; the conversation could not be put back: %w", err, berr)
		}
		return err
	}
	way.move.Keep()
	return nil
}
