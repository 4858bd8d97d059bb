package pack

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// An index: head, commits, blocks, fan-out, ids, places. Integers are
// little-endian. The head:
//
//	 0 magic      8 bytes
//	 8 version    uint16
//	10 kind       byte, of the pack
//	11 sealed     byte, 1: nothing will be added to the pack
//	12 commits    uint32, how many
//	16 tag        uint64, of the pack
//	24 store id   16 bytes
//	40 covered    uint64, bytes of the pack that the index speaks of
//	48 blocks     uint32, how many
//	52 objects    uint32, how many
//	56 body sum   uint64, xxhash64 of blocks, fan-out, ids and places
//	64 head sum   uint64, xxhash64 of the head up to here and of the commits
//
// A commit is its sequence number and its record's offset, 8 bytes each. A
// block is its record's offset, 8 bytes, and size, 4. The fan-out has for each
// first byte the number of ids up to it, 256 times uint32. Ids are sorted. A
// place is the number of the block, 4 bytes, and the position in it, 2.
//
// The head sum is checked when an index is opened, since a commit must not get
// lost unnoticed. The body sum is checked when a look-up does not find what it
// should: a wrong entry can hide an object, but never pass off a wrong one.
const (
	indexMagic    = "rwindex\n"
	indexVersion  = 1
	indexHead     = 72
	indexCommit   = 16
	indexBlock    = 12
	indexFanout   = 256 * 4
	indexPlace    = 6
	maxIndexCount = math.MaxInt32
)

// Index is a mapped index; a nil one answers as that of an empty pack. It is mapped as long as anybody has it: its pack may leave the list of packs while another
// goroutine, or a plan of the same one, still reads it. What reads mapped bytes keeps the index alive until it has.
type Index struct {
	Covered int64 // bytes of the pack that the index speaks of
	Sealed  bool  // nothing will be added to the pack

	release func() error
	checked bool // the body sum was found right
	bodySum uint64

	commits []byte
	body    []byte
	blocks  []byte
	fanout  []byte
	ids     []byte
	places  []byte
}

// EncodeIndex makes the bytes of the index of a pack with the contents c, whose objects it sorts.
func EncodeIndex(name Name, store [16]byte, c *Contents) []byte {
	c.sort()
	le := binary.LittleEndian
	dst := make([]byte, 0, indexHead+indexCommit*len(c.Commits)+indexBlock*len(c.Blocks)+indexFanout+(32+indexPlace)*len(c.objects))
	dst = append(dst, indexMagic...)
	dst = le.AppendUint16(dst, indexVersion)
	sealed := byte(0)
	if c.Sealed {
		sealed = 1
	}
	dst = append(dst, byte(name.Kind), sealed)
	dst = le.AppendUint32(dst, uint32(len(c.Commits)))
	dst = le.AppendUint64(dst, name.Tag)
	dst = append(dst, store[:]...)
	dst = le.AppendUint64(dst, uint64(c.Covered))
	dst = le.AppendUint32(dst, uint32(len(c.Blocks)))
	dst = le.AppendUint32(dst, uint32(len(c.objects)))
	dst = append(dst, make([]byte, 16)...)
	for _, r := range c.Commits {
		dst = le.AppendUint64(dst, r.Seq)
		dst = le.AppendUint64(dst, uint64(r.Offset))
	}
	body := len(dst)
	for _, b := range c.Blocks {
		dst = le.AppendUint64(dst, uint64(b.Offset))
		dst = le.AppendUint32(dst, uint32(b.Size))
	}
	n := 0
	for first := range 256 {
		for n < len(c.objects) && int(c.objects[n].id[0]) <= first {
			n++
		}
		dst = le.AppendUint32(dst, uint32(n))
	}
	for i := range c.objects {
		dst = append(dst, c.objects[i].id[:]...)
	}
	for i := range c.objects {
		dst = le.AppendUint32(dst, c.objects[i].block)
		dst = le.AppendUint16(dst, c.objects[i].pos)
	}
	head := dst[:indexHead]
	le.PutUint64(head[56:], xxhash.Sum64(dst[body:]))
	le.PutUint64(head[64:], headSum(head, dst[indexHead:body]))
	return dst
}

func headSum(head, commits []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	d.Write(head[:64])
	d.Write(commits)
	return d.Sum64()
}

// parseIndex reads an index's head and commits. The index aliases b.
func parseIndex(b []byte, name Name, store [16]byte) (*Index, error) {
	le := binary.LittleEndian
	if len(b) < indexHead || string(b[:8]) != indexMagic {
		return nil, MalformedError("the index has no head")
	}
	commits, blocks, objects := int64(le.Uint32(b[12:])), int64(le.Uint32(b[48:])), int64(le.Uint32(b[52:]))
	if max(commits, blocks, objects) > maxIndexCount ||
		int64(len(b)) != indexHead+commits*indexCommit+blocks*indexBlock+indexFanout+objects*(32+indexPlace) {
		return nil, MalformedError("the index does not have the length its head says")
	}
	x := &Index{Covered: int64(le.Uint64(b[40:])), bodySum: le.Uint64(b[56:])}
	rest := b[indexHead:]
	cut := func(n int64) (part []byte) {
		part, rest = rest[:n:n], rest[n:]
		return part
	}
	x.commits = cut(commits * indexCommit)
	x.body = rest
	x.blocks = cut(blocks * indexBlock)
	x.fanout = cut(indexFanout)
	x.ids = cut(objects * 32)
	x.places = cut(objects * indexPlace)
	if headSum(b, x.commits) != le.Uint64(b[64:]) {
		return nil, MalformedError("the index does not match its checksum")
	}
	if v := le.Uint16(b[8:]); v != indexVersion {
		return nil, MalformedError("the index is of an unknown version")
	}
	if Kind(b[10]) != name.Kind || le.Uint64(b[16:]) != name.Tag || !bytes.Equal(b[24:40], store[:]) || b[11] > 1 || x.Covered < HeaderSize {
		return nil, MalformedError("the index belongs to another pack")
	}
	x.Sealed = b[11] == 1
	return x, nil
}

