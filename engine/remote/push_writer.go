package remote

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

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
	if err := u.read(packsName, &named); u.check && (err != nil || len(missing(objects, named)) > 0) {
		return false, ahead, nil
	}
	if err := in.openMerges(ctx, parentOf(before)); err != nil {
		return false, ahead, err
	}
	path, err := in.chain(ctx, from, parentOf(before))
	if err == nil && u.reads {
		err = in.readAll(ctx, path, named)
	}
	if ofOneLog(err) {
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
		if c.Seq == u.m.Seq && u.m.ends(c) || c.Seq > u.m.Seq {
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

// ends reports whether a commit, which has the number that the mark says, is the one that the mark means.
func (m *mark) ends(c cas.Commit) bool {
	return m.Payload == commitHash(c) || m.Payload == shortHash(c.Payload) // as earlier versions of this program wrote it
}

// commitHash tells a commit from others of its number. That gc writes into a checkpoint how it was named or pinned since makes no difference.
func commitHash(c cas.Commit) string {
	if r, err := manifest.ParseRecord(c.Payload); err == nil && r.Checkpoint != nil {
		r.Checkpoint.Name, r.Checkpoint.Pinned = "", false
		return shortHash(r.Append(nil))
	}
	return shortHash(c.Payload)
}

func shortHash(data []byte) string {
	id := oid.Sum(data)
	return hex.EncodeToString(id[:hashBytes])
}

// newWriter begins a log of which nothing is in the remote.
func (u *pushing) newWriter() {
	_ = u.newMark() // else the next check finds that more is missing than there is
	u.sent.whole, u.sent.there, u.sent.bases, u.sent.n = map[oid.ID]struct{}{}, map[oid.ID]struct{}{}, map[[16]byte]bool{}, 0
}

// anew begins a log of which nothing is in the remote, in the place of one whose packs are gone.
func (u *pushing) anew() error {
	u.done.Lost, u.packed = true, nil
	return errors.Join(u.newMark(), u.write(markName, u.m), u.dropSpool())
}

// newMark makes the mark that of a writer that has pushed nothing, and drops the list of the packs of the one before.
func (u *pushing) newMark() error {
	u.m = mark{Writer: newWriterID(), Store: u.p.ID.String(), First: true}
	return account.RemoveIfThere(filepath.Join(u.dir, packsName))
}

func newWriterID() writerID {
	var b [8]byte
	rand.Read(b[:])
	return writerID(hex.EncodeToString(b[:]))
}
