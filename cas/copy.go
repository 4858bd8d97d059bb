package cas

import (
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// runBytes is how much of a pack one worker copies in one go, so that what lay
// together stays together.
const runBytes = 2 << 20

// copy copies the needed objects of some packs into the batch.
func (p *RepackPlan) copy(ctx context.Context, b *Batch, group []*planned) error {
	for _, k := range group {
		before := p.passed
		all := func(ref pack.BlockRef) bool {
			p.pass(int64(ref.Size))
			return true
		}
		err := p.copyBlocks(ctx, b, k, all, func(e *pack.Entry) bool {
			home := p.home[pack.PrefixOf(e.ID)]
			return (home == k || home == nil) && p.needs(e.ID)
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
func (p *RepackPlan) copyBlocks(ctx context.Context, b *Batch, k *planned, some func(pack.BlockRef) bool, wants func(*pack.Entry) bool) error {
	f, err := k.pack.open()
	if err != nil {
		return err
	}
	p.s.mu.RLock()
	blocks := k.pack.blocks()
	p.s.mu.RUnlock()
	runs := make(chan []pack.BlockRef)
	c := &copier{p: p, b: b, pack: k.pack, file: f, wants: wants, bases: newObjectMemo(p.s.baseOf)}
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
	var run []pack.BlockRef
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
		if bytes += int64(ref.Size); bytes >= runBytes/4 {
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
	pack  *packFile
	file  io.ReaderAt
	wants func(*pack.Entry) bool
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
func (c *copier) block(w *Writer, ref pack.BlockRef) error {
	b, err := pack.ReadBlock(c.file, c.pack.seed, ref)
	if err == nil {
		any := false
		for i := range b.Entries {
			any = any || c.wants(&b.Entries[i])
		}
		if !any {
			return nil
		}
		err = b.Decompress()
	}
	if err != nil {
		return c.pack.damaged(oid.ID{}, ref.Offset, err)
	}
	for e, data := range b.All() {
		if !c.wants(e) {
			continue
		}
		if err := c.object(w, e, data); err != nil {
			return c.pack.damaged(e.ID, ref.Offset, err)
		}
	}
	return nil
}

// object copies one object. A delta stays one if its base stays.
func (c *copier) object(w *Writer, e *pack.Entry, data []byte) error {
	whole := data
	if e.Delta {
		var err error
		if whole, err = c.bases.whole(e, data); err != nil {
			if whole, err = c.p.s.resolve(pack.PrefixOf(e.ID)); err != nil {
				return err
			}
		}
	}
	if oid.Sum(whole) != e.ID {
		return pack.MalformedError("its bytes do not match its id")
	}
	if !e.Delta {
		_, err := w.Put(e.ID, whole, oid.ID{})
		return err
	}
	base, ok := c.base(e.Base)
	if ok && pack.PrefixOf(base.ID) == e.Base {
		// If the base is in several places, one of them may need this object.
		if depth, known := c.b.depth(base.ID); known && depth < int(e.Depth) {
			return w.putStored(*e, data)
		}
	}
	_, err := w.Put(e.ID, whole, base.ID)
	return err
}

// base finds the nearest base that stays.
func (c *copier) base(x pack.Prefix) (pack.Entry, bool) {
	for range pack.MaxDepth {
		e, _, err := c.p.s.baseOf(x)
		if err != nil {
			return pack.Entry{}, false
		}
		if c.p.live(e.ID) || !c.p.o.Purge && c.p.needs(e.ID) {
			return *e, true
		}
		if !e.Delta {
			return pack.Entry{}, false
		}
		x = e.Base
	}
	return pack.Entry{}, false
}
