package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Appender holds the append lock. Only it can add to the log. It is for one
// goroutine.
type Appender struct {
	s    *Store
	lock *flock.Flock
	ctx  context.Context // of the wait for the lock

	newest uint64    // number of the newest log pack; 0: none
	name   pack.Name // of the pack that is added to
	file   vfs.File  // nil: a new pack is needed
	end    int64
	next   uint64 // ordinal of the next commit
	last   Position
	whole  bool        // the newest log pack ends with a commit
	heavy  bool        // enough was written to bring the index up to date
	full   []pack.Name // packs that are to take no more
	sealed []pack.Name // those behind which a new pack is there by now
}

// Append takes the append lock (waiting until ctx ends: *BusyError) and
// recovers the tail that a crash may have left.
func (s *Store) Append(ctx context.Context) (*Appender, error) {
	if s.o.ReadOnly {
		return nil, &ReadOnlyError{Op: "append to the log"}
	}
	lock, err := s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		return nil, err
	}
	a := &Appender{s: s, lock: lock, ctx: ctx}
	_, err = s.heal(s.compared(pack.Log), func(Repaired) {})
	if err == nil {
		err = a.recover()
	}
	if err == nil && (s.followerLost(a.newest) || a.file == nil && s.ahead(a.newest)) {
		if err = s.returnLost(func(Repaired) {}); err == nil {
			err = a.recover()
		}
	}
	if err == nil && s.reached() > a.last.Seq && !s.ahead(a.newest) && !s.Diverged() {
		err = s.o.Shorter(a.last, a.whole)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	_ = s.obeyDropped() // what is in the way is in the way of the next one, too: none of a save's business
	return a, nil
}

func (s *Store) reached() uint64 {
	if s.o.Reached == nil {
		return 0
	}
	return s.o.Reached()
}

// recover finds the end of the log.
func (a *Appender) recover() error {
	if a.file != nil {
		if err := a.file.Close(); err != nil {
			return err
		}
	}
	a.newest, a.file, a.last = 0, nil, Position{}
	names, err := a.s.names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.Kind != pack.Log {
			break
		}
		if a.newest == 0 {
			a.newest = n.Tag
			if err := a.openNewest(n); err != nil {
				return err
			}
		} else {
			end, err := a.s.endOf(n)
			if err != nil {
				return err
			}
			a.last = end.last
		}
		if a.last.Seq != 0 {
			break
		}
	}
	return nil
}

