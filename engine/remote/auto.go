package remote

import (
	"context"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// How a push without a command goes: it waits a moment for more, and the process stays for those that follow. After a
// failure, nothing is tried until the pause is over, which doubles from the first one on.
const (
	debounce   = 2 * time.Second
	linger     = 10 * time.Second
	look       = 200 * time.Millisecond
	firstPause = 5 * time.Second
	longPause  = 5 * time.Minute
	failedName = "failed.json"
	pusherLock = "pusher"
)

// Failure is why the last push did not come through.
type Failure struct {
	Time  time.Time `json:"time"`
	Error string    `json:"error"`
	Count int       `json:"count"` // in a row
}

// Failure is the remote's; nil where the last push came through.
func (r *Remote) Failure() *Failure {
	var f Failure
	if err := r.read(failedName, &f); err != nil || f.Count == 0 {
		return nil
	}
	return &f
}

// resting reports whether a failure was so shortly ago that it is not tried again.
func (r *Remote) resting() bool {
	f := r.Failure()
	if f == nil {
		return false
	}
	pause := min(longPause, firstPause<<min(f.Count-1, 10))
	since := r.p.Env.Time().Sub(f.Time)
	return since >= 0 && since < pause
}

// behind reports whether the log has gone on since the last push.
func (r *Remote) behind() bool {
	last, err := r.p.Store.Last()
	return err == nil && last.Seq > 0 && r.mark().At != positionText(last)
}

// waiting are the remotes that a push without a command goes to now.
func waiting(p *project.Project) (all []*Remote) {
	every, err := List(p)
	if err != nil || len(every) == 0 || p.IsForgetting() {
		return nil
	}
	for _, r := range every {
		if !r.Manual && r.behind() && !r.resting() {
			all = append(all, r)
		}
	}
	return all
}

// Wanted reports whether a process for Auto is to be started: something waits, and no such process is there. It reads a few small
// files, and asks no remote.
func Wanted(p *project.Project) bool {
	if p.ReadOnly != nil || len(waiting(p)) == 0 {
		return false
	}
	lock, err := lockPusher(p)
	if err != nil {
		return false
	}
	lock.Release()
	return true
}

// lockPusher takes the lock of the one process that pushes without a command.
func lockPusher(p *project.Project) (*account.FileLock, error) {
	return lockFile(over(), p, pusherLock, pusherLock)
}

// over is a context that has ended: for a lock that is not waited for.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Auto pushes to the remotes until nothing has come for a while. With hurry the first push does not wait for more. Another process
// that does it is a reason to return at once: it sees what this one was started for.
func Auto(ctx context.Context, p *project.Project, hurry bool) error {
	for {
		lock, err := lockPusher(p)
		if err != nil {
			return nil
		}
		err = pushFor(ctx, p, hurry)
		lock.Release()
		// Who came after the last look saw the lock, and started no process.
		if err != nil || ctx.Err() != nil || len(waiting(p)) == 0 {
			return err
		}
		hurry = true
	}
}

func pushFor(ctx context.Context, p *project.Project, hurry bool) error {
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	for last := time.Now(); ctx.Err() == nil && time.Since(last) < linger; {
		due := waiting(p)
		if len(due) == 0 {
			mergeAll(ctx, p)
			pause(look)
			continue
		}
		if !hurry {
			pause(debounce)
		}
		hurry = false
		var failed error
		for _, r := range due { // one that fails keeps no other one back
			if _, err := r.Push(ctx, false); err != nil {
				failed = err
			}
		}
		if failed != nil {
			return failed
		}
		last = time.Now()
	}
	return nil
}

// noteOutcome notes for status why a push failed, or that one came through.
func (r *Remote) noteOutcome(err error) error {
	if err == nil {
		return account.RemoveIfThere(filepath.Join(r.dir, failedName))
	}
	f := Failure{Time: r.p.Env.Time(), Error: problem.Text(err), Count: 1}
	if was := r.Failure(); was != nil {
		f.Count += was.Count
	}
	return r.write(failedName, f)
}

// Flush waits until nothing waits for a push, or until ctx ends: for the end of a turn, after which a machine may be gone.
func Flush(ctx context.Context, p *project.Project) {
	for len(waiting(p)) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(look / 10):
		}
	}
}
