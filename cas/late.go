package cas

import (
	"context"
	"errors"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// lateSize bounds what is copied under the locks. A pack of which more came to
// life meanwhile stays.
const lateSize = 4 << 20

// late copies what came to life since the objects were copied, and returns the
// packs that can go: one of which much came to life stays.
func (p *RepackPlan) late(ctx context.Context, b *Batch, group []*planned) (going []*planned, err error) {
	victims := names(group)
	// Deltas that were committed since have bases too.
	if err := p.pin(victims); err != nil {
		return nil, err
	}
	for _, k := range group {
		bytes, missing := int64(0), map[int64]bool{}
		err := p.s.eachEntry(k.pack, 0, false, func(ref pack.BlockRef, t *pack.Block, i int) {
			if id := t.Entries[i].ID; p.needs(id) && !p.stays(b, id, victims) {
				missing[ref.Offset] = true
				bytes += t.Share(ref.Size, i)
			}
		})
		if err != nil {
			return nil, err
		}
		if bytes > lateSize {
			victims[k.pack.name] = false
			continue
		}
		if bytes > 0 {
			err := p.copyBlocks(ctx, b, k, func(ref pack.BlockRef) bool { return missing[ref.Offset] }, func(e *pack.Entry) bool {
				return p.needs(e.ID) && !p.stays(b, e.ID, victims)
			})
			if err != nil {
				return nil, err
			}
		}
		going = append(going, k)
	}
	return going, p.keepMade(b, victims)
}

// keepMade stores objects whole that stay, but whose chain of bases leads through the packs that go: of an object in several
// places, the copy that goes may be the one that the others need.
func (p *RepackPlan) keepMade(b *Batch, going map[pack.Name]bool) error {
	packs, err := p.s.snapshot()
	if err != nil || !p.doubled {
		return err
	}
	ids, after, made := map[pack.Prefix]oid.ID{}, map[pack.Prefix][]pack.Prefix{}, map[pack.Prefix]bool{}
	var reached []pack.Prefix
	note := func(e *pack.Entry) {
		x := pack.PrefixOf(e.ID)
		ids[x] = e.ID
		if e.Delta {
			after[e.Base] = append(after[e.Base], x)
		} else {
			reached = append(reached, x)
		}
	}
	for _, k := range packs {
		if going[k.name] {
			continue
		}
		if err := p.s.eachEntry(k, 0, true, func(_ pack.BlockRef, t *pack.Block, i int) { note(&t.Entries[i]) }); err != nil {
			return err
		}
	}
	if err := b.eachStaged(note); err != nil {
		return err
	}
	for i := 0; i < len(reached); i++ {
		if x := reached[i]; !made[x] {
			made[x] = true
			reached = append(reached, after[x]...)
		}
	}
	w := b.Writer()
	for x, id := range ids {
		if made[x] || p.o.Purge && !p.needs(id) {
			continue
		}
		whole, err := p.s.resolve(x)
		if pack.IsMalformed(err) {
			continue // nor could it be made before
		}
		if err == nil {
			err = w.putWhole(id, whole)
		}
		if err != nil {
			return errors.Join(err, w.Flush())
		}
	}
	return w.Flush()
}

// eachStaged visits the objects of the batch as they are stored.
func (b *Batch) eachStaged(visit func(*pack.Entry)) error {
	blocks := map[*stagedBlock]bool{}
	for i := range b.shards {
		h := &b.shards[i]
		h.mu.Lock()
		for _, p := range h.places {
			if p.block != nil {
				blocks[p.block] = true
			}
		}
		h.mu.Unlock()
	}
	for k := range blocks {
		entries := k.entries
		if k.at != nil {
			t, err := k.at.pack.table(k.at.BlockRef)
			if err != nil {
				return k.at.pack.damaged(oid.ID{}, k.at.Offset, err)
			}
			entries = t.Entries
		}
		for i := range entries {
			visit(&entries[i])
		}
	}
	return nil
}

// stays reports whether an object will be there when the victims are gone.
func (p *RepackPlan) stays(b *Batch, id oid.ID, victims map[pack.Name]bool) bool {
	if at, ok := b.place(id); ok && at.block != nil {
		return true
	}
	return slices.ContainsFunc(p.s.locations(pack.PrefixOf(id)), func(at location) bool { return !victims[at.pack.name] })
}
