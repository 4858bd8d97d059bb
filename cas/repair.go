package cas

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/zeebo/blake3"

	"rewind/cas/vfs"
)

// Repaired is one thing that Repair did.
type Repaired struct {
	Pack string // file name
	What Fix
	Lost []ID // objects that were known to be there and cannot be read any more
}

// Fix is a kind of repair.
type Fix uint8

const (
	FixReturned Fix = iota + 1 // the pack was lost, and came back from its second name
	FixSalvaged                // the pack was damaged: what is good of it was written anew
	FixCut                     // a torn tail was cut off
	FixNamed                   // the pack got its second name back
)

func (f Fix) String() string {
	return [...]string{"", "brought back from its second name", "written anew without its damaged parts", "torn tail cut off", "given its second name"}[f]
}

// Repair puts the store in order: packs that were lost come back from the
// vault, damaged ones are written anew with all that is good of them, torn tails are cut
// off, all indexes are made anew, and what a crash left half-made is removed. It needs the
// store for itself, waiting for the locks until ctx ends: *BusyError. A crash
// in the middle loses nothing. The generation is bumped.
//
// An object that cannot be read any more is gone from the store after this, so
// that the next save stores it again if it is still in the tree.
func (s *Store) Repair(ctx context.Context, report func(Repaired)) error {
	if s.o.ReadOnly {
		return &ReadOnlyError{Op: "repair"}
	}
	users, err := s.lock(ctx, usersLock, (*flock.Flock).TryLock)
	if err != nil {
		return err
	}
	defer unlock(users)
	lock, err := s.lock(ctx, appendLock, (*flock.Flock).TryLock)
	if err != nil {
		return err
	}
	defer unlock(lock)
	if err := s.bumpGeneration(); err != nil {
		return err
	}
	if err := s.execute(); err != nil {
		return err
	}
	if err := s.returnLost(report); err != nil {
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
	for _, n := range names {
		if err := s.repairPack(n, report); err != nil {
			return err
		}
	}
	for _, n := range names {
		if err := ignoreMissing(s.fs.Remove(filepath.Join(s.o.Dir, n.indexFile()))); err != nil {
			return err
		}
	}
	if names, err = s.names(); err != nil {
		return err
	}
	newest := true
	for _, n := range names {
		if err := s.reindex(n, n.kind == dataPack || !newest); err != nil {
			return err
		}
		newest = newest && n.kind != logPack
	}
	s.mu.Lock()
	s.packs, s.ready = nil, false
	s.vaultErr = nil
	s.mu.Unlock()
	for _, n := range names {
		if s.giveSecondName(n) {
			report(Repaired{Pack: n.file(), What: FixNamed})
		}
	}
	return s.syncDir()
}

// returnLost brings packs back that only the vault has.
func (s *Store) returnLost(report func(Repaired)) error {
	s.mu.RLock()
	vault := s.vault
	s.mu.RUnlock()
	if vault == "" {
		return nil
	}
	entries, err := s.fs.ReadDir(vault)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		n, ok := parsePackName(e.Name())
		if !ok {
			continue
		}
		from := filepath.Join(vault, n.file())
		if id, ok := headerStore(s.fs, from); ok && id != s.o.StoreID {
			continue // another store's
		}
		done, err := s.bringBack(from, n)
		if err != nil {
			return err
		}
		if done {
			report(Repaired{Pack: n.file(), What: FixReturned})
		}
	}
	return s.syncDir()
}

// repairPack checks a pack and writes it anew if anything in it is wrong.
func (s *Store) repairPack(n packName, report func(Repaired)) error {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, n.file()), os.O_RDWR, 0)
	if err != nil {
		return ignoreMissing(err)
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
	case in.damaged || in.suspect || p.badHead && in.counted > headerSize:
		lost, err := s.rewrite(p, f, info.Size(), in.counted)
		if err != nil {
			return err
		}
		report(Repaired{Pack: n.file(), What: FixSalvaged, Lost: lost})
	case p.badHead:
		// A crash left a pack in which nothing counts.
		report(Repaired{Pack: n.file(), What: FixCut})
		return s.unlink(n)
	case in.good < info.Size():
		report(Repaired{Pack: n.file(), What: FixCut})
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
	suspect bool  // a commit behind what counts does not match: a crash, or damage
}

// inspect reads a whole pack.
func (s *Store) inspect(p *pack, f vfs.File, size int64) (inspected, error) {
	in := inspected{good: headerSize}
	if x := openIndex(s.fs, s.o.Dir, p.name, s.o.StoreID); x != nil {
		in.counted = x.covered
		x.close()
	}
	w := newWalker(f, p.seed, headerSize, size)
	region, from := blake3.New(), int64(headerSize)
	wrong := false // since the last good commit
	for {
		r, err := w.next()
		if err == io.EOF {
			break
		}
		if isMalformed(err) {
			wrong = true
			if ok, err := w.resync(); err != nil {
				return in, err
			} else if !ok {
				break
			}
			continue
		}
		if err != nil {
			return in, err
		}
		if r.typ == blockRecord {
			region.Write(w.raw(r))
			ok, err := s.blockIsGood(r.payload)
			if err != nil {
				return in, err
			}
			wrong = wrong || !ok
			continue
		}
		c, err := parseCommit(r.payload)
		if err == nil && int64(c.since) == r.offset-from && commitHash(region, c.head(), c.data) == c.sum {
			in.damaged = in.damaged || wrong
			in.good, wrong, in.suspect = r.end, false, false
		} else {
			wrong, in.suspect = true, true
		}
		region, from = blake3.New(), r.end
	}
	if in.counted > in.good { // a crash takes nothing that an index covers
		in.damaged = true
	}
	in.counted = max(in.counted, in.good)
	return in, nil
}

