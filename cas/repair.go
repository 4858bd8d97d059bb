package cas

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Repaired is one thing that Repair did.
type Repaired struct {
	Pack string // file name
	What Fix
	Lost []oid.ID // objects that were known to be there and cannot be read any more
}

// Fix is a kind of repair.
type Fix uint8

const (
	FixReturned Fix = iota + 1 // the pack was lost, and came back from the mirror
	FixSalvaged                // the pack was damaged: rewritten without its damaged parts
	FixCut                     // a torn tail was cut off
	FixNamed                   // the pack is in the mirror again
	FixRemoved                 // nothing in the pack could be read: it is gone
)

func (f Fix) String() string {
	return [...]string{"", "brought back from the mirror", "rewritten without its damaged parts", "torn tail cut off", "mirrored again", "removed"}[f]
}

// Repair puts the store in order: packs that were lost come back from the
// mirror, damaged ones are written anew with all that is good of them, torn tails are cut
// off, all indexes are made anew, and what a crash left half-made is removed. It needs the
// store for itself, waiting for the locks until ctx ends: *BusyError. A crash
// in the middle loses nothing. The generation is bumped.
//
// An object that cannot be read any more is gone from the store after this, so
// that the next save stores it again if it is still in the tree. progress, which may be nil, is told how
// many bytes of packs were checked, and then how many were indexed anew.
func (s *Store) Repair(ctx context.Context, report func(Repaired), progress func(step string, c Checking)) error {
	if s.o.ReadOnly {
		return &ReadOnlyError{Op: "repair"}
	}
	users, err := s.lock(ctx, usersLock, (*flock.Flock).TryLock)
	if err != nil {
		return err
	}
	defer s.unlock(users)
	lock, err := s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		return err
	}
	defer s.unlock(lock)
	if err := s.bumpGeneration(); err != nil {
		return err
	}
	if err := s.removeNoFiles(); err != nil {
		return err
	}
	if err := s.execute(true); err != nil {
		return err
	}
	if err := s.returnLost(report); err != nil {
		return err
	}
	if _, err := s.heal(s.compared(0), report); err != nil {
		return err
	}
	if err := s.removeTemporary(); err != nil {
		return err
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.packs, s.ready = nil, false
	s.mu.Unlock()
	s.cache.clear()
	s.checkIndexes()
	check := s.pass("check", names, progress)
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.purging() {
			if err := s.unshare(n); err != nil {
				return err
			}
		}
		if err := s.repairPack(ctx, n, report); err != nil {
			return err
		}
		check(n)
	}
	for _, n := range names {
		if err := s.remove(filepath.Join(s.o.Dir, n.IndexFile())); err != nil {
			return err
		}
	}
	if names, err = s.names(); err != nil {
		return err
	}
	newest, index := true, s.pass("index", names, progress)
	for _, n := range names {
		if err := s.reindex(n, n.Kind == pack.Data || !newest); err != nil {
			return err
		}
		newest = newest && n.Kind != pack.Log
		index(n)
	}
	s.mu.Lock()
	s.packs, s.ready = nil, false
	s.mirrorErr = nil
	s.mu.Unlock()
	for _, n := range names {
		if !s.purging() && s.renewMirror(n, false) {
			report(Repaired{Pack: n.File(), What: FixNamed})
		}
	}
	return s.syncDir()
}

// pass counts packs that a step is done with, by the sizes that they had before it.
func (s *Store) pass(step string, names []pack.Name, progress func(string, Checking)) (done func(pack.Name)) {
	if progress == nil {
		return func(pack.Name) {}
	}
	now, sizes := Checking{AllPacks: len(names)}, map[pack.Name]int64{}
	for _, n := range names {
		if info, err := s.fs.Lstat(filepath.Join(s.o.Dir, n.File())); err == nil {
			sizes[n] = info.Size()
			now.AllBytes += info.Size()
		}
	}
	progress(step, now)
	return func(n pack.Name) {
		now.Packs++
		now.Bytes += sizes[n]
		progress(step, now)
	}
}

// repairPack checks a pack and writes it anew if anything in it is wrong.
func (s *Store) repairPack(ctx context.Context, n pack.Name, report func(Repaired)) error {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, n.File()), os.O_RDWR, 0)
	if err != nil {
		return ignoreMissing(err)
	}
	if f, err = lockPack(ctx, f); err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p := s.newPack(n)
	if err := s.checkHeader(p, f); err != nil {
		return err
	}
	in, err := s.inspect(p, f, info.Size())
	if err != nil {
		return err
	}
	switch {
	case in.damaged || in.suspect || p.badHead && in.counted > pack.HeaderSize:
		lost, err := s.rewrite(p, f, info.Size(), in.counted)
		if err != nil {
			return err
		}
		report(Repaired{Pack: n.File(), What: FixSalvaged, Lost: lost})
	case p.badHead:
		what := FixCut // a crash left a pack in which nothing counts
		if pack.BrokenHeader(f) {
			what = FixRemoved
		}
		report(Repaired{Pack: n.File(), What: what})
		if t := (twin{name: n}); t.look(s, s.mirrorNow()) == nil && !sameFile(t.first, t.second) {
			return s.remove(filepath.Join(s.o.Dir, n.File())) // what is in the mirror is another
		}
		return s.unlink(n)
	case in.good < info.Size():
		report(Repaired{Pack: n.File(), What: FixCut})
		if err := f.Truncate(in.good); err != nil {
			return err
		}
		return s.sync(f)
	}
	return nil
}

// inspected is what a look at a whole pack found.
type inspected struct {
	counted int64 // end of what counts: of the last good commit, or of what the index covers
	good    int64 // end of the last good commit
	damaged bool  // something that counts is wrong
	suspect bool  // what is behind what counts is not what a crash leaves
}

// inspect reads a whole pack.
func (s *Store) inspect(p *packFile, f vfs.File, size int64) (inspected, error) {
	in := inspected{good: pack.HeaderSize}
	if x := pack.OpenIndex(s.fs, s.o.Dir, p.name, s.o.StoreID); x != nil {
		in.counted = x.Covered
		x.Close()
	}
	w := pack.NewWalker(f, p.seed, pack.HeaderSize, size)
	region, from := blake3.New(), int64(pack.HeaderSize)
	wrong := false // since the last good commit
	for {
		r, err := w.Next()
		if err == io.EOF {
			break
		}
		if pack.IsMalformed(err) {
			wrong = true
			crash, err := w.TornHere()
			if err != nil {
				return in, err
			}
			in.suspect = in.suspect || !crash
			if ok, err := w.Resync(); err != nil {
				return in, err
			} else if !ok {
				break
			}
			continue
		}
		if err != nil {
			return in, err
		}
		if r.Type == pack.BlockRecord {
			region.Write(r.Raw)
			ok, err := s.blockIsGood(r.Payload)
			if err != nil {
				return in, err
			}
			wrong = wrong || !ok
			continue
		}
		c, err := pack.ParseCommit(r.Payload)
		if err == nil && int64(c.Since) == r.Offset-from && c.Covers(region) {
			in.damaged = in.damaged || wrong
			in.good, wrong, in.suspect = r.End, false, false
		} else {
			wrong, in.suspect = true, true
		}
		region, from = blake3.New(), r.End
	}
	if in.counted > in.good { // a crash takes nothing that an index covers
		in.damaged = true
	}
	in.counted = max(in.counted, in.good)
	return in, nil
}
