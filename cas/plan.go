package cas

import (
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
	home    map[pack.Prefix]*planned // of a needed object in several places, which copy counts
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
