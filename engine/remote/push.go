package remote

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Pushed is what a push did.
type Pushed struct {
	Remote      *Remote
	Checkpoints int   // that are there now and were not before
	Bytes       int64 // of the objects that were sent
	Requests    int   // to the remote
	Relied      int   // packs of other projects that it relies on
	// Described says that the remote's description was damaged, and was written again.
	Described bool
	// Moved says that another copy of this store had pushed more as the same writer: this one is a new writer now.
	Moved bool
	// Lost says that what was pushed before was no longer in the remote, or damaged: all of the log was pushed again.
	Lost bool
	// Old is the id of the log that the remote has still, and that was pushed again; "": none.
	Old string
	// Later is what was pushed from this store before, and is not in it, where that was found.
	Later *Later
	// NewKey says that the remote has got another key since, which this machine uses from now on; OldKey, that it has one that this
	// account cannot open, so that what was pushed is sealed for the one before.
	NewKey, OldKey bool
}

// quiet is how long after a push the next one does not ask whether another copy of the store pushed meanwhile.
const quiet = time.Minute

// ForgettingError: something was forgotten, and is still in the store. Until it is gone, no object goes to a remote: it could have it.
type ForgettingError struct{}

func (*ForgettingError) Error() string {
	return "what was forgotten is still in the store, and nothing is pushed until it is gone"
}

// forgetting is a *ForgettingError while a forget is not finished.
func (r *Remote) forgetting() error {
	if r.p.IsForgetting() {
		return &ForgettingError{}
	}
	return nil
}

// pushing is one push.
type pushing struct {
	*Remote
	check bool // asks whether all that was pushed is there
	reads bool // and whether it is whole
	b     bucket.Bucket
	m     mark
	sent  *sent
	done  *Pushed

	looked bool                // for packs of other projects that it can rely on
	needs  map[[16]byte]oid.ID // objects that the remote lacks, before any of them was bundled
	packed []packed            // what it has sent as packs

	release    func()  // of the store, which is in use while objects are read; nil: it is not
	generation *uint64 // of the store when this try began; nil: it has not begun
	holds      bool    // it stays in use while something is sent
}

// Push sends what the log has got since the last push. With check it also asks the remote, at once, whether what was
// pushed is still there, by names and lengths. What is sent is in the remote for good, also where the push ends with an error later. Errors:
// *account.BusyError where another process pushes, *ForgettingError, *GoneError, those of package bucket and of the store.
func (r *Remote) Push(ctx context.Context, check bool) (*Pushed, error) {
	return r.push(ctx, &pushing{check: check})
}

// Repair is Push, but reads all that was pushed: where an object is gone or damaged, all of the log goes again, as another one. Errors: as Push.
func (r *Remote) Repair(ctx context.Context) (*Pushed, error) {
	return r.push(ctx, &pushing{check: true, reads: true})
}

// push does a push, and notes for status how it went.
func (r *Remote) push(ctx context.Context, u *pushing) (*Pushed, error) {
	if err := r.p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if err := r.makeDir(); err != nil { // a store that was rebuilt has none
		return nil, err
	}
	u.Remote, u.done = r, &Pushed{Remote: r}
	err = u.push(ctx)
	if ctx.Err() != nil || errors.As(err, new(*ForgettingError)) { // it was interrupted, or the remote was not asked
		return u.done, err
	}
	if nerr := r.noteOutcome(err); nerr != nil {
		err = errors.Join(err, nerr)
	}
	return u.done, err
}

func (u *pushing) push(ctx context.Context) error {
	r := u.Remote
	u.m = r.mark()
	last, err := r.p.Store.Last()
	if err != nil {
		return r.p.Classify(err)
	}
	s, sealed, spooled, err := r.readSpool()
	if err != nil {
		return err
	}
	if !spooled && !u.check && (last.Seq == 0 || u.m.At == positionText(last) && !u.replaced(u.m)) {
		return nil
	}
	if err := r.forgetting(); err != nil {
		return err
	}
	if u.b, err = r.bucket(); err != nil {
		return err
	}
	if err := u.isThere(ctx); err != nil {
		return err
	}
	if spooled {
		err = u.send(ctx, s, sealed)
	} else {
		err = u.checkPacks(ctx)
	}
	if errors.Is(err, errCondemned) {
		err = u.anew()
	}
	if err != nil {
		return err
	}
	for tries := 0; ; tries++ {
		if u.sent, err = r.readSent(&u.m); err != nil {
			return err
		}
		if tries == 0 {
			err = u.settleWriter(ctx, spooled)
		}
		if err == nil {
			u.holds = tries == patience
			err = u.log(ctx)
		}
		_ = u.sent.close() // synced before anything counts
		if errors.Is(err, errCondemned) && tries < patience {
			if err = u.anew(); err == nil {
				continue
			}
		}
		if !errors.Is(err, errSwept) && !errors.Is(err, errRelied) {
			return r.p.Classify(err)
		}
	}
}

// patience is how often a push begins anew because gc came between, before it keeps gc waiting.
const patience = 3

// errSwept says that gc came between two requests: what was found to be sent may not be there any more.
var errSwept = errors.New("the store was swept")

// use has the store stay as it is. The error is errSwept if it is not what it was.
func (u *pushing) use(ctx context.Context) (err error) {
	if u.release, err = u.p.Use(ctx); err != nil {
		return err
	}
	now, err := u.p.Store.Generation()
	if err == nil && u.generation != nil && now != *u.generation {
		err = errSwept
	}
	u.generation = &now
	return err
}

// leave lets gc and forget at the store.
func (u *pushing) leave() {
	if u.release != nil {
		u.release()
		u.release = nil
	}
}

// isThere asks whether the place is still the remote: always in a directory, where it costs nothing and a drive may not be mounted, else where
// the remote is asked anyway. Error: *GoneError.
func (u *pushing) isThere(ctx context.Context) error {
	asked := u.m.Time
	if asked.IsZero() {
		asked = u.m.Added
	}
	age := u.p.Env.Time().Sub(asked)
	if !isDir(u.URL) {
		if age >= 0 && age < quiet && !u.check {
			return nil
		}
		u.done.Requests++
	}
	_, err := u.described(ctx, u.b)
	if u.reads && errors.As(err, new(*BadObjectError)) {
		u.done.Described = true
		err = u.describeAgain(ctx)
	}
	if err == nil && (age < 0 || age >= quiet || u.check) {
		var n int
		was := u.current()
		n, err = u.lookForKey(ctx, u.b)
		if !isDir(u.URL) {
			u.done.Requests += n
		}
		u.done.NewKey, u.done.OldKey = u.current() != was, u.Newer
	}
	return err
}

// isDir reports whether a URL is that of a directory, which is asked at no cost.
func isDir(url string) bool { return !strings.HasPrefix(url, "s3:") && !strings.HasPrefix(url, "git:") }
