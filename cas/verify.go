package cas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/cas/oid"

	"github.com/zeebo/blake3"
)

// Damage is something in the store that is not as it was written.
type Damage struct {
	Pack    string   // file name
	Offset  int64    // where in the pack it begins
	Objects []oid.ID // that are known to be affected; the ids of a lost table are known from the index only
	Reason  string
}

// Verified counts what Verify looked at.
type Verified struct {
	Packs   int
	Objects int64 // duplicates included
	Commits int64
	Bytes   int64 // of all packs
}

// Checking is how far Verify has come: in packs, or, where their data are read, in
// bytes. Those that it does not count are 0.
type Checking struct {
	Packs, AllPacks int
	Bytes, AllBytes int64
}

// Verify looks for damage and reports what it finds, in no particular order
// but never two at once. Without readData it checks that the packs can be read
// as far as their tables and commits go, and that every delta has its base; with it,
// every byte, every hash and every commit. The torn tail that a crash leaves is
// no damage. If there was any, cached ids are no longer to be trusted: see Distrust.
// progress, which may be nil, is called by one goroutine at a time.
func (s *Store) Verify(ctx context.Context, readData bool, report func(Damage), progress func(Checking)) (Verified, error) {
	v := &verifier{s: s, ctx: ctx, bases: newObjectMemo(s), report: report, progress: progress}
	s.checkIndexes()
	packs, err := s.snapshot()
	if err != nil {
		return v.Verified, err
	}
	for i, p := range packs {
		if progress != nil && !readData {
			progress(Checking{Packs: i, AllPacks: len(packs)})
		}
		if err := v.pack(p, readData); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue // collected meanwhile
			}
			return v.Verified, err
		}
		v.Packs++
	}
	if progress != nil && !readData {
		progress(Checking{Packs: len(packs), AllPacks: len(packs)})
	}
	if err := v.readAll(); err != nil {
		return v.Verified, err
	}
	lost, err := s.lost()
	if err != nil {
		return v.Verified, err
	}
	for _, n := range lost {
		v.damage(&pack{name: n}, 0, reasonGone)
	}
	for _, t := range s.compared(0) {
		if t.found.mirror {
			v.damage(&pack{name: t.name}, 0, reasonLess)
		}
	}
	if v.damaged {
		err = s.Distrust()
	}
	return v.Verified, err
}

type verifier struct {
	Verified
	s      *Store
	ctx    context.Context
	bases  *objectMemo
	report func(Damage)
	whole  []wholePack // to be read from end to end

	progress func(Checking) // may be nil
	checking Checking       // of whole

	mu      sync.Mutex // for report, and the counts where workers touch them
	damaged bool
}

type wholePack struct {
	pack *pack
	file io.ReaderAt
	end  int64
}

func (v *verifier) damage(p *pack, offset int64, reason string, ids ...oid.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damaged = true
	v.report(Damage{Pack: p.name.file(), Offset: offset, Objects: ids, Reason: reason})
}

func (v *verifier) pack(p *pack, readData bool) error {
	f, err := p.open()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := v.s.checkHeader(p, f); err != nil {
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			return err
		}
		v.damage(p, 0, damaged.Reason)
		return nil
	}
	v.s.mu.RLock()
	covered := p.tail.covered
	v.s.mu.RUnlock()
	if p.badHead && (covered > headerSize || brokenHead(f)) { // else: a crash left a pack in which nothing counts
		v.damage(p, 0, reasonHead)
	}
	v.Bytes += info.Size()
	if p.name.kind == logPack {
		end, err := v.s.endIn(p.name, f)
		if err != nil {
			return err
		}
		if end.damaged {
			v.damage(p, end.good, reasonEnd)
		}
	}
	if p.problem != nil && info.Size() >= covered && !readData {
		v.damage(p, p.problem.Offset, p.problem.Reason)
	} else if p.short {
		v.damage(p, info.Size(), "the pack is cut off")
	}
	if info.Size() < covered && covered > headerSize {
		v.damage(p, info.Size(), "the pack is cut off", v.idsWithin(p, info.Size(), covered)...)
	}
	if readData {
		v.whole = append(v.whole, wholePack{p, f, min(covered, info.Size())})
		return nil
	}
	return v.skim(p)
}

// skim checks tables, commits and bases.
func (v *verifier) skim(p *pack) error {
	v.s.mu.RLock()
	blocks := p.blocks()
	v.s.mu.RUnlock()
	for _, ref := range blocks {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		b, err := readTable(p, ref)
		if isMalformed(err) {
			v.damage(p, ref.offset, err.Error(), v.idsWithin(p, ref.offset, ref.offset+1)...)
			continue
		}
		if err != nil {
			return err
		}
		v.Objects += int64(len(b.entries))
		for i := range b.entries {
			if e := &b.entries[i]; e.delta {
				if _, ok := v.s.findPrefix(e.base); ok {
					continue
				}
				if _, err := v.s.Get(nil, e.id); err != nil { // else: a leftover beside a good copy
					v.damage(p, ref.offset, fmt.Sprintf("the base %x of a delta is missing", e.base), e.id)
				}
			}
		}
	}
	return v.commits(p)
}

