package hook

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// saveOptions of one save for a hook, for which an agent waits.
type saveOptions struct {
	checkpoint.Options
	Deadline time.Time          // when the hook must be done
	Edits    []string           // absolute files that the tool is about to change
	Session  *manifest.Session  // to be recorded with it, nil if that was done
	Bind     []manifest.Binding // see checkpoint.TakeOptions
	// Detach starts a process that calls Work and outlives this one. nil: there
	// is no such thing, and what takes too long fails.
	Detach func() error
	// Note changes the session's state once the checkpoint is taken or left to
	// the detached process.
	Note func(s *account.SessionState, skipped bool)
}

// outcome is what became of it.
type outcome struct {
	checkpoint.Saved
	Left bool // to a detached process
	Due  bool // retention and the database want a detached process: see Work
}

const (
	// captureWait is how long a hook waits for a capture that is running
	// before it leaves its own to the same process.
	captureWait = 500 * time.Millisecond
	// handOver is what is left of a hook's time for leaving its work to another
	// process.
	handOver = 150 * time.Millisecond
	// preimageTime is how long a hook waits for the copy of the file that its tool
	// is about to change.
	preimageTime = time.Second
	// sweepEvery and foldEvery count entries of the log.
	sweepEvery = 50
	foldEvery  = 256
)

// save saves for a hook. It returns within the deadline, or a little after
// where the machine is slow: what is not done by then is continued in a detached
// process, whose checkpoint is that of the same time but for what it marks as
// late. By the time that it returns, the files in Edits are in the
// checkpoint, or beside it.
func save(ctx context.Context, p *project.Project, o saveOptions) (*outcome, error) {
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	start, err := p.StartTime()
	if err != nil {
		return nil, err
	}
	if running, waiting := capturing(p); running || waiting {
		// A capture that began before this hook reads what the tool is about to change.
		perr := recordPreimagesInTime(p, o.Edits, start)
		if !running {
			_ = detach(p, o) // its process died; at the latest the next hook tries again
		}
		if perr != nil && !errors.Is(perr, fs.ErrNotExist) { // else that capture has just ended
			p.NoteHookError(perr)
		}
		if !waitForCapture(ctx, p, o.Deadline) {
			return leave(p, o, start)
		}
	}
	inTime, cancel := context.WithDeadline(ctx, o.Deadline.Add(-handOver))
	defer cancel()
	saved, _, err := unlessHung(inTime, p, func(claim func() bool) (*checkpoint.Saved, error) {
		return checkpoint.Take(inTime, p, checkpoint.TakeOptions{
			Options: o.Options, Start: start, Session: o.Session, Bind: o.Bind,
			Valid: func() (bool, error) { return claim(), nil },
		})
	})
	var busy *account.BusyError
	if err != nil && o.Detach != nil && ctx.Err() == nil && (inTime.Err() != nil || errors.As(err, &busy)) {
		return leave(p, o, start)
	}
	if err != nil {
		return nil, err
	}
	noteHook(ctx, p, o, saved)
	crossed := func(every uint64) bool { return saved.Checkpoint.Seq/every != saved.Before/every }
	return &outcome{Saved: *saved, Due: !saved.Skipped && (crossed(sweepEvery) || crossed(foldEvery))}, nil
}

// beforeEdit is for a hook that takes no checkpoint before a tool changes files:
// while a capture runs that began earlier, what they hold is kept for it.
func beforeEdit(p *project.Project, files []string) error {
	if running, waiting := capturing(p); len(files) == 0 || !running && !waiting {
		return nil
	}
	start, err := p.StartTime()
	if err == nil {
		err = recordPreimagesInTime(p, files, start)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // that capture has just ended
	}
	return err
}

// waitForCapture waits until no capture runs; false where that takes too long.
func waitForCapture(ctx context.Context, p *project.Project, deadline time.Time) bool {
	if end := time.Now().Add(captureWait); end.Before(deadline) {
		deadline = end
	}
	for {
		if running, waiting := capturing(p); !running && !waiting {
			return true
		}
		if !time.Now().Before(deadline) || ctx.Err() != nil {
			return false
		}
		time.Sleep(account.LockPoll)
	}
}

// leave hands a save over to the detached process.
func leave(p *project.Project, o saveOptions, start time.Time) (*outcome, error) {
	if o.Detach == nil {
		return nil, &account.BusyError{Lock: captureLockName}
	}
	promised := o.ID != (manifest.CheckpointID{}) // then it comes in any case
	err := enqueue(p, request{
		Time: start, Kind: o.Kind, OnlyIfChanged: o.OnlyIfChanged && !promised, OnlyIfSaid: o.OnlyIfSaid && !promised, By: o.By,
		Session: o.Session, ID: o.ID, Bind: o.Bind,
	})
	if err != nil {
		return nil, err
	}
	// From here on there is a request: what comes after it is late, so the files
	// that are about to change are kept first.
	perr := recordPreimagesInTime(p, o.Edits, start)
	if running, _ := capturing(p); !running {
		if err := detach(p, o); err != nil {
			return nil, errors.Join(err, perr)
		}
	}
	noteHook(context.Background(), p, o, nil)
	return &outcome{Left: true}, perr
}

func detach(p *project.Project, o saveOptions) error {
	if o.Detach == nil {
		return nil
	}
	return o.Detach()
}

// noteHook updates the session's state.
func noteHook(ctx context.Context, p *project.Project, o saveOptions, saved *checkpoint.Saved) {
	skipped := saved != nil && saved.Skipped
	if skipped && o.Session == nil && o.Kind != manifest.Stop {
		return // nothing happened that the next hook must know
	}
	// The state can be lost: then the next hook looks into the log, or takes a checkpoint too many.
	_ = account.UpdateSession(ctx, p.Env, o.By.Agent, o.By.Session, func(s *account.SessionState) {
		if saved != nil && saved.Held != nil {
			s.Held = saved.Held
		}
		if o.Session != nil {
			noteRegistered(s, p, *o.Session)
		}
		if o.Note != nil {
			o.Note(s, skipped)
		}
	})
}