// openNewest opens the newest log pack for more, if it takes more.
func (a *Appender) openNewest(n pack.Name) error {
	f, err := a.s.fs.OpenFile(filepath.Join(a.s.o.Dir, n.File()), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if f, err = lockPack(a.ctx, f); err != nil {
		return err
	}
	end, err := a.s.endIn(n, f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.last = end.last
	a.whole = end.found && end.good == end.size && !end.badHead && !end.damaged
	cut := false // what is behind the last commit is what remains of more
	if end.size > end.good && a.s.reached() > 0 {
		last, err := a.s.Last()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		cut = a.s.reached() > last.Seq
	}
	shared, err := a.s.mend(n, f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	takesNone, err := isClosed(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	full := end.good >= a.s.limits.logPack || end.ordinal >= a.s.limits.logCommits || shared || takesNone
	// Damage in the tail is not what a crash left: nothing is cut off then, so that verify still
	// reports it, and repair may still save something.
	if full || end.badHead || end.damaged || cut {
		if full && !end.badHead && !end.damaged && !cut {
			a.full = append(a.full, n)
		}
		return errors.Join(a.s.sync(f), f.Close())
	}
	if end.size > end.good {
		if err := f.Truncate(end.good); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	a.name, a.file, a.end, a.next = n, f, end.good, end.ordinal
	return nil
}

// Last is the newest commit's position; the zero Position for an empty log.
func (a *Appender) Last() Position { return a.last }

// Commit makes the batch durable (b may be nil), then each payload a commit of the log with the next
// sequence number, with one fsync of the log for all. The batch belongs to the first. It returns the
// last's position.
func (a *Appender) Commit(b *Batch, payloads ...[]byte) (Position, error) {
	commits := make([]Commit, len(payloads))
	for i, p := range payloads {
		commits[i] = Commit{Seq: a.last.Seq + uint64(i) + 1, Payload: p}
	}
	return a.Import(b, commits)
}

// Import is Commit for what has its sequence numbers already, as another store gave them: ascending, and
// above those of this log.
func (a *Appender) Import(b *Batch, commits []Commit) (Position, error) {
	if len(commits) == 0 {
		return Position{}, errors.New("nothing to commit")
	}
	before := a.last.Seq
	for _, c := range commits {
		if len(c.Payload) > pack.MaxCommit-256 {
			return Position{}, fmt.Errorf("a commit of %d bytes is too large", len(c.Payload))
		}
		if c.Seq <= before {
			return Position{}, fmt.Errorf("commit %d comes after commit %d", c.Seq, before)
		}
		before = c.Seq
	}
	var blocks []*stagedBlock
	if b != nil {
		var err error
		if blocks, err = b.seal(); err != nil {
			return Position{}, err
		}
	}
	if a.file != nil && (a.end >= a.s.limits.logPack || a.next >= a.s.limits.logCommits) {
		if err := a.retire(); err != nil {
			return Position{}, err
		}
	}
	last, err := a.write(blocks, commits)
	if err != nil && a.file != nil {
		// After a failed fsync the state of the disk is unknown, and after a short
		// write that of the end of the pack: the pack is left unchanged, and a new one is begun.
		cause := err
		if err := a.abandon(); err != nil {
			return Position{}, errors.Join(cause, err)
		}
		if last, err = a.write(blocks, commits); err != nil {
			return Position{}, errors.Join(cause, err, a.abandon())
		}
	}
	if err != nil {
		return Position{}, err
	}
	a.last = last
	if b != nil {
		b.committed()
	}
	return last, nil
}

// write appends records and syncs them. What it wrote counts only if it returns
// no error.
func (a *Appender) write(blocks []*stagedBlock, commits []Commit) (Position, error) {
	if a.file == nil {
		if err := a.begin(); err != nil {
			return Position{}, err
		}
	}
	size := 0
	for _, k := range blocks {
		size += int(pack.RecordSize(len(k.payload)))
	}
	for _, c := range commits {
		size += len(c.Payload) + 64
	}
	buf := make([]byte, 0, size)
	seed := a.name.Seed(a.s.o.StoreID)
	for _, k := range blocks {
		buf = pack.AppendRecord(buf, seed, a.end+int64(len(buf)), pack.BlockRecord, k.payload)
	}
	since, next := 0, a.next
	last := Position{Pack: uint32(a.name.Tag), Seq: a.last.Seq}
	for _, m := range commits {
		last.Seq = m.Seq
		c := pack.Commit{Seq: m.Seq, Ordinal: next, Since: uint64(len(buf) - since), Data: m.Payload}
		region := blake3.New()
		region.Write(buf[since:])
		c.Seal(region)
		buf = pack.AppendRecord(buf, seed, a.end+int64(len(buf)), pack.CommitRecord, c.Append(nil))
		since = len(buf)
		next++
		last.Sum = c.Sum
	}
	if err := a.s.sure(); err != nil {
		return Position{}, err
	}
	if _, err := a.file.WriteAt(buf, a.end); err != nil {
		return Position{}, fmt.Errorf("write %s: %w", a.name.File(), err)
	}
	if err := a.s.sync(a.file); err != nil {
		return Position{}, fmt.Errorf("sync %s: %w", a.name.File(), err)
	}
	if err := a.s.sure(); err != nil {
		return Position{}, err // what was written may be in no store
	}
	a.end += int64(len(buf))
	a.next = next
	a.heavy = a.heavy || len(buf) >= heavyWrite
	last.Offset = a.end
	return last, nil
}

// begin creates the next log pack.
func (a *Appender) begin() error {
	if err := a.s.sure(); err != nil {
		return err
	}
	n := pack.Name{Kind: pack.Log, Tag: a.newest + 1}
	file := filepath.Join(a.s.o.Dir, n.File())
	if err := a.s.dropLeftIndex(n); err != nil {
		return err
	}
	f, err := a.s.create(file)
	if err != nil {
		return err
	}
	header := pack.Header{Name: n, Store: a.s.o.StoreID}
	if _, err := f.WriteAt(header.Append(nil), 0); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", n.File(), err), f.Close(), a.s.fs.Remove(file))
	}
	if err = a.s.sure(); err != nil { // it is of another store
		err = errors.Join(err, f.Close())
	} else {
		f, err = lockPack(a.ctx, f)
	}
	if err != nil {
		return errors.Join(err, a.s.fs.Remove(file))
	}
	a.newest = n.Tag
	// The name is durable before the first commit is.
	if err := a.s.syncDir(); err != nil {
		return errors.Join(err, f.Close())
	}
	a.s.mirrorPack(n)
	a.name, a.file, a.end, a.next = n, f, pack.HeaderSize, 0
	a.sealed, a.full = append(a.sealed, a.full...), nil
	return nil
}

// retire ends the pack. Its last index is written when the next pack is there:
// an index that says that nothing follows would hide what comes after it.
func (a *Appender) retire() error {
	f := a.file
	a.file = nil
	a.full = append(a.full, a.name)
	return f.Close()
}

// abandon takes back what a failed write may have left.
func (a *Appender) abandon() error {
	f := a.file
	if f == nil {
		return nil // it could not even be begun
	}
	a.file = nil
	return errors.Join(f.Truncate(a.end), f.Close())
}

// Close releases the append lock. After heavy work, or when the walk behind the
// index has become long, it brings the index of the log pack up to date. That
// an index could not be written is no error: the pack is walked instead.
func (a *Appender) Close() error {
	var err error
	if a.file != nil {
		err = a.file.Close()
		a.file = nil
		if a.heavy || a.s.tailIsLong(a.name) {
			a.s.reindex(a.name, false)
		}
	}
	for _, n := range a.sealed {
		a.s.reindex(n, true)
	}
	a.full, a.sealed = nil, nil
	return errors.Join(err, a.s.unlock(a.lock))
}
