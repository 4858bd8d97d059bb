package cas

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// When gc rewrites a pack.
const (
	// A pack with an eighth of waste is worth copying the rest, one with much of
	// it anyway.
	wasteShare = 8
	wasteMuch  = 16 << 20
	// Below this size rewriting the log costs next to nothing.
	smallLog = 32 << 20
	// So many small data packs are put together.
	smallPack  = 16 << 20
	smallPacks = 8
)

// RepackOptions say how far a repack goes.
type RepackOptions struct {
	// Recompress rewrites packs that saves wrote, even without waste in them:
	// larger blocks at a better level save about a sixth, for about 6 seconds of
	// two cores per gigabyte of objects.
	Recompress bool
	// Progress, if set, is called by one goroutine at a time with how many bytes of
	// the packs that are rewritten have been read, and how many there are.
	Progress func(done, total int64)
	// Purge rewrites every pack that holds a byte of anything that is not needed,
	// however little it is: objects, bases of deltas, what no commit covers. One repack may
	// have to copy a base that it drops later, so it is planned anew until nothing is Due.
	Purge bool
	// Log rewrites the log.
	Log bool
	// Amend gives the new payload of a commit, where the log is
	// rewritten; nil: all stay unchanged.
	Amend func(Commit) []byte
	// Wait is how long Apply waits for other users of the store; 0: not at all.
	Wait time.Duration
}

// RepackPlan says which packs a repack rewrites. It changes nothing by itself.
type RepackPlan struct {
	s    *Store
	o    RepackOptions
	live func(oid.ID) bool
	keep func(Commit) bool

	packs   []*planned
	logs    bool                     // the log is rewritten
	newest  uint64                   // sequence number of the newest commit seen
	home    map[pack.Prefix]*planned // which copy of a needed object counts
	pinned  map[pack.Prefix]bool     // bases that must stay although only deltas need them
	kept    int64                    // bytes of the commits that stay
	dropped int
	doubled bool        // an object is in several places
	written []pack.Name // what replaces the packs that go

	passed, passing int64 // bytes of victims: gone through, of all
}

// planned is a pack as the plan saw it.
type planned struct {
	pack   *packFile
	size   int64
	blocks int           // how many there were
	bases  []pack.Prefix // of all deltas in them
	needed int64         // bytes of needed objects of which this is the copy that counts
	live   int64         // of these, bytes of objects that are not there as bases only
	dense  bool
	victim bool
	impure bool // holds something that is not needed
	older  bool // another log pack replaces it
}

// PlanRepack finds out what a repack would gain. live says which objects are
// needed; it is asked again while the plan is applied, when more may be. A
// commit that keepCommit does not keep vanishes from the log, but for the newest one:
// sequence numbers never go back. If the log cannot be read whole there is no plan.
func (s *Store) PlanRepack(o RepackOptions, live func(oid.ID) bool, keepCommit func(Commit) bool) (*RepackPlan, error) {
	p := &RepackPlan{s: s, o: o, live: live, keep: keepCommit}
	if err := s.notice(); err != nil {
		return nil, err
	}
	s.checkIndexes()
	packs, err := s.snapshot()
	if err != nil {
		return nil, err
	}
	for _, k := range packs {
		if k.problem != nil {
			return nil, k.problem
		}
		f, err := k.open()
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		dense, err := isDense(f)
		if err != nil {
			return nil, err
		}
		s.mu.RLock()
		n, foul := len(k.blocks()), info.Size() != k.tail.Covered || k.badHead
		s.mu.RUnlock()
		older := k.name.Kind == pack.Log && slices.ContainsFunc(p.packs, func(l *planned) bool { return l.dense && l.pack.name.Kind == pack.Log })
		p.packs = append(p.packs, &planned{pack: k, size: info.Size(), blocks: n, dense: dense, impure: foul, older: older})
	}
	kept, err := p.countCommits()
	if err != nil {
		return nil, err
	}
	if err := p.weigh(); err != nil {
		return nil, err
	}
	p.choose(kept)
	return p, nil
}

// diskBlock is what a file system gives to files at a time.
const diskBlock = 4096

func onDisk(size int64) int64 { return (size + diskBlock - 1) / diskBlock * diskBlock }

// Freed is how many bytes of disk the plan gives back, better compression not counted.
func (p *RepackPlan) Freed() (freed int64) {
	needed := int64(0)
	for _, k := range p.victims() {
		freed += onDisk(k.size)
		needed += k.needed
	}
	if needed > 0 {
		freed -= onDisk(pack.HeaderSize + needed)
	}
	if p.logs {
		freed -= onDisk(pack.HeaderSize+p.kept) + onDisk(pack.HeaderSize)
	}
	return max(0, freed)
}

