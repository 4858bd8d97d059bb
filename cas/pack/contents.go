package pack

import (
	"bytes"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
)

// BlockRef is where a block's record lies in its pack.
type BlockRef struct {
	Offset int64
	Size   int32 // of the whole record
}

// Place is where an object lies in its pack.
type Place struct {
	BlockRef
	Pos int // in the table of the block
}

// located is an object of a pack: which of its blocks, and which place in it.
type located struct {
	id    oid.ID
	block uint32
	pos   uint16
}

// CommitRef is a commit of a pack.
type CommitRef struct {
	Seq    uint64
	Offset int64 // of its record
}

// Contents is what a pack holds, and what an index is written from.
type Contents struct {
	Covered int64 // bytes of the pack that this speaks of
	Sealed  bool  // nothing will be added to the pack
	Blocks  []BlockRef
	objects []located
	Commits []CommitRef // in the order of the pack, the unsequenced ones left out
}

// Objects is how many objects there are.
func (c *Contents) Objects() int { return len(c.objects) }

// AddBlock adds the block whose record lies from offset to end.
func (c *Contents) AddBlock(offset, end int64, entries []Entry) {
	n := uint32(len(c.Blocks))
	c.Blocks = append(c.Blocks, BlockRef{offset, int32(end - offset)})
	for i := range entries {
		c.objects = append(c.objects, located{entries[i].ID, n, uint16(i)})
	}
}

// AddCommit adds the commit whose record lies from offset to end; seq is 0 for one without a sequence number.
func (c *Contents) AddCommit(seq uint64, offset, end int64) {
	if seq != 0 {
		c.Commits = append(c.Commits, CommitRef{seq, offset})
	}
	c.Covered = end
}

// Clone is a copy that shares nothing with c.
func (c Contents) Clone() Contents {
	c.Blocks, c.objects, c.Commits = slices.Clone(c.Blocks), slices.Clone(c.objects), slices.Clone(c.Commits)
	return c
}

func (c *Contents) sort() {
	slices.SortFunc(c.objects, func(a, b located) int {
		if d := bytes.Compare(a.id[:], b.id[:]); d != 0 {
			return d
		}
		return int(a.block) - int(b.block)
	})
}

// Join adds what lies behind c in the same pack.
func (c *Contents) Join(behind *Contents) {
	first := uint32(len(c.Blocks))
	c.Blocks = append(c.Blocks, behind.Blocks...)
	for _, o := range behind.objects {
		o.block += first
		c.objects = append(c.objects, o)
	}
	c.Commits = append(c.Commits, behind.Commits...)
	c.Covered = behind.Covered
}
