package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
)

// WorkOptions say what a detached process does beside what hooks left.
type WorkOptions struct {
	Sweep bool // retention
	// Session is the one whose hook asks, "" for none: what its lineage uses stays longest.
	Session string
	Budget  time.Duration // a sweep that has looked for longer forgets nothing; 0: none
	Fold    bool          // bring the database up to date
}

// sweepTime bounds a sweep that runs by itself.
const sweepTime = 5 * time.Minute

// Work is what a detached process does: it takes the checkpoints that hooks
// left to it, one after the other, and then what is due. At most one process
// captures; another returns at once, since the first sees what both were
// started for.
func Work(ctx context.Context, p *project.Project, o WorkOptions) error {
	var errs []error
	for ctx.Err() == nil {
		lock, err := captureLock(ctx, p)
		var busy *account.BusyError
		if errors.As(err, &busy) {
			break
		}
		if err != nil {
			return err
		}
		for r := nextRequest(p); r != nil && ctx.Err() == nil; r = nextRequest(p) {
			if err := fulfil(ctx, p, r); err != nil {
				errs = append(errs, err)
				p.NoteHookError(err)
			}
		}
		clearNotes(p)
		lock.Release()
		if len(checkpoint.Notes(p, "r")) == 0 { // else one came after the last look, and its hook saw us running
			break
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	if o.Sweep && p.Settings().Retention.Auto {
		errs = append(errs, sweepIfDue(ctx, p, o))
	}
	if o.Sweep {
		maintain.FinishForgetting(ctx, p) // retention finishes it, too
	}
	if o.Fold {
		errs = append(errs, maintain.Fold(ctx, p))
	}
	return errors.Join(errs...)
}

// fulfil takes the checkpoint that a hook asked for.
func fulfil(ctx context.Context, p *project.Project, r *request) error {
	done := func() error { return account.RemoveIfThere(filepath.Join(checkpoint.NotesDir(p), r.name)) }
	if r.Attempts++; r.Attempts > maxAttempts {
		return errors.Join(fmt.Errorf("a checkpoint was given up after %d attempts", maxAttempts), done())
	}
	if err := writeNote(p, r.name[:len(r.name)-len(".json")], r); err != nil {
		return errors.Join(err, done())
	}
	o := checkpoint.TakeOptions{
		Options: checkpoint.Options{Kind: r.Kind, OnlyIfChanged: r.OnlyIfChanged, OnlyIfSaid: r.OnlyIfSaid, By: r.By, ID: r.ID},
		Since:   r.Time, Session: r.Session, Bind: r.Bind, Unlocked: true,
	}
	for try := 0; ; try++ {
		before, err := newestOperation(p)
		if err != nil {
			return errors.Join(err, done())
		}
		o.Preimages = func() []checkpoint.Preimage { return checkpoint.Preimages(p, r.Time) }
		o.Valid = func() (bool, error) {
			now, err := newestOperation(p)
			return now == before || try > 0, err
		}
		saved, err := checkpoint.Take(ctx, p, o)
		if errors.Is(err, checkpoint.ErrOvertaken) {
			continue // a restore came between: what was scanned never was
		}
		if errors.As(err, new(*account.BusyError)) {
			return err // the request stays, to be tried again
		}
		if err != nil {
			return errors.Join(err, done())
		}
		noteHook(ctx, p, saveOptions{Options: o.Options, Session: r.Session, Note: func(s *account.SessionState, skipped bool) {
			if !skipped && s.Last.Before(r.Time) {
				s.Last = r.Time
			}
		}}, saved)
		return done()
	}
}

// newestOperation is the sequence number of the last restore or its like near
// the log's end, 0 for none.
func newestOperation(p *project.Project) (uint64, error) {
	r, err := p.ReplayEnd(conversation.SessionLookBack)
	if err != nil {
		return 0, err
	}
	for _, o := range r.Operations() {
		if o.Kind.Moves() {
			return o.Seq, nil
		}
	}
	return 0, nil
}

// afterRestore reports whether nothing was saved since the last restore.
func afterRestore(p *project.Project) (bool, error) {
	r, err := p.ReplayEnd(1)
	return err == nil && len(r.Operations()) > 0, err
}

// sweepIfDue forgets what retention does not keep, if there is anything, old
// copies of transcripts, and the states of sessions that are long over.
func sweepIfDue(ctx context.Context, p *project.Project, o WorkOptions) error {
	began := time.Now()
	p.UpdateHookState(func(s *project.HookState) { s.Swept = p.Env.Time() })
	if err := account.ForgetSessions(p.Env, sessionQuiet); err != nil && !os.IsNotExist(err) {
		return err
	}
	state, err := sweepState(ctx, p)
	if err != nil {
		return err
	}
	size, err := p.StoreSize()
	if err != nil {
		return err
	}
	gc := maintain.GCOptions{Auto: true, Session: o.Session}
	drop, err := maintain.Plan(ctx, p, state, gc, size)
	if err != nil || len(drop) == 0 && !p.IsForgetting() {
		return err
	}
	if o.Budget > 0 && time.Since(began) > o.Budget {
		return nil // the next sweep continues
	}
	done, err := maintain.GC(ctx, p, gc)
	if err == nil {
		err = done.Unswept
	}
	return err
}

// sweepState reads the log, and removes what goes without a gc.
func sweepState(ctx context.Context, p *project.Project) (*maintain.LogState, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	state, err := maintain.ReadLog(ctx, p)
	if err != nil {
		return nil, err
	}
	return state, conversation.PruneBackups(ctx, p, state.Operations)
}

// sessionQuiet is when a session's state is forgotten. Agents keep sessions for 30 days.
const sessionQuiet = 45 * 24 * time.Hour

// sweepDue reports whether retention has not looked for a while.
func sweepDue(p *project.Project, every time.Duration) bool {
	since := p.Env.Time().Sub(project.ReadHookState(p.StoreDir()).Swept)
	return since < 0 || since >= every || p.IsForgetting()
}