// OpenIndex maps the index of a pack. Without one, or with one that is not
// good, it returns nil: an index is never needed.
func OpenIndex(fsys vfs.FS, dir string, name Name, store [16]byte) *Index {
	data, release, err := fsys.Map(filepath.Join(dir, name.IndexFile()))
	if err != nil {
		return nil
	}
	x, err := parseIndex(data, name, store)
	if err != nil {
		release() // nothing was written, nothing can be lost
		return nil
	}
	x.release = release
	runtime.AddCleanup(x, func(release func() error) { release() }, release)
	return x
}

// Close gives the mapping back at once. No other goroutine may use the index meanwhile. A nil index needs no Close.
func (x *Index) Close() {
	if x != nil && x.release != nil {
		x.release() // nothing was written, nothing can be lost
		x.release = nil
	}
}

// Intact reports whether the body matches its checksum. It reads the whole index until it does.
func (x *Index) Intact() bool {
	if !x.checked {
		x.checked = xxhash.Sum64(x.body) == x.bodySum
		runtime.KeepAlive(x)
	}
	return x.checked
}

// objects is how many there are; a nil index has none.
func (x *Index) objects() int {
	if x == nil {
		return 0
	}
	return len(x.ids) / 32
}

// Commits yields the sequenced commits of the pack, in its order. There can be a hundred thousand: to list them would take
// longer than a command that wants the last of them.
func (x *Index) Commits() iter.Seq[CommitRef] {
	return func(yield func(CommitRef) bool) {
		if x == nil {
			return
		}
		for b := range slices.Chunk(x.commits, indexCommit) {
			if !yield(CommitRef{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}) {
				break
			}
		}
		runtime.KeepAlive(x)
	}
}

// Blocks lists the blocks of the pack, in its order.
func (x *Index) Blocks() []BlockRef {
	if x == nil {
		return nil
	}
	all := make([]BlockRef, len(x.blocks)/indexBlock)
	for i := range all {
		all[i] = x.block(i)
	}
	return all
}

func (x *Index) block(i int) BlockRef {
	b := x.blocks[i*indexBlock:]
	ref := BlockRef{int64(binary.LittleEndian.Uint64(b)), int32(binary.LittleEndian.Uint32(b[8:]))}
	runtime.KeepAlive(x)
	return ref
}

func (x *Index) object(i int) located {
	b := x.places[i*indexPlace:]
	o := located{oid.ID(x.ids[i*32:]), binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])}
	runtime.KeepAlive(x)
	return o
}

// Find looks an object up by its id. A damaged body finds nothing or something wrong; it does not panic.
func (x *Index) Find(id oid.ID) (Place, bool) { return x.search(id[:]) }

// FindPrefix looks up the base of a delta.
func (x *Index) FindPrefix(p Prefix) (Place, bool) { return x.search(p[:]) }

// search returns the first object whose id begins with key, or has key as
// its whole: key is 16 or 32 bytes.
func (x *Index) search(key []byte) (Place, bool) {
	i := x.firstAt(key)
	found := i < x.objects() && bytes.Equal(x.ids[i*32:i*32+len(key)], key)
	runtime.KeepAlive(x)
	if !found {
		return Place{}, false
	}
	return x.place(x.object(i))
}

// Places yields every place of an object.
func (x *Index) Places(p Prefix) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := x.firstAt(p[:]); i < x.objects(); i++ {
			o := x.object(i)
			if PrefixOf(o.id) != p {
				return
			}
			if at, ok := x.place(o); ok && !yield(at) {
				return
			}
		}
	}
}

// ObjectsWithin are the objects whose blocks begin between two offsets of the pack.
func (x *Index) ObjectsWithin(from, to int64) (ids []oid.ID) {
	blocks := x.Blocks()
	for i := range x.objects() {
		o := x.object(i)
		if int(o.block) >= len(blocks) {
			continue
		}
		if at := blocks[o.block].Offset; at >= from && at < to {
			ids = append(ids, o.id)
		}
	}
	return ids
}

// firstAt is the first object whose id does not sort before key.
func (x *Index) firstAt(key []byte) int {
	n := x.objects()
	if n == 0 {
		return 0
	}
	lo, hi := 0, min(n, int(binary.LittleEndian.Uint32(x.fanout[int(key[0])*4:])))
	if key[0] > 0 {
		lo = min(n, int(binary.LittleEndian.Uint32(x.fanout[int(key[0])*4-4:])))
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(x.ids[mid*32:mid*32+len(key)], key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	runtime.KeepAlive(x)
	return lo
}

// place is where an object lies; ok is false where the body says what cannot be.
func (x *Index) place(o located) (at Place, ok bool) {
	if int64(o.block) >= int64(len(x.blocks)/indexBlock) {
		return Place{}, false
	}
	ref := x.block(int(o.block))
	return Place{ref, int(o.pos)}, ref.Offset >= HeaderSize && ref.Size > 0 && ref.Offset <= x.Covered-int64(ref.Size)
}

// Contents is what the index was written from. The caller owns it.
func (x *Index) Contents() *Contents {
	if x == nil {
		return &Contents{}
	}
	c := &Contents{Covered: x.Covered, Sealed: x.Sealed, Blocks: x.Blocks(), Commits: slices.Collect(x.Commits())}
	for i := range x.objects() {
		c.objects = append(c.objects, x.object(i))
	}
	return c
}
