package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Pushed is what a push did.
type Pushed struct {
	Remote      *Remote
	Checkpoints int   // that are there now and were not before
	Bytes       int64 // of the objects that were sent
	Requests    int   // to the remote
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

// pushing is one push.
type pushing struct {
	*Remote
	check bool // asks whether all that was pushed is there
	reads bool // and whether it is whole
	b     bucket.Bucket
	m     mark
	sent  *sent
	done  *Pushed

	release    func()  // of the store, which is in use while objects are read; nil: it is not
	generation *uint64 // of the store when this try began; nil: it has not begun
	holds      bool    // it stays in use while something is sent
}

// Push sends what the log has got since the last push. With check it also asks the remote, at once, whether what was
// pushed is still there, by names and lengths. What is sent is in the remote for good, also where the push ends with an error later. Errors:
// *account.BusyError where another process pushes, *GoneError, those of package bucket and of the store.
func (r *Remote) Push(ctx context.Context, check bool) (*Pushed, error) {
	return r.push(ctx, &pushing{check: check})
}

// Repair is Push, but reads all that was pushed: where an object is gone or damaged, all of the log goes again, as another one. Errors: as Push.
func (r *Remote) Repair(ctx context.Context) (*Pushed, error) {
	return r.push(ctx, &pushing{check: true, reads: true})
}

// push does a push, and notes for status how it went.
func (r *Remote) push(ctx context.Context, u *pushing) (*Pushed, error) {
	if err := r.p.Writing(ctx); err != nil {
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
	if ctx.Err() != nil { // it was interrupted
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
		if !errors.Is(err, errSwept) {
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

// errCondemned says that packs that a push relied on were removed from the remote, or are about to be.
var errCondemned = errors.New("the remote does not keep what was sent before")

// arePacks asks whether packs are there, and stay. The error is errCondemned where that is not so.
func (u *pushing) arePacks(ctx context.Context, stamps []string) error {
	in := &reader{b: u.b}
	lost, err := condemnedNow(ctx, in, stamps)
	u.done.Requests += in.requests
	if err == nil && len(lost) > 0 {
		err = errCondemned
	}
	return err
}

// checkPacks looks at the packs that an interrupted push has left. Where one does not stay, all go again.
func (u *pushing) checkPacks(ctx context.Context) error {
	if len(u.m.Packs) == 0 {
		return nil
	}
	err := u.arePacks(ctx, u.m.Packs)
	if errors.Is(err, errCondemned) {
		u.m.Packs, u.m.Sent = nil, u.m.Whole
		err = u.write(markName, u.m)
	}
	return err
}

// anew begins a log of which nothing is in the remote, in the place of one whose packs are gone.
func (u *pushing) anew() error {
	u.done.Lost = true
	u.m = mark{Writer: newWriterID(), Store: u.p.ID.String(), First: true}
	return errors.Join(u.write(markName, u.m), u.dropSpool(), account.RemoveIfThere(filepath.Join(u.dir, packsName)))
}

// notePacks adds to the list of the packs that the log names, for a push that asks whether all is there.
func (r *Remote) notePacks(stamps []string) error {
	var all []string
	if err := r.read(packsName, &all); err != nil {
		all = nil // a list that is torn says nothing
	}
	return r.write(packsName, append(all, stamps...))
}

// isThere asks whether the place is still the remote: always in a directory, where it costs nothing and a drive may not be mounted, else where
// the remote is asked anyway. Error: *GoneError.
func (u *pushing) isThere(ctx context.Context) error {
	age := u.p.Env.Time().Sub(u.m.Time)
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

// GoneError: the place of a remote does not hold it any more, or holds another one.
type GoneError struct{ URL string }

func (e *GoneError) Error() string { return e.URL + " does not hold this remote any more" }

// positionText names a place in the log and what is before it.
func positionText(at cas.Position) string {
	return fmt.Sprintf("%d/%d/%d/%x", at.Pack, at.Offset, at.Seq, at.Sum)
}

// settleWriter decides as whom this store pushes. A store that was copied, or put back to an earlier state with all of its machine, would
// write a second log under one writer: it becomes a writer of its own, which continues the log where it knows it.
// After a push that was interrupted it asks in any case.
func (u *pushing) settleWriter(ctx context.Context, resumed bool) error {
	if u.m.Writer == "" {
		u.newWriter()
		return nil
	}
	store := u.p.ID.String()
	if !u.check && !resumed && !u.mayBePutBack(u.m) {
		return u.sameLog()
	}
	whole, ahead, err := u.look(ctx)
	switch {
	case err != nil:
		return err
	case !whole: // somebody has removed what was pushed: all of it goes again
		u.done.Lost = true
		u.newWriter()
		return nil
	case u.m.Store == store && !ahead:
		return u.sameLog()
	}
	u.done.Moved = u.m.Seq > 0
	u.m.Writer, u.m.Store, u.m.First, u.m.Base, u.m.Unmerged, u.m.Machine = newWriterID(), store, true, "", 0, "" // it continues the log where this store knows it
	return nil
}

// look asks the remote whether all of the log that this store continues is still there, and whether another one has pushed more as
// the same writer. With check it looks at the whole log, also at that of others which it continues, and at the packs; with reads it reads them.
func (u *pushing) look(ctx context.Context) (whole, ahead bool, err error) {
	prefix, from := ofWriter(u.m.Writer), u.m.Base
	switch {
	case u.check:
		prefix, from = "", noParent
	case u.m.First: // all that is there of the log is another's
		prefix, from = segments, noParent
	}
	objects, err := u.b.List(ctx, prefix)
	if err != nil {
		return false, false, err
	}
	before, pushed := parseStamp(u.m.Before)
	in := &reader{b: u.b, at: list(objects), requests: 1}
	defer func() { u.done.Requests += in.requests }()
	for _, all := range in.at.pieces {
		for _, p := range all {
			ahead = ahead || p.object.writer == u.m.Writer && p.last > u.m.Seq
		}
	}
	if ahead && u.pushedHere(u.m) {
		if err := u.noteLater(objects); err != nil {
			return false, ahead, err
		}
	}
	if !pushed {
		return true, ahead, nil
	}
	var named []string
	if slices.ContainsFunc(in.at.logs, func(l Log) bool { return l.ID == parentOf(before) }) {
		defer func() {
			if err == nil && !whole {
				u.done.Old = parentOf(before)
			}
		}()
	}
	if err := u.read(packsName, &named); u.check && (err != nil || len(missing(objects, nil, named)) > 0) {
		return false, ahead, nil
	}
	if err := in.openMerges(ctx, parentOf(before)); err != nil {
		return false, ahead, err
	}
	path, err := in.chain(ctx, from, parentOf(before))
	if err == nil && u.reads {
		err = in.readAll(ctx, path, named)
	}
	if errors.As(err, new(*GapError)) || errors.As(err, new(*BadObjectError)) || errors.Is(err, fs.ErrNotExist) {
		return false, ahead, nil
	}
	return err == nil, ahead, err
}

// readAll reads the pieces of a log, and packs by their stamps, and checks that their bytes are those that were pushed.
func (r *reader) readAll(ctx context.Context, pieces []piece, packs []string) error {
	return inOrder(ctx, len(pieces)+len(packs), func(ctx context.Context, i int) (none struct{}, err error) {
		if i < len(pieces) {
			_, err = r.segments(ctx, pieces[i])
			return none, err
		}
		pack, _ := parseStamp(packs[i-len(pieces)])
		_, err = r.get(ctx, pack.packName(), pack)
		return none, err
	}, func(int, struct{}) error { return nil })
}

// sameLog compares the log with the newest commit that was sent: one that was put back to an older state and has gone on from there is
// another log, of which nothing is in the remote.
func (u *pushing) sameLog() error {
	for c, err := range u.p.Store.Commits(u.m.Seq) {
		if err != nil {
			return u.p.Classify(err)
		}
		if c.Seq == u.m.Seq && payloadHash(c) == u.m.Payload || c.Seq > u.m.Seq {
			return nil // gc may have dropped it
		}
		break
	}
	if u.m.Seq == 0 {
		return nil
	}
	u.done.Moved = true
	u.newWriter()
	return nil
}

func payloadHash(c cas.Commit) string {
	id := oid.Sum(c.Payload)
	return hex.EncodeToString(id[:hashBytes])
}

// newWriter begins a log of which nothing is in the remote.
func (u *pushing) newWriter() {
	u.m = mark{Writer: newWriterID(), Store: u.p.ID.String(), First: true}
	_ = account.RemoveIfThere(filepath.Join(u.dir, packsName)) // else the next check finds that more is missing than there is
	u.sent.whole, u.sent.there, u.sent.bases, u.sent.n = map[oid.ID]struct{}{}, map[oid.ID]struct{}{}, map[[16]byte]bool{}, 0
}

func newWriterID() writerID {
	var b [8]byte
	rand.Read(b[:])
	return writerID(hex.EncodeToString(b[:]))
}

// log sends the commits behind the mark.
func (u *pushing) log(ctx context.Context) error {
	u.generation = nil
	defer u.leave()
	if err := u.use(ctx); err != nil {
		return err
	}
	last, err := u.p.Store.Last()
	if err != nil {
		return err
	}
	g, err := u.gather(ctx)
	if err != nil {
		return err
	}
	if len(g.commits) == 0 { // gc has written the log anew, or all is about precious files
		u.m.At = positionText(last)
		return u.write(markName, u.m)
	}
	if err := g.objects(ctx, u.p, "push", u.sent, u.pack); err != nil {
		return err
	}
	for _, c := range g.commits {
		g.bundle.Commit(c)
	}
	n := segmentName{writer: u.m.Writer, first: g.commits[0].Seq, last: g.commits[len(g.commits)-1].Seq}
	return u.segment(ctx, g, n, func(m *mark) {
		m.Seq, m.Payload, m.At = g.newest.Seq, payloadHash(g.newest), positionText(g.newest.Position)
	})
}

// pack sends objects before the segment whose commits need them. When it is done, they need not go again.
func (u *pushing) pack(ctx context.Context, bundle *cas.Bundle, ids []oid.ID) error {
	sealed, err := u.seal(head{}, bundle)
	if err != nil {
		return err
	}
	s := stampOf(sealed)
	if !u.holds { // gc does not wait for the network
		u.leave()
	}
	if err := u.put(ctx, s.packName(), sealed); err != nil {
		return err
	}
	if err := u.sent.write(ids); err != nil {
		return err
	}
	u.sent.n += len(ids)
	u.m.Sent = u.sent.n
	u.m.Packs = append(u.m.Packs, s.String())
	if err := u.write(markName, u.m); err != nil || u.holds {
		return err
	}
	return u.use(ctx)
}

// segment sends commits.
func (u *pushing) segment(ctx context.Context, g *gathered, n segmentName, then func(*mark)) error {
	bundle, ids := g.bundle, g.bundled
	h := head{Before: u.m.Before, Packs: u.m.Packs}
	if u.m.First {
		h.Machine, _ = os.Hostname()
		u.m.Machine = h.Machine
		h.Root = strconv.Quote(u.p.Root())
	}
	n.parent = noParent
	if before, ok := parseStamp(u.m.Before); ok {
		n.parent = parentOf(before)
	}
	if k, err := u.Key(); err == nil { // who does not have it pushes without
		if err := h.sign(k, bundle.Bytes()); err != nil {
			return err
		}
	}
	sealed, err := u.seal(h, bundle)
	if err != nil {
		return err
	}
	n.stamp = stampOf(sealed)
	if err := u.sent.write(ids); err != nil {
		return err
	}
	s := spool{Name: n.String(), Mark: u.m, Checkpoints: g.checkpoints, Packs: u.m.Packs}
	then(&s.Mark)
	if u.m.First {
		s.Mark.Base = n.parent
	}
	s.Mark.Before, s.Mark.Packs, s.Mark.First = n.stamp.String(), nil, false
	s.Mark.Unmerged++
	s.Mark.Sent += len(ids)
	s.Mark.Whole = s.Mark.Sent
	if err := u.writeSpool(s, sealed); err != nil {
		return err
	}
	u.leave()
	return u.send(ctx, s, sealed)
}

func (u *pushing) seal(h head, bundle *cas.Bundle) ([]byte, error) {
	data, err := h.object(bundle.Bytes())
	if err != nil {
		return nil, err
	}
	return u.encrypt(data)
}

// send sends what is in the spool, and notes that it is there.
func (u *pushing) send(ctx context.Context, s spool, sealed []byte) error {
	if err := u.put(ctx, s.Name, sealed); err != nil {
		return err
	}
	if len(s.Packs) > 0 {
		// A process that was asleep for days between a pack and its segment finds out here, and not before: from now on, gc keeps what is there.
		if err := u.arePacks(ctx, s.Packs); err != nil {
			return err
		}
		if err := u.notePacks(s.Packs); err != nil {
			return err
		}
	}
	u.done.Checkpoints += s.Checkpoints
	s.Mark.Time, s.Mark.Boot = u.p.Env.Time(), u.started()
	if err := u.write(markName, s.Mark); err != nil {
		return err
	}
	u.m = s.Mark
	return u.dropSpool()
}

func (u *pushing) put(ctx context.Context, name string, sealed []byte) error {
	u.done.Requests++
	if err := u.b.Put(ctx, name, sealed); err != nil {
		return err
	}
	u.done.Bytes += int64(len(sealed))
	return nil
}
