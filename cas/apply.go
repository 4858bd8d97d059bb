package cas

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"

	"github.com/gofrs/flock"
	"github.com/zeebo/blake3"
)

// Apply repacks. Packs of which nothing is needed go first: that takes no space. Then:
//
//  1. If the log is rewritten: under the append lock a new log pack is begun two
//     numbers above the newest. What is kept of the older commits goes to a pack with the
//     number between. From here on each commit is in both.
//  2. Needed objects of some packs are copied into new ones, without locks but a
//     shared users lock, and made durable.
//  3. Under the exclusive users lock and the append lock, when no other process can rely
//     on an object that is about to go, remark is called for each commit that was made since
//     the plan; what it brought to life is copied too.
//  4. The generation is bumped, and the old packs are unlinked: in the mirror first.
//     Step 2 follows again until all packs are done.
//
// The users lock is not waited for: if somebody holds it, done is false, and the
// old packs stay beside the new ones until the next sweep. A crash at any point
// leaves every object and commit at least once; doubles do no harm. The caller
// must not hold the users lock.
func (p *RepackPlan) Apply(ctx context.Context, remark func(Commit) error) (done bool, err error) {
	for _, k := range p.victims() {
		p.passing += k.size
	}
	if !p.Due() && !p.o.Purge {
		return true, nil
	}
	if p.s.o.ReadOnly {
		return false, &ReadOnlyError{Op: "repack"}
	}
	if !p.Due() {
		return p.tidy(ctx)
	}
	for i, group := range p.groups() {
		if i == 1 && p.logs {
			if err := p.moveLog(ctx); err != nil {
				return false, err
			}
		}
		if len(group) == 0 {
			continue
		}
		if done, err := p.group(ctx, group, remark); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// moveLog writes the commits that are kept into a log pack of their own.
func (p *RepackPlan) moveLog(ctx context.Context) error {
	release, err := p.s.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	a, err := p.s.Append(ctx)
	if err != nil {
		return err
	}
	newest := a.newest
	p.written = append(p.written, pack.Name{Kind: pack.Log, Tag: newest + 2})
	var errs []error
	if a.file != nil {
		errs = append(errs, a.retire())
	}
	a.newest++ // this number is for the kept commits
	errs = append(errs, a.begin(), a.Close())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	refs, err := p.s.commitRefs(0)
	if err != nil {
		return err
	}
	if len(refs) == 0 {
		return nil
	}
	amend := p.o.Amend
	if amend == nil {
		amend = func(c Commit) []byte { return c.Payload }
	}
	p.written = append(p.written, pack.Name{Kind: pack.Log, Tag: newest + 1})
	return p.s.writeLog(pack.Name{Kind: pack.Log, Tag: newest + 1}, refs, func(c Commit) ([]byte, bool) {
		if c.Seq < p.newest && !p.keep(c) {
			return nil, false
		}
		if c.Seq > p.newest {
			return c.Payload, true
		}
		return amend(c), true
	})
}

// writeLog writes a log pack of commits only. It appears whole, under its name.
func (s *Store) writeLog(n pack.Name, refs []commitPlace, keep func(Commit) ([]byte, bool)) error {
	seed := n.Seed(s.o.StoreID)
	c := pack.Contents{Covered: pack.HeaderSize, Sealed: true}
	buf := pack.Header{Name: n, Store: s.o.StoreID, Dense: true}.Append(nil)
	at := int64(0) // of buf
	ordinal := uint64(0)
	if err := s.dropLeftIndex(n); err != nil {
		return err
	}
	err := s.replace(filepath.Join(s.o.Dir, n.File()), vfs.Replacement{}, func(f vfs.File) error {
		flush := func() error {
			_, err := f.WriteAt(buf, at)
			at += int64(len(buf))
			buf = buf[:0]
			return err
		}
		for m, err := range s.commitsAt(refs) {
			if err != nil {
				return err
			}
			data, ok := keep(m)
			if !ok {
				continue
			}
			r := pack.Commit{Seq: m.Seq, Ordinal: ordinal, Data: data}
			r.Seal(blake3.New())
			from := at + int64(len(buf))
			buf = pack.AppendRecord(buf, seed, from, pack.CommitRecord, r.Append(nil))
			c.AddCommit(m.Seq, from, at+int64(len(buf)))
			ordinal++
			if len(buf) >= 1<<20 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
	if err != nil {
		return err
	}
	s.mirrorPack(n)
	return s.writeIndex(n, &c)
}

// group copies what is needed of some packs, and unlinks them.
func (p *RepackPlan) group(ctx context.Context, group []*planned, remark func(Commit) error) (done bool, err error) {
	release, err := p.s.Use(ctx)
	if err != nil {
		return false, err
	}
	if listed, err := p.listed(group); !listed || err != nil {
		release()
		return false, err
	}
	b := &Batch{s: p.s, dense: true}
	if err = p.pin(names(group)); err == nil {
		err = p.copy(ctx, b, group)
	}
	if err == nil {
		err = p.remark(remark)
	}
	release()
	if err != nil {
		return false, errors.Join(err, b.Discard())
	}
	alone, err := p.alone(ctx)
	if alone == nil || err != nil {
		// What was copied is good, and saves the next sweep the work.
		return false, errors.Join(err, b.finish())
	}
	defer p.s.unlock(alone)
	a, err := p.s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		if errors.As(err, new(*BusyError)) {
			err = nil
		}
		return false, errors.Join(err, b.finish())
	}
	defer p.s.unlock(a)
	err = p.s.notice() // a repair may have come between
	listed := false
	if err == nil {
		listed, err = p.listed(group)
	}
	if !listed || err != nil {
		return false, errors.Join(err, b.finish())
	}
	if err := p.remark(remark); err != nil {
		return false, errors.Join(err, b.Discard())
	}
	going, err := p.late(ctx, b, group)
	if err != nil {
		return false, errors.Join(err, b.Discard())
	}
	if err := b.finish(); err != nil {
		return false, err
	}
	if b.bulk != nil {
		p.written = append(p.written, b.bulk.packs...)
	}
	return true, p.s.sweep(going, p.written, p.o.Purge)
}

// listed reports whether the store still has the packs of the plan as the plan knows them. Others may have their names after a
// repair, and what was added to a pack since is not in what the plan knows of one that left the list.
func (p *RepackPlan) listed(group []*planned) (bool, error) {
	packs, err := p.s.snapshot()
	for _, k := range group {
		if !slices.Contains(packs, k.pack) {
			return false, err
		}
	}
	return true, err
}

func names(group []*planned) map[pack.Name]bool {
	all := map[pack.Name]bool{}
	for _, k := range group {
		all[k.pack.name] = true
	}
	return all
}

// finish makes a batch durable that needs no commit of the log.
func (b *Batch) finish() error {
	if _, err := b.seal(); err != nil {
		return errors.Join(err, b.Discard())
	}
	b.committed()
	return nil
}

// remark calls f for the commits that were made since the last time.
func (p *RepackPlan) remark(f func(Commit) error) error {
	for c, err := range p.s.Commits(p.newest + 1) {
		if err != nil {
			return err
		}
		if c.Seq <= p.newest {
			continue
		}
		if err := f(c); err != nil {
			return err
		}
		p.newest = c.Seq
	}
	return nil
}

// tidy removes half-made files that crashes left, if no other process uses the store.
func (p *RepackPlan) tidy(ctx context.Context) (done bool, err error) {
	alone, err := p.alone(ctx)
	if alone == nil || err != nil {
		return false, err
	}
	defer p.s.unlock(alone)
	a, err := p.s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		return false, err
	}
	defer p.s.unlock(a)
	return true, errors.Join(p.s.execute(true), p.s.removeTemporary(), p.s.syncDir())
}

// alone is Store.alone with the plan's patience.
func (p *RepackPlan) alone(ctx context.Context) (*flock.Flock, error) {
	until := time.Now().Add(p.o.Wait)
	for {
		f, err := p.s.alone()
		if f != nil || err != nil || !time.Now().Before(until) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(alonePoll):
		}
	}
}

// alonePoll is how often a store in use is looked at again.
const alonePoll = 10 * time.Millisecond

// alone takes the users lock for this process alone; nil if another process holds it.
func (s *Store) alone() (*flock.Flock, error) {
	f, err := s.lockFile(usersLock)
	if err != nil {
		return nil, err
	}
	ok, err := f.TryLock()
	if !ok || err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if held, err := s.hold(f); !held || err != nil {
		return nil, err
	}
	return f, nil
}

// sweep unlinks packs, which others replace. The caller holds both locks. purge: see noteDropped.
func (s *Store) sweep(packs []*planned, by []pack.Name, purge bool) error {
	if len(packs) == 0 {
		return nil
	}
	var going []pack.Name
	for _, k := range packs {
		going = append(going, k.pack.name)
	}
	if err := errors.Join(s.sure(), s.replaced(going, by)); err != nil {
		return err
	}
	// Whoever remembers ids must hear of it before they are gone.
	if err := s.bumpGeneration(); err != nil {
		return err
	}
	if err := s.condemn(going, purge); err != nil {
		return err
	}
	errs := []error{s.removeTemporary(), s.syncDir()}
	now, err := s.Generation()
	errs = append(errs, err)
	for _, k := range packs { // no other process uses the store, and an open file keeps its space
		errs = append(errs, k.pack.closeFile())
	}
	s.mu.Lock()
	s.ready, s.generation = false, now // what else this process knows of the packs is as it was
	s.mu.Unlock()
	return errors.Join(errs...)
}

// removeTemporary removes files that a crash left half-made. Nobody else uses the store.
func (s *Store) removeTemporary() error {
	entries, err := s.fs.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, tmp := strings.CutSuffix(e.Name(), tmpSuffix)
		if !tmp {
			// An index whose pack is gone is of no use.
			stem, index := strings.CutSuffix(name, pack.IndexSuffix)
			if !index {
				continue
			}
			if _, err := s.fs.Lstat(filepath.Join(s.o.Dir, stem+pack.Suffix)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if err := s.remove(filepath.Join(s.o.Dir, e.Name())); err != nil {
			return err
		}
	}
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	if entries, err = s.fs.ReadDir(mirror); err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), pack.Suffix+tmpSuffix) {
			if err := s.remove(filepath.Join(mirror, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