func (v *verifier) commits(p *pack) error {
	v.s.mu.RLock()
	refs := p.commits()
	v.s.mu.RUnlock()
	f, err := p.open()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w := newWalker(f, p.seed, 0, info.Size())
	w.ahead = logWindow
	for _, c := range refs {
		v.Commits++
		var damaged *DamagedError
		if _, err := w.commitAt(commitPlace{p, c}); errors.As(err, &damaged) {
			v.damage(p, c.offset, damaged.Reason)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// commits lists the sequenced commits of the pack. The caller holds mu.
func (p *pack) commits() []commitRef {
	var all []commitRef
	if p.index != nil {
		for i := range p.index.commitCount() {
			all = append(all, p.index.commit(i))
		}
	}
	return append(all, p.tail.commits...)
}

// readAll reads packs, one per core at a time: a pack's records are hashed as they
// lie in the buffer that they were read into.
func (v *verifier) readAll() error {
	for _, k := range v.whole {
		v.checking.AllBytes += max(0, k.end-headerSize)
	}
	var next atomic.Int64
	errs := make([]error, runtime.GOMAXPROCS(0))
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(v.whole) && errs[i] == nil; n = int(next.Add(1)) - 1 {
				errs[i] = v.read(v.whole[n])
			}
		})
	}
	workers.Wait()
	return errors.Join(errs...)
}

// readAhead is how much of a pack is read at once: a few of the largest blocks.
const readAhead = 4 << 20

// read checks every record of a pack.
func (v *verifier) read(k wholePack) error {
	p := k.pack
	w := newWalker(k.file, p.seed, headerSize, k.end)
	w.ahead = readAhead
	region, from := blake3.New(), int64(headerSize)
	commits, at := int64(0), int64(headerSize)
	defer func() {
		v.mu.Lock()
		v.Commits += commits
		v.mu.Unlock()
	}()
	for {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		r, err := w.next()
		if err == io.EOF {
			v.passed(k.end - at)
			return nil
		}
		if isMalformed(err) {
			bad := w.at
			if _, rerr := w.resync(); rerr != nil {
				return rerr
			}
			v.damage(p, bad, err.Error(), v.idsWithin(p, bad, w.at)...)
			region = nil // the next commit cannot match
			continue
		}
		if err != nil {
			return err
		}
		v.passed(r.end - at)
		at = r.end
		if r.typ == blockRecord {
			if region != nil {
				region.Write(w.raw(r))
			}
			if err := v.block(p, r.offset, r.payload); err != nil {
				return err
			}
			continue
		}
		commits++
		c, err := parseCommit(r.payload)
		switch {
		case err != nil:
			v.damage(p, r.offset, err.Error())
		case region != nil && (int64(c.since) != r.offset-from || commitHash(region, c.head(), c.data) != c.sum):
			v.damage(p, r.offset, "a commit does not match the bytes before it")
		}
		region, from = blake3.New(), r.end
	}
}

// passed counts bytes that were read and checked.
func (v *verifier) passed(bytes int64) {
	if v.progress == nil || bytes <= 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checking.Bytes += bytes
	v.progress(v.checking)
}

// block checks all objects of a block against their ids.
func (v *verifier) block(p *pack, offset int64, payload []byte) error {
	d, err := v.s.decode(payload)
	if isMalformed(err) {
		b, perr := parseBlock(payload)
		if perr != nil {
			b.entries = nil
		}
		v.damage(p, offset, err.Error(), idsOf(b.entries)...)
		return nil
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.Objects += int64(len(d.entries))
	v.mu.Unlock()
	from := 0
	for i := range d.entries {
		e := &d.entries[i]
		data := d.body[from : from+e.length : from+e.length]
		from += e.length
		if e.delta {
			if data, err = v.bases.whole(e, data); isMalformed(err) {
				if _, gerr := v.s.Get(nil, e.id); gerr != nil { // else: a leftover beside a good copy
					v.damage(p, offset, err.Error(), e.id)
				}
				continue
			} else if err != nil {
				return err
			}
		}
		if oid.Sum(data) != e.id {
			v.damage(p, offset, "an object's bytes do not match its id", e.id)
		}
	}
	return nil
}

func idsOf(entries []entry) []oid.ID {
	ids := make([]oid.ID, len(entries))
	for i := range entries {
		ids[i] = entries[i].id
	}
	return ids
}

// idsWithin are the objects whose blocks begin in a part of the pack, as far
// as the index knows.
func (v *verifier) idsWithin(p *pack, from, to int64) []oid.ID {
	v.s.mu.RLock()
	defer v.s.mu.RUnlock()
	var ids []oid.ID
	if p.index == nil {
		return nil
	}
	for i := range p.index.objects() {
		o := p.index.object(i)
		if int(o.block) >= p.index.blockCount() {
			continue
		}
		if at := p.index.block(int(o.block)).offset; at >= from && at < to {
			ids = append(ids, o.id)
		}
	}
	return ids
}
