package cas

import (
	"cmp"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// countCommits reads the whole log and returns the size of what stays of it.
func (p *RepackPlan) countCommits() (kept int64, err error) {
	last, err := p.s.Last()
	if err != nil {
		return 0, err
	}
	p.newest = last.Seq
	for c, err := range p.s.Commits(0) {
		if err != nil {
			return 0, err
		}
		if c.Seq != p.newest && !p.keep(c) {
			p.dropped++
			continue
		}
		kept += pack.RecordSize(len(c.Payload) + 32)
	}
	return kept, nil
}

// needs reports whether an object must be there after the repack.
func (p *RepackPlan) needs(id oid.ID) bool { return p.live(id) || p.pinned[pack.PrefixOf(id)] }

// weigh finds out how much of each pack is needed. Bases of needed deltas
// count as needed: whether they can go is known only when the packs are chosen.
func (p *RepackPlan) weigh() error {
	w := weighing{bases: map[pack.Prefix]pack.Prefix{}, several: map[pack.Prefix]bool{}, first: map[*planned]int64{}}
	for _, k := range p.packs {
		if err := p.s.eachEntry(k.pack, 0, false, func(ref pack.BlockRef, b *pack.Block, i int) { w.see(p, k, ref, b, i) }); err != nil {
			return err
		}
	}
	for _, k := range p.packs {
		k.impure = k.impure || slices.ContainsFunc(k.bases, func(x pack.Prefix) bool {
			n, ok := w.seen.FindHalf(x)
			return !ok || !w.alive[n]
		})
	}
	p.doubled = len(w.several) > 0
	p.pinned = w.pinned()
	return p.settle(w.several, w.first)
}

// weighing is what weigh knows of the packs that it has looked at.
type weighing struct {
	seen    oid.Set
	alive   []bool                      // needed, by the numbers of seen
	several map[pack.Prefix]bool        // objects that are in several places
	bases   map[pack.Prefix]pack.Prefix // of deltas
	wanted  []pack.Prefix               // bases of deltas that are needed
	first   map[*planned]int64          // bytes of needed objects, wherever else these are
}

// see takes in an entry of a pack.
func (w *weighing) see(p *RepackPlan, k *planned, ref pack.BlockRef, b *pack.Block, i int) {
	e := &b.Entries[i]
	n, added := w.seen.Add(e.ID)
	if added {
		w.alive = append(w.alive, p.live(e.ID))
	} else {
		w.several[pack.PrefixOf(e.ID)] = true
	}
	if e.Delta {
		w.bases[pack.PrefixOf(e.ID)] = e.Base
		k.bases = append(k.bases, e.Base)
	}
	if !w.alive[n] {
		k.impure = true
		return
	}
	w.first[k] += b.Share(ref.Size, i)
	if e.Delta {
		w.wanted = append(w.wanted, e.Base)
	}
}

// pinned are the bases of needed deltas, and theirs.
func (w *weighing) pinned() map[pack.Prefix]bool {
	pinned := map[pack.Prefix]bool{}
	for wanted := w.wanted; len(wanted) > 0; {
		x := wanted[len(wanted)-1]
		wanted = wanted[:len(wanted)-1]
		if pinned[x] {
			continue
		}
		pinned[x] = true
		if base, ok := w.bases[x]; ok {
			wanted = append(wanted, base)
		}
	}
	return pinned
}

// settle decides which copy of an object counts: of several, the one in the pack with the largest share of needed
// bytes, as first has them; the packs with the others lose by it.
func (p *RepackPlan) settle(several map[pack.Prefix]bool, first map[*planned]int64) error {
	order := slices.Clone(p.packs)
	slices.SortStableFunc(order, func(a, b *planned) int {
		if a.dense != b.dense {
			if a.dense {
				return -1
			}
			return 1
		}
		return cmp.Compare(float64(first[b])/float64(b.size), float64(first[a])/float64(a.size))
	})
	p.home = map[pack.Prefix]*planned{}
	for _, k := range order {
		err := p.s.eachEntry(k.pack, 0, false, func(ref pack.BlockRef, b *pack.Block, i int) {
			e := &b.Entries[i]
			x := pack.PrefixOf(e.ID)
			if !p.needs(e.ID) || p.home[x] != nil {
				return
			}
			if several[x] {
				p.home[x] = k
			}
			k.needed += b.Share(ref.Size, i)
			if p.live(e.ID) {
				k.live += b.Share(ref.Size, i)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// choose decides which packs are rewritten. kept is the size of the commits that stay.
func (p *RepackPlan) choose(kept int64) {
	var logSize, logLive, logKept int64
	var logs, small []*planned
	for _, k := range p.packs {
		if k.older {
			k.victim = true
			continue
		}
		if k.pack.name.Kind == pack.Log {
			logs = append(logs, k)
			logSize += k.size
			logLive += k.live
			continue
		}
		waste := k.size - pack.HeaderSize - k.needed
		k.victim = waste*wasteShare >= k.size || waste >= wasteMuch || p.o.Recompress && !k.dense
		if p.o.Purge {
			k.victim = k.impure // and no more: it would never come to an end
		}
		if !k.victim && k.size < smallPack {
			small = append(small, k)
		}
	}
	if len(small) >= smallPacks && !p.o.Purge {
		for _, k := range small {
			k.victim = true
		}
	}
	p.kept = kept
	logKept = kept + int64(len(logs))*pack.HeaderSize
	// The log is rewritten as a whole, so that bases which only its own deltas
	// need can go.
	waste := logSize - logLive - logKept
	p.logs = len(logs) > 0 && (p.dropped > 0 && logSize < smallLog ||
		waste >= wasteMuch || waste*wasteShare >= logSize ||
		p.o.Recompress && logLive > smallLog/8)
	if p.o.Purge {
		p.logs = p.o.Log || slices.ContainsFunc(logs, func(k *planned) bool { return k.impure })
	}
	if p.logs {
		for _, k := range logs {
			k.victim = true
		}
	}
}

// pin finds the bases that must stay when some packs go: those of all deltas in
// the packs that remain for now, dead deltas too, since a save may count on them. The
// deltas of the packs that go need no pin: a copy gets another base, or none.
func (p *RepackPlan) pin(going map[pack.Name]bool) error {
	packs, err := p.s.snapshot()
	if err != nil {
		return err
	}
	known := map[pack.Name]*planned{}
	for _, k := range p.packs {
		known[k.pack.name] = k
	}
	p.pinned = map[pack.Prefix]bool{}
	for _, k := range packs {
		if going[k.name] {
			continue
		}
		from := 0
		if old := known[k.name]; old != nil && old.pack == k {
			for _, x := range old.bases {
				p.pinned[x] = true
			}
			from = old.blocks
		}
		err := p.s.eachEntry(k, from, false, func(_ pack.BlockRef, b *pack.Block, i int) {
			if e := &b.Entries[i]; e.Delta {
				p.pinned[e.Base] = true
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
