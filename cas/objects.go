package cas

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
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
		err := s.eachTable(p, 0, true, func(ref blockRef, b *block) error {
			for i := range b.entries {
				e := &b.entries[i]
				if at, ok := s.find(e.id); !ok || at.pack.name != p.name || at.offset != ref.offset || at.pos != i {
					continue
				}
				if err := visit(b.info(p, ref, i)); err != nil {
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

// info describes entry i of the block at ref.
func (b *block) info(p *pack, ref blockRef, i int) ObjectInfo {
	e := &b.entries[i]
	o := ObjectInfo{ID: e.id, Pack: p.name.file(), Size: int64(e.length), Stored: b.share(ref, i)}
	if e.delta {
		o.Size, o.Delta, o.Base, o.Depth = int64(e.size), true, e.base, int(e.depth)
	}
	return o
}

// share is what entry i takes of the record: its table entry, and its part of
// the rest by its length.
func (b *block) share(ref blockRef, i int) int64 {
	e := &b.entries[i]
	own := int64(34)
	if e.delta {
		own += 20
	}
	rest := max(0, int64(ref.size)-int64(len(b.entries))*34)
	if b.total == 0 {
		return own + rest/int64(len(b.entries))
	}
	return own + rest*int64(e.length)/int64(b.total)
}

// snapshot brings the packs up to date and returns them.
func (s *Store) snapshot() ([]*pack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refreshLocked(true); err != nil {
		return nil, err
	}
	return slices.Clone(s.packs), nil
}

// eachTable visits the tables of a pack's blocks in their order, from a block on. A block that
// cannot be read is left out with lenient, else it is a *DamagedError. A pack that is gone
// has no blocks.
func (s *Store) eachTable(p *pack, from int, lenient bool, visit func(blockRef, *block) error) error {
	s.mu.RLock()
	blocks := p.blocks()
	s.mu.RUnlock()
	for _, ref := range blocks[min(from, len(blocks)):] {
		b, err := readTable(p, ref)
		if isMalformed(err) {
			if lenient {
				continue
			}
			return &DamagedError{Pack: p.name.file(), Offset: ref.offset, Reason: err.Error()}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(ref, b); err != nil {
			return err
		}
	}
	return nil
}

// blocks lists what is known of the pack's blocks. The caller holds mu.
func (p *pack) blocks() []blockRef {
	var all []blockRef
	if p.index != nil {
		for i := range p.index.blockCount() {
			all = append(all, p.index.block(i))
		}
	}
	return append(all, p.tail.blocks...)
}

// covered is the end of what is known of the pack. The caller holds mu.
func (p *pack) covered() int64 {
	end := p.tail.covered
	if p.index != nil {
		end = max(end, p.index.covered)
	}
	return max(end, headerSize)
}

// tableGuess is how much of a block is read for its table: enough for about
// 200 objects.
const tableGuess = 8 << 10

// readTable reads the table of a block, without the body where it is large.
// The record's checksum is not looked at.
func readTable(p *pack, ref blockRef) (*block, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	for _, n := range []int64{min(tableGuess, int64(ref.size)), int64(ref.size)} {
		buf := make([]byte, n)
		ok, rerr := readFull(f, buf, ref.offset)
		if rerr != nil {
			return nil, rerr
		}
		if !ok {
			return nil, malformedError("the pack ends before it")
		}
		typ, _, head, perr := parseRecordHead(buf)
		if perr != nil || typ != blockRecord {
			return nil, malformedError("no block begins here")
		}
		var b block
		if b, _, err = parseTable(buf[head:]); err == nil {
			return &b, nil
		}
	}
	return nil, err
}