// Room is how many bytes of disk must be free for Apply: it writes before it removes.
func (p *RepackPlan) Room() (room int64) {
	used := int64(0)
	write := func(bytes int64) {
		used += onDisk(pack.HeaderSize + bytes)
		room = max(room, used)
	}
	for i, group := range p.groups() {
		if i == 1 && p.logs {
			write(p.kept)
		}
		needed, size := int64(0), int64(0)
		for _, k := range group {
			needed, size = needed+k.needed, size+onDisk(k.size)
		}
		if needed > 0 {
			write(needed)
		}
		used -= size
	}
	return room
}

// victims are the packs that go.
func (p *RepackPlan) victims() (victims []*planned) {
	for _, k := range p.packs {
		if k.victim {
			victims = append(victims, k)
		}
	}
	return victims
}

// groups are the victims in the order in which they go: first those of which nothing is needed, which takes no
// space, maybe none; then as many at a time as the limit allows.
func (p *RepackPlan) groups() [][]*planned {
	var waste, rest, logs []*planned
	for _, k := range p.victims() {
		switch {
		case k.pack.name.Kind == pack.Log:
			logs = append(logs, k) // the newest first
		case k.needed == 0:
			waste = append(waste, k)
		default:
			rest = append(rest, k)
		}
	}
	// The oldest log first: a record must not outlive one that changed what it says.
	slices.Reverse(logs)
	rest = append(logs, rest...)
	groups := [][]*planned{waste}
	for len(rest) > 0 {
		n, bytes := 0, int64(0)
		for n < len(rest) && (n == 0 || bytes+rest[n].needed <= p.s.limits.group) {
			bytes += rest[n].needed
			n++
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	return groups
}

// Due reports whether there is anything to do.
func (p *RepackPlan) Due() bool {
	return slices.ContainsFunc(p.packs, func(k *planned) bool { return k.victim })
}

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
	bases := map[pack.Prefix]pack.Prefix{}
	var wanted []pack.Prefix
	alive := map[pack.Prefix]bool{}
	first := map[*planned]int64{}
	seen := map[pack.Prefix]bool{}
	for _, k := range p.packs {
		err := p.s.eachTable(k.pack, 0, false, func(ref pack.BlockRef, b *pack.Block) error {
			for i := range b.Entries {
				e := &b.Entries[i]
				p.doubled = p.doubled || seen[pack.PrefixOf(e.ID)]
				seen[pack.PrefixOf(e.ID)] = true
				if e.Delta {
					bases[pack.PrefixOf(e.ID)] = e.Base
					k.bases = append(k.bases, e.Base)
				}
				if !p.live(e.ID) {
					k.impure = true
				} else {
					alive[pack.PrefixOf(e.ID)] = true
					first[k] += b.Share(ref.Size, i)
					if e.Delta {
						wanted = append(wanted, e.Base)
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for _, k := range p.packs {
		k.impure = k.impure || slices.ContainsFunc(k.bases, func(x pack.Prefix) bool { return !alive[x] })
	}
	p.pinned = map[pack.Prefix]bool{}
	for len(wanted) > 0 {
		x := wanted[len(wanted)-1]
		wanted = wanted[:len(wanted)-1]
		if p.pinned[x] {
			continue
		}
		p.pinned[x] = true
		if base, ok := bases[x]; ok {
			wanted = append(wanted, base)
		}
	}
	// Of several copies the one in the pack with the largest share of needed
	// bytes counts; the packs with the others lose by it.
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
		err := p.s.eachTable(k.pack, 0, false, func(ref pack.BlockRef, b *pack.Block) error {
			for i := range b.Entries {
				e := &b.Entries[i]
				if x := pack.PrefixOf(e.ID); p.needs(e.ID) && p.home[x] == nil {
					p.home[x] = k
					k.needed += b.Share(ref.Size, i)
					if p.live(e.ID) {
						k.live += b.Share(ref.Size, i)
					}
				}
			}
			return nil
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
		err := p.s.eachTable(k, from, false, func(_ pack.BlockRef, b *pack.Block) error {
			for i := range b.Entries {
				if e := &b.Entries[i]; e.Delta {
					p.pinned[e.Base] = true
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isDense reads the flag in a pack's header; one that cannot be understood has none.
func isDense(f io.ReaderAt) (bool, error) {
	h, err := pack.ReadHeader(f)
	if version := pack.UnknownVersion(0); pack.IsMalformed(err) || errors.As(err, &version) {
		err = nil
	}
	return h.Dense, err
}
