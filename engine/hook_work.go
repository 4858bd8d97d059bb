package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rewind/manifest"
)

// expired is the context for a lock that must not be waited for.
var expired = func() context.Context {
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	cancel()
	return ctx
}()

// WorkOptions say what a detached process does beside what hooks left.
type WorkOptions struct {
	Sweep bool // retention
	Fold  bool // bring the database up to date

	scanned func() // tests: called when the tree of a checkpoint was looked at
}

// sweepTime bounds a sweep that nobody asked for.
const sweepTime = 5 * time.Minute

// Work is what a detached process does: it takes the checkpoints that hooks
// left to it, one after the other, and then what is due. At most one process
// captures; another returns at once, since the first sees what both were
// started for.
func (p *Project) Work(ctx context.Context, o WorkOptions) error {
	var errs []error
	for ctx.Err() == nil {
		lock, err := p.captureLock(ctx)
		var busy *BusyError
		if errors.As(err, &busy) {
			break
		}
		if err != nil {
			return err
		}
		for r := p.nextRequest(); r != nil && ctx.Err() == nil; r = p.nextRequest() {
			if err := p.fulfil(ctx, r, o.scanned); err != nil {
				errs = append(errs, err)
				p.NoteHookError(err)
			}
		}
		p.clearNotes()
		lock.release()
		if len(p.notes("r")) == 0 { // else one came after the last look, and its hook saw us running
			break
		}
	}
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	if o.Sweep && p.settings.Retention.Auto {
		errs = append(errs, p.sweepIfDue(ctx))
	}
	if o.Fold {
		errs = append(errs, p.fold(ctx))
	}
	return errors.Join(errs...)
}

// fulfil takes the checkpoint that a hook asked for.
func (p *Project) fulfil(ctx context.Context, r *request, scanned func()) error {
	done := func() error { return removeIfThere(filepath.Join(p.notesDir(), r.name)) }
	if r.Attempts++; r.Attempts > maxAttempts {
		return errors.Join(fmt.Errorf("a checkpoint was given up after %d attempts", maxAttempts), done())
	}
	if err := p.writeNote(r.name[:len(r.name)-len(".json")], r); err != nil {
		return errors.Join(err, done())
	}
	o := saving{
		SaveOptions: SaveOptions{Kind: r.Kind, OnlyIfChanged: r.OnlyIfChanged, OnlyIfSaid: r.OnlyIfSaid, By: r.By},
		since:       r.Time, session: r.Session, unlocked: true,
	}
	for try := 0; ; try++ {
		before, err := p.newestOperation()
		if err != nil {
			return errors.Join(err, done())
		}
		o.preimages = func() []preimage {
			if scanned != nil {
				scanned()
			}
			return p.preimages(r.Time)
		}
		o.valid = func() (bool, error) {
			now, err := p.newestOperation()
			return now == before || try > 0, err
		}
		saved, err := p.save(ctx, o)
		if errors.Is(err, errOvertaken) {
			continue // a restore came between: what was scanned never was
		}
		if errors.As(err, new(*BusyError)) {
			return err // the request stays, to be tried again
		}
		if err != nil {
			return errors.Join(err, done())
		}
		p.noteHook(ctx, HookSaveOptions{SaveOptions: o.SaveOptions, Session: r.Session, Note: func(s *SessionState) {
			if s.Last.Before(r.Time) {
				s.Last = r.Time
			}
		}}, saved)
		return done()
	}
}

// errOvertaken: a restore ran while the tree was scanned.
var errOvertaken = errors.New("a restore ran meanwhile")

// newestOperation is the sequence number of the last restore or its like near
// the log's end, 0 for none.
func (p *Project) newestOperation() (uint64, error) {
	r, err := p.replayEnd(sessionLookBack)
	if err != nil {
		return 0, err
	}
	for _, o := range r.Operations() {
		if moves(o.Kind) {
			return o.Seq, nil
		}
	}
	return 0, nil
}

// AfterRestore reports whether nothing was saved since the last restore.
func (p *Project) AfterRestore() (bool, error) {
	r, err := p.replayEnd(1)
	return err == nil && len(r.Operations()) > 0, err
}

// replayEnd says what the last records of the log say.
func (p *Project) replayEnd(records uint64) (*manifest.Replayed, error) {
	last, err := p.store.Last()
	if err != nil {
		return nil, p.classify(err)
	}
	r, err := manifest.Replay(context.Background(), logSource{p.store}, last.Seq-min(last.Seq, records)+1, manifest.Skip)
	return r, p.classify(err)
}

// sweepIfDue forgets what retention does not keep, if there is anything, old
// copies of transcripts, and the states of sessions that are long over.
func (p *Project) sweepIfDue(ctx context.Context) error {
	p.updateHookState(func(s *hookState) { s.Swept = p.env.now() })
	if err := forgetSessions(p.env, sessionQuiet); err != nil && !os.IsNotExist(err) {
		return err
	}
	state, err := p.sweepState(ctx)
	if err != nil {
		return err
	}
	size, err := p.storeSize()
	if err != nil {
		return err
	}
	if len(retentionOf(p.settings, GCOptions{Auto: true}).plan(state.checkpoints, state.inUse(), size)) == 0 && p.forgetting() == nil {
		return nil
	}
	_, err = p.GC(ctx, GCOptions{Auto: true})
	return err
}

// sweepState reads the log, and removes what goes without a gc.
func (p *Project) sweepState(ctx context.Context) (*logState, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	state, err := p.readLog(ctx)
	if err != nil {
		return nil, err
	}
	return state, p.pruneBackups(ctx, state.operations)
}

// sessionQuiet is when a session's state is forgotten. Agents keep sessions for 30 days.
const sessionQuiet = 45 * 24 * time.Hour
