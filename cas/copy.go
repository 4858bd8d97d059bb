package cas

import (
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/rewind-cli/rewind/cas/oid"
)

// runBytes is how much of a pack one worker copies in one go, so that what lay
// together stays together.
const runBytes = 2 << 20

// copy copies the needed objects of some packs into the batch.
func (p *RepackPlan) copy(ctx context.Context, b *Batch, group []*planned) error {
	for _, k := range group {
		before := p.passed
		all := func(ref blockRef) bool {
			p.pass(int64(ref.size))
			return true
		}
		err := p.copyBlocks(ctx, b, k, all, func(e *entry) bool {
			home := p.home[prefixOf(e.id)]
			return (home == k || home == nil) && p.needs(e.id)
		})
		if err != nil {
			return err
		}
		p.pass(before + k.size - p.passed) // what lies between the blocks
	}
	return nil
}

// pass counts bytes of the packs that are rewritten.
func (p *RepackPlan) pass(bytes int64) {
	p.passed += bytes
	if p.o.Progress != nil {
		p.o.Progress(p.passed, p.passing)
	}
}

// copyBlocks copies the wanted objects of some blocks of a pack, with all cores. It asks
// for the blocks one after the other, when a core is free.
func (p *RepackPlan) copyBlocks(ctx context.Context, b *Batch, k *planned, some func(blockRef) bool, wants func(*entry) bool) error {
	f, err := k.pack.open()
	if err != nil {
		return err
	}
	p.s.mu.RLock()
	blocks := k.pack.blocks()
	p.s.mu.RUnlock()
	runs := make(chan []blockRef)
	c := &copier{p: p, b: b, pack: k.pack, file: f, wants: wants, bases: newObjectMemo(p.s)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			w := b.Writer()
			for run := range runs {
				for _, ref := range run {
					if err := c.block(w, ref); err != nil {
						c.fail(err)
						cancel()
						break
					}
				}
			}
			c.fail(w.Flush())
		})
	}
	var run []blockRef
	bytes := int64(0)
	send := func() {
		select {
		case runs <- run:
		case <-ctx.Done():
		}
		run, bytes = nil, 0
	}
	for _, ref := range blocks {
		if !some(ref) {
			continue
		}
		run = append(run, ref)
		if bytes += int64(ref.size); bytes >= runBytes/4 {
			send()
		}
	}
	send()
	close(runs)
	workers.Wait()
	if c.err != nil {
		return c.err // and not that the others were stopped for it
	}
	return ctx.Err()
}

type copier struct {
	p     *RepackPlan
	b     *Batch
	pack  *pack
	file  io.ReaderAt
	wants func(*entry) bool
	bases *objectMemo

	mu  sync.Mutex
	err error
}

func (c *copier) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// block copies what is wanted of a block. Damage ends the repack: repair first.
func (c *copier) block(w *Writer, ref blockRef) error {
	damaged := func(id oid.ID, reason string) error {
		return &DamagedError{ID: id, Pack: c.pack.name.file(), Offset: ref.offset, Reason: reason}
	}
	buf := make([]byte, ref.size)
	if ok, err := readFull(c.file, buf, ref.offset); err != nil {
		return err
	} else if !ok {
		return damaged(oid.ID{}, "the pack ends before it")
	}
	r, err := parseRecord(buf, c.pack.seed, ref.offset)
	if err != nil {
		return damaged(oid.ID{}, err.Error())
	}
	t, err := parseBlock(r.payload)
	if err != nil {
		return damaged(oid.ID{}, err.Error())
	}
	any := false
	for i := range t.entries {
		any = any || c.wants(&t.entries[i])
	}
	if !any {
		return nil
	}
	d, err := c.p.s.decode(r.payload)
	if err != nil {
		return damaged(oid.ID{}, err.Error())
	}
	from := 0
	for i := range d.entries {
		e := &d.entries[i]
		data := d.body[from : from+e.length : from+e.length]
		from += e.length
		if !c.wants(e) {
			continue
		}
		if err := c.object(w, e, data); err != nil {
			if isMalformed(err) {
				err = damaged(e.id, err.Error())
			}
			return err
		}
	}
	return nil
}

// object copies one object. A delta stays one if its base stays.
func (c *copier) object(w *Writer, e *entry, data []byte) error {
	whole := data
	if e.delta {
		var err error
		if whole, err = c.bases.whole(e, data); err != nil {
			if whole, err = c.p.s.resolve(prefixOf(e.id)); err != nil {
				return err
			}
		}
	}
	if oid.Sum(whole) != e.id {
		return malformedError("its bytes do not match its id")
	}
	if !e.delta {
		_, err := w.Put(e.id, whole, oid.ID{})
		return err
	}
	base, ok := c.base(e.base)
	if ok && prefixOf(base.id) == e.base {
		// If the base is in several places, one of them may need this object.
		if depth, known := c.b.depth(base.id); known && depth < int(e.depth) {
			return w.putStored(*e, data)
		}
	}
	_, err := w.Put(e.id, whole, base.id)
	return err
}

// base finds the nearest base that stays.
func (c *copier) base(x prefix) (entry, bool) {
	for range maxDepth {
		e, _, err := c.p.s.baseOf(x)
		if err != nil {
			return entry{}, false
		}
		if c.p.live(e.id) || !c.p.o.Purge && c.p.needs(e.id) {
			return *e, true
		}
		if !e.delta {
			return entry{}, false
		}
		x = e.base
	}
	return entry{}, false
}
