package cas

import (
	"bytes"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

// blockRef is where a block's record lies in its pack.
type blockRef struct {
	offset int64
	size   int32 // of the whole record
}

// located is an object of a pack: which of its blocks, and which place in it.
type located struct {
	id    oid.ID
	block uint32
	pos   uint16
}

// commitRef is a commit of a pack.
type commitRef struct {
	seq    uint64
	offset int64 // of its record
}

// contents is what a pack holds, up to covered: what an index is written from.
type contents struct {
	covered int64
	sealed  bool // nothing will be added to the pack
	blocks  []blockRef
	objects []located
	commits []commitRef // in the order of the pack, the unsequenced ones left out
}

func (c *contents) addBlock(offset, end int64, entries []entry) {
	n := uint32(len(c.blocks))
	c.blocks = append(c.blocks, blockRef{offset, int32(end - offset)})
	for i := range entries {
		c.objects = append(c.objects, located{entries[i].id, n, uint16(i)})
	}
}

func (c *contents) addCommit(seq uint64, offset, end int64) {
	if seq != 0 {
		c.commits = append(c.commits, commitRef{seq, offset})
	}
	c.covered = end
}

// clone is a copy that may be sorted.
func (c *contents) clone() *contents {
	d := *c
	d.blocks, d.objects, d.commits = slices.Clone(c.blocks), slices.Clone(c.objects), slices.Clone(c.commits)
	return &d
}

func (c *contents) sort() {
	slices.SortFunc(c.objects, func(a, b located) int {
		if d := bytes.Compare(a.id[:], b.id[:]); d != 0 {
			return d
		}
		return int(a.block) - int(b.block)
	})
}

// tail is what a walk found in a pack behind what its index covers.
type tail struct {
	contents
	from     int64
	byPrefix map[prefix]int32 // 1 + the last of objects with that prefix
	previous []int32          // the same for the one before it, per object
}

// extend makes the objects that were added since the last call known.
func (t *tail) extend() {
	if t.byPrefix == nil {
		t.byPrefix = make(map[prefix]int32, len(t.objects))
	}
	for i := len(t.previous); i < len(t.objects); i++ {
		p := prefixOf(t.objects[i].id)
		t.previous = append(t.previous, t.byPrefix[p])
		t.byPrefix[p] = int32(i) + 1
	}
}

func (t *tail) find(id oid.ID) (blockRef, int, bool) {
	for i := t.byPrefix[prefixOf(id)]; i != 0; i = t.previous[i-1] {
		if o := &t.objects[i-1]; o.id == id {
			return t.blocks[o.block], int(o.pos), true
		}
	}
	return blockRef{}, 0, false
}

func (t *tail) findPrefix(p prefix) (blockRef, int, bool) {
	i := t.byPrefix[p]
	if i == 0 {
		return blockRef{}, 0, false
	}
	o := &t.objects[i-1]
	return t.blocks[o.block], int(o.pos), true
}
