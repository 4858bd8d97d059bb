package engine

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"rewind/manifest"
)

// HookSaveOptions of one save for a hook, for which an agent waits.
type HookSaveOptions struct {
	SaveOptions
	Deadline time.Time         // when the hook must be done
	Edits    []string          // absolute files that the tool is about to change
	Session  *manifest.Session // to be recorded with it, nil if that was done
	// Detach starts a process that calls Work and outlives this one. nil: there
	// is no such thing, and what takes too long fails.
	Detach func() error
	// Note changes the session's state once the checkpoint is taken or left to
	// the detached process.
	Note func(*SessionState)
}

// HookSaved is what became of it.
type HookSaved struct {
	Saved
	Left bool // to a detached process
	Due  bool // retention and the database want a detached process: see Work
}

const (
	// waitForCapture is how long a hook waits for a capture that is running
	// before it leaves its own to the same process.
	waitForCapture = 500 * time.Millisecond
	// handOver is what is left of a hook's time for leaving its work to another
	// process.
	handOver = 150 * time.Millisecond
	// stopTime is how long a save may take to notice that its time is over; after
	// that it hangs in a system call.
	stopTime = 50 * time.Millisecond
	// preimageTime is how long a hook waits for the copy of the file that its tool
	// is about to change.
	preimageTime = time.Second
	// sweepEvery and foldEvery count entries of the log.
	sweepEvery = 50
	foldEvery  = 256
)

// HookSave saves for a hook. It returns within the deadline, or a little after
// where the machine is slow: what is not done by then goes on in a detached
// process, whose checkpoint is that of the same moment but for what it marks as
// late. By the time that HookSave returns, the files in Edits are in the
// checkpoint, or beside it.
func (p *Project) HookSave(ctx context.Context, o HookSaveOptions) (*HookSaved, error) {
	if err := p.writing(ctx); err != nil {
		return nil, err
	}
	moment, err := p.moment()
	if err != nil {
		return nil, err
	}
	if running, waiting := p.capturing(); running || waiting {
		// A capture that began before this hook reads what the tool is about to change.
		perr := p.recordPreimagesInTime(o.Edits, moment)
		if !running {
			_ = p.detach(o) // its process died; at the latest the next hook tries again
		}
		if perr != nil && !errors.Is(perr, fs.ErrNotExist) { // else that capture has just ended
			p.NoteHookError(perr)
		}
		if !p.waitForCapture(ctx, o.Deadline) {
			return p.leave(o, moment)
		}
	}
	inTime, cancel := context.WithDeadline(ctx, o.Deadline.Add(-handOver))
	defer cancel()
	saved, err := p.saveInTime(inTime, saving{SaveOptions: o.SaveOptions, moment: moment, session: o.Session})
	var busy *BusyError
	if err != nil && o.Detach != nil && ctx.Err() == nil && (inTime.Err() != nil || errors.As(err, &busy)) {
		return p.leave(o, moment)
	}
	if err != nil {
		return nil, err
	}
	p.noteHook(ctx, o, saved)
	crossed := func(every uint64) bool { return saved.Checkpoint.Seq/every != saved.before/every }
	return &HookSaved{Saved: *saved, Due: !saved.Skipped && (crossed(sweepEvery) || crossed(foldEvery))}, nil
}

// saveInTime is save, but returns soon after ctx has ended also where the save
// hangs in a system call: on a network file system that does not answer, say.
// Such a save commits nothing any more, and is left alone: its process is about
// to exit, and must not close the store under it.
func (p *Project) saveInTime(ctx context.Context, o saving) (*Saved, error) {
	const (
		committing = iota + 1
		givenUp
	)
	var state atomic.Int32 // whoever sets it first decides
	o.valid = func() (bool, error) { return state.CompareAndSwap(0, committing), nil }
	type result struct {
		saved *Saved
		err   error
	}
	done := make(chan result, 1)
	go func() {
		saved, err := p.save(ctx, o)
		done <- result{saved, err}
	}()
	select {
	case r := <-done:
		return r.saved, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.saved, r.err
	case <-time.After(stopTime):
	}
	if !state.CompareAndSwap(0, givenUp) {
		r := <-done // the commit is being written: it is there in a moment
		return r.saved, r.err
	}
	p.abandoned.Store(true)
	return nil, ctx.Err()
}

// BeforeEdit is for a hook that takes no checkpoint before a tool changes files:
// while a capture runs that began earlier, what they hold is kept for it.
func (p *Project) BeforeEdit(files []string) error {
	if running, waiting := p.capturing(); len(files) == 0 || !running && !waiting {
		return nil
	}
	moment, err := p.moment()
	if err == nil {
		err = p.recordPreimagesInTime(files, moment)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // that capture has just ended
	}
	return err
}

// waitForCapture waits until no capture runs; false where that takes too long.
func (p *Project) waitForCapture(ctx context.Context, deadline time.Time) bool {
	if end := time.Now().Add(waitForCapture); end.Before(deadline) {
		deadline = end
	}
	for {
		if running, waiting := p.capturing(); !running && !waiting {
			return true
		}
		if !time.Now().Before(deadline) || ctx.Err() != nil {
			return false
		}
		time.Sleep(lockPoll)
	}
}

// leave hands a save over to the detached process.
func (p *Project) leave(o HookSaveOptions, moment time.Time) (*HookSaved, error) {
	if o.Detach == nil {
		return nil, &BusyError{Lock: captureLockName}
	}
	err := p.enqueue(request{Time: moment, Kind: o.Kind, OnlyIfChanged: o.OnlyIfChanged, OnlyIfSaid: o.OnlyIfSaid, By: o.By, Session: o.Session})
	if err != nil {
		return nil, err
	}
	// From here on there is a request: what comes after it is late, so the files
	// that are about to change are kept first.
	perr := p.recordPreimagesInTime(o.Edits, moment)
	if running, _ := p.capturing(); !running {
		if err := p.detach(o); err != nil {
			return nil, errors.Join(err, perr)
		}
	}
	p.noteHook(context.Background(), o, nil)
	return &HookSaved{Left: true}, perr
}

func (p *Project) detach(o HookSaveOptions) error {
	if o.Detach == nil {
		return nil
	}
	return o.Detach()
}

// noteHook updates the session's state.
func (p *Project) noteHook(ctx context.Context, o HookSaveOptions, saved *Saved) {
	if saved != nil && saved.Skipped && o.Session == nil {
		return // nothing happened that the next hook must know
	}
	// The state can be lost: then the next hook looks into the log, or takes a checkpoint too many.
	_ = UpdateSession(ctx, p.env, o.By.Agent, o.By.Session, func(s *SessionState) {
		if saved != nil && saved.held != nil {
			s.Held = saved.held
		}
		if o.Session != nil {
			s.Registered = registeredAs(*o.Session)
		}
		if o.Note != nil && (saved == nil || !saved.Skipped) {
			o.Note(s)
		}
	})
}