// blockIsGood checks every object of a block. Failing to read is no damage.
func (s *Store) blockIsGood(payload []byte) (bool, error) {
	d, err := s.decode(payload)
	if err != nil {
		return false, unlessMalformed(err)
	}
	for i := range d.entries {
		if good, err := s.entryIsGood(d, i); !good || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s *Store) entryIsGood(d *decoded, i int) (bool, error) {
	e, data, err := d.at(i)
	if err != nil {
		return false, unlessMalformed(err)
	}
	if !e.delta {
		return Sum(data) == e.id, nil
	}
	_, err = s.Get(nil, e.id)
	var damaged *DamagedError
	var missing *NotFoundError
	if errors.As(err, &damaged) || errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}

// unlessMalformed leaves the errors that do not say that bytes are wrong.
func unlessMalformed(err error) error {
	if isMalformed(err) {
		return nil
	}
	return err
}

// rewrite writes what is good of a pack under a temporary name and puts it in
// the pack's place. Every step leaves either the old pack or the new one.
func (s *Store) rewrite(p *pack, f vfs.File, size, counted int64) (lost []ID, err error) {
	file := filepath.Join(s.o.Dir, p.name.file())
	tmp := s.temporary(file)
	out, err := s.create(tmp)
	if err != nil {
		return nil, err
	}
	lost, err = s.copyGood(p, f, size, counted, out)
	if err == nil {
		err = s.sync(out)
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = ignoreMissing(s.fs.Remove(filepath.Join(s.o.Dir, p.name.indexFile())))
	}
	if err == nil {
		err = s.fs.Rename(tmp, file)
	}
	if err != nil {
		return nil, errors.Join(err, ignoreMissing(s.fs.Remove(tmp)))
	}
	if err := s.syncDir(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	vault := s.vault
	s.mu.RUnlock()
	if vault != "" {
		// The old second name leads to the damaged bytes.
		if err := ignoreMissing(s.fs.Remove(filepath.Join(vault, p.name.file()))); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.ready = false
	var kept []*pack
	for _, k := range s.packs {
		if k.name != p.name {
			kept = append(kept, k)
		} else {
			k.index.close()
		}
	}
	s.packs = kept
	s.mu.Unlock()
	s.cache.clear()
	return lost, nil
}

// copyGood copies the good records of a pack to out, and returns the objects
// that counted and had to be left behind, as far as their ids are known.
func (s *Store) copyGood(p *pack, f vfs.File, size, counted int64, out vfs.File) (lost []ID, err error) {
	var buf []byte
	at, from, ordinal := int64(0), int64(headerSize), uint64(0)
	region := blake3.New()
	put := func(b []byte) error {
		_, err := out.WriteAt(b, at)
		at += int64(len(b))
		return err
	}
	commitNow := func(c commit) error {
		c.ordinal, c.since = ordinal, uint64(at-from)
		c.seal(region)
		buf = appendRecord(buf[:0], p.seed, at, commitRecord, c.append(nil))
		err := put(buf)
		from, region = at, blake3.New()
		ordinal++
		return err
	}
	if err := put(packHeader{name: p.name, store: s.o.StoreID}.append(nil)); err != nil {
		return nil, err
	}
	var last uint64
	err = eachRecord(f, p.seed, headerSize, size, func(r record) error {
		if r.typ == commitRecord {
			c, err := parseCommit(r.payload)
			if err != nil || c.seq != 0 && c.seq <= last {
				return nil
			}
			last = max(last, c.seq)
			return commitNow(c)
		}
		payload, gone, err := s.goodPart(r.payload)
		if err != nil {
			return err
		}
		if r.offset < counted {
			lost = append(lost, gone...)
		}
		if payload == nil {
			return nil
		}
		buf = appendRecord(buf[:0], p.seed, at, blockRecord, payload)
		region.Write(buf)
		return put(buf)
	})
	if err == nil && at > from && p.name.kind == dataPack {
		err = commitNow(commit{})
	}
	return lost, err
}

// goodPart is a block's payload with only the objects that are good.
func (s *Store) goodPart(payload []byte) (good []byte, lost []ID, err error) {
	d, err := s.decode(payload)
	if err != nil {
		if b, err := parseBlock(payload); err == nil {
			lost = idsOf(b.entries)
		}
		return nil, lost, unlessMalformed(err)
	}
	var entries []entry
	var body []byte
	for i := range d.entries {
		e, data, err := d.at(i)
		if err != nil {
			return nil, nil, err
		}
		ok, err := s.entryIsGood(d, i)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			lost = append(lost, e.id)
			continue
		}
		entries = append(entries, *e)
		body = append(body, data...)
	}
	if len(lost) == 0 {
		return payload, nil, nil
	}
	if len(entries) == 0 {
		return nil, lost, nil
	}
	return appendBlock(nil, codecRaw, entries, body), lost, nil
}
