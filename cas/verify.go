package cas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"

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
// no damage. If there was any, cached ids are no longer to be trusted: see distrust.
// progress, which may be nil, is called by one goroutine at a time.
func (s *Store) Verify(ctx context.Context, readData bool, report func(Damage), progress func(Checking)) (Verified, error) {
	v := &verifier{s: s, ctx: ctx, bases: newObjectMemo(s.baseOf), report: report, progress: progress}
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
		v.damage(&packFile{name: n}, 0, reasonGone)
	}
	for _, t := range s.compared(0) {
		if t.found.mirror {
			v.damage(&packFile{name: t.name}, 0, reasonLess)
		}
	}
	if v.damaged {
		err = s.distrust()
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
	pack *packFile
	file io.ReaderAt
	end  int64
}

func (v *verifier) damage(p *packFile, offset int64, reason string, ids ...oid.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damaged = true
	v.report(Damage{Pack: p.name.File(), Offset: offset, Objects: ids, Reason: reason})
}

func (v *verifier) pack(p *packFile, readData bool) error {
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
	covered := p.tail.Covered
	v.s.mu.RUnlock()
	if p.badHead && (covered > pack.HeaderSize || pack.BrokenHeader(f)) { // else: a crash left a pack in which nothing counts
		v.damage(p, 0, reasonHead)
	}
	v.Bytes += info.Size()
	if p.name.Kind == pack.Log {
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
	if info.Size() < covered && covered > pack.HeaderSize {
		v.damage(p, info.Size(), "the pack is cut off", v.idsWithin(p, info.Size(), covered)...)
	}
	if readData {
		v.whole = append(v.whole, wholePack{p, f, min(covered, info.Size())})
		return nil
	}
	return v.skim(p)
}

// skim checks tables, commits and bases.
func (v *verifier) skim(p *packFile) error {
	v.s.mu.RLock()
	blocks := p.blocks()
	v.s.mu.RUnlock()
	for _, ref := range blocks {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		b, err := p.table(ref)
		if pack.IsMalformed(err) {
			v.damage(p, ref.Offset, err.Error(), v.idsWithin(p, ref.Offset, ref.Offset+1)...)
			continue
		}
		if err != nil {
			return err
		}
		v.Objects += int64(len(b.Entries))
		for i := range b.Entries {
			if e := &b.Entries[i]; e.Delta {
				if _, ok := v.s.findPrefix(e.Base); ok {
					continue
				}
				if _, err := v.s.Get(nil, e.ID); err != nil { // else: a leftover beside a good copy
					v.damage(p, ref.Offset, fmt.Sprintf("the base %x of a delta is missing", e.Base), e.ID)
				}
			}
		}
	}
	return v.commits(p)
}

func (v *verifier) commits(p *packFile) error {
	v.s.mu.RLock()
	refs := slices.Collect(p.commits())
	v.s.mu.RUnlock()
	f, err := p.open()
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w := pack.NewWalker(f, p.seed, 0, info.Size())
	w.Ahead = logWindow
	for _, c := range refs {
		v.Commits++
		var damaged *DamagedError
		if _, err := commitAt(w, commitPlace{p, c}); errors.As(err, &damaged) {
			v.damage(p, c.Offset, damaged.Reason)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// commits yields the sequenced commits of the pack. The caller holds mu.
func (p *packFile) commits() iter.Seq[pack.CommitRef] {
	return func(yield func(pack.CommitRef) bool) {
		for c := range p.index.Commits() {
			if !yield(c) {
				return
			}
		}
		slices.Values(p.tail.Commits)(yield)
	}
}

// readAll reads packs, one per core at a time: a pack's records are hashed as they
// lie in the buffer that they were read into.
func (v *verifier) readAll() error {
	for _, k := range v.whole {
		v.checking.AllBytes += max(0, k.end-pack.HeaderSize)
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
	w := pack.NewWalker(k.file, p.seed, pack.HeaderSize, k.end)
	w.Ahead = readAhead
	region, from := blake3.New(), int64(pack.HeaderSize)
	commits, at := int64(0), int64(pack.HeaderSize)
	defer func() {
		v.mu.Lock()
		v.Commits += commits
		v.mu.Unlock()
	}()
	for {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		r, err := w.Next()
		if err == io.EOF {
			v.passed(k.end - at)
			return nil
		}
		if pack.IsMalformed(err) {
			bad := w.At
			if _, rerr := w.Resync(); rerr != nil {
				return rerr
			}
			v.damage(p, bad, err.Error(), v.idsWithin(p, bad, w.At)...)
			region = nil // the next commit cannot match
			continue
		}
		if err != nil {
			return err
		}
		v.passed(r.End - at)
		at = r.End
		if r.Type == pack.BlockRecord {
			if region != nil {
				region.Write(r.Raw)
			}
			if err := v.block(p, r.Offset, r.Payload); err != nil {
				return err
			}
			continue
		}
		commits++
		c, err := pack.ParseCommit(r.Payload)
		switch {
		case err != nil:
			v.damage(p, r.Offset, err.Error())
		case region != nil && (int64(c.Since) != r.Offset-from || !c.Covers(region)):
			v.damage(p, r.Offset, "a commit does not match the bytes before it")
		}
		region, from = blake3.New(), r.End
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
func (v *verifier) block(p *packFile, offset int64, payload []byte) error {
	b, err := pack.DecodeBlock(payload)
	if pack.IsMalformed(err) {
		v.damage(p, offset, err.Error(), b.IDs()...)
		return nil
	}
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.Objects += int64(len(b.Entries))
	v.mu.Unlock()
	for e, data := range b.All() {
		if e.Delta {
			if data, err = v.bases.whole(e, data); pack.IsMalformed(err) {
				if _, gerr := v.s.Get(nil, e.ID); gerr != nil { // else: a leftover beside a good copy
					v.damage(p, offset, err.Error(), e.ID)
				}
				continue
			} else if err != nil {
				return err
			}
		}
		if oid.Sum(data) != e.ID {
			v.damage(p, offset, "an object's bytes do not match its id", e.ID)
		}
	}
	return nil
}

// idsWithin are the objects whose blocks begin in a part of the pack, as far
// as the index knows.
func (v *verifier) idsWithin(p *packFile, from, to int64) []oid.ID {
	v.s.mu.RLock()
	defer v.s.mu.RUnlock()
	return p.index.ObjectsWithin(from, to)
}
