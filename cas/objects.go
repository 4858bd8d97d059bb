package cas

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// ObjectInfo says how an object is stored.
type ObjectInfo struct {
	ID     oid.ID
	Pack   string   // file name
	Size   int64    // bytes of the object
	Stored int64    // its share of the pack: table entry and compressed bytes
	Delta  bool     // stored as a delta
	Base   [16]byte // of a delta: the first half of the base's id
	Depth  int      // number of bases behind it; 0 for a whole object
}

// Objects visits every object of the store once, pack by pack. Of an object
// that is in several packs it visits the one that Get reads. An error of
// visit ends it and is returned. Damaged blocks are left out: Verify names them.
func (s *Store) Objects(visit func(ObjectInfo) error) error {
	packs, err := s.snapshot()
	if err != nil {
		return err
	}
	for _, p := range packs {
		err := s.eachTable(p, 0, true, func(ref pack.BlockRef, b *pack.Block) error {
			for i := range b.Entries {
				e := &b.Entries[i]
				if at, ok := s.find(e.ID); !ok || at.pack.name != p.name || at.Offset != ref.Offset || at.Pos != i {
					continue
				}
				if err := visit(infoOf(p, ref, b, i)); err != nil {
					return err
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

// infoOf describes entry i of the block at ref.
func infoOf(p *packFile, ref pack.BlockRef, b *pack.Block, i int) ObjectInfo {
	e := &b.Entries[i]
	o := ObjectInfo{ID: e.ID, Pack: p.name.File(), Size: int64(e.Length), Stored: b.Share(ref.Size, i)}
	if e.Delta {
		o.Size, o.Delta, o.Base, o.Depth = int64(e.Size), true, e.Base, int(e.Depth)
	}
	return o
}

// snapshot brings the packs up to date and returns them.
func (s *Store) snapshot() ([]*packFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshLocked(true); err != nil {
		return nil, err
	}
	return slices.Clone(s.packs), nil
}

// eachEntry visits the entries of the blocks of eachTable, by their numbers.
func (s *Store) eachEntry(p *packFile, from int, lenient bool, visit func(ref pack.BlockRef, b *pack.Block, i int)) error {
	return s.eachTable(p, from, lenient, func(ref pack.BlockRef, b *pack.Block) error {
		for i := range b.Entries {
			visit(ref, b, i)
		}
		return nil
	})
}

// eachTable visits the tables of a pack's blocks in their order, from a block on. A block that
// cannot be read is left out with lenient, else it is a *DamagedError. A pack that is gone
// has no blocks.
func (s *Store) eachTable(p *packFile, from int, lenient bool, visit func(pack.BlockRef, *pack.Block) error) error {
	s.mu.RLock()
	blocks := p.blocks()
	s.mu.RUnlock()
	for _, ref := range blocks[min(from, len(blocks)):] {
		b, err := p.table(ref)
		if lenient && pack.IsMalformed(err) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return p.damaged(oid.ID{}, ref.Offset, err)
		}
		if err := visit(ref, &b); err != nil {
			return err
		}
	}
	return nil
}

// blocks lists what is known of the pack's blocks. The caller holds mu.
func (p *packFile) blocks() []pack.BlockRef {
	return append(p.index.Blocks(), p.tail.Blocks...)
}

// table reads the table of one of the pack's blocks.
func (p *packFile) table(ref pack.BlockRef) (pack.Block, error) {
	f, err := p.open()
	if err != nil {
		return pack.Block{}, err
	}
	return pack.ReadTable(f, ref)
}
