package cas

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"

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

// An index is mapped as long as anybody has it: its pack may leave the list of packs while another goroutine, or a plan of
// the same one, still reads it. What reads mapped bytes keeps the index alive until it has.
type index struct {
	release func() error
	covered int64
	sealed  bool
	checked bool // the body sum was found right
	bodySum uint64

	commits []byte
	body    []byte
	blocks  []byte
	fanout  []byte
	ids     []byte
	places  []byte
}

// appendIndex appends the index of c, whose objects are sorted.
func appendIndex(dst []byte, name packName, store [16]byte, c *contents) []byte {
	le := binary.LittleEndian
	start := len(dst)
	dst = append(dst, indexMagic...)
	dst = le.AppendUint16(dst, indexVersion)
	sealed := byte(0)
	if c.sealed {
		sealed = 1
	}
	dst = append(dst, byte(name.kind), sealed)
	dst = le.AppendUint32(dst, uint32(len(c.commits)))
	dst = le.AppendUint64(dst, name.tag)
	dst = append(dst, store[:]...)
	dst = le.AppendUint64(dst, uint64(c.covered))
	dst = le.AppendUint32(dst, uint32(len(c.blocks)))
	dst = le.AppendUint32(dst, uint32(len(c.objects)))
	dst = append(dst, make([]byte, 16)...)
	for _, r := range c.commits {
		dst = le.AppendUint64(dst, r.seq)
		dst = le.AppendUint64(dst, uint64(r.offset))
	}
	body := len(dst)
	for _, b := range c.blocks {
		dst = le.AppendUint64(dst, uint64(b.offset))
		dst = le.AppendUint32(dst, uint32(b.size))
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
	head := dst[start : start+indexHead]
	le.PutUint64(head[56:], xxhash.Sum64(dst[body:]))
	le.PutUint64(head[64:], headSum(head, dst[start+indexHead:body]))
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
func parseIndex(b []byte, name packName, store [16]byte) (*index, error) {
	le := binary.LittleEndian
	if len(b) < indexHead || string(b[:8]) != indexMagic {
		return nil, malformedError("the index has no head")
	}
	commits, blocks, objects := int64(le.Uint32(b[12:])), int64(le.Uint32(b[48:])), int64(le.Uint32(b[52:]))
	if max(commits, blocks, objects) > maxIndexCount ||
		int64(len(b)) != indexHead+commits*indexCommit+blocks*indexBlock+indexFanout+objects*(32+indexPlace) {
		return nil, malformedError("the index does not have the length its head says")
	}
	x := &index{covered: int64(le.Uint64(b[40:])), bodySum: le.Uint64(b[56:])}
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
		return nil, malformedError("the index does not match its checksum")
	}
	if v := le.Uint16(b[8:]); v != indexVersion {
		return nil, malformedError("the index is of an unknown version")
	}
	if kind(b[10]) != name.kind || le.Uint64(b[16:]) != name.tag || !bytes.Equal(b[24:40], store[:]) || b[11] > 1 || x.covered < headerSize {
		return nil, malformedError("the index belongs to another pack")
	}
	x.sealed = b[11] == 1
	return x, nil
}

// openIndex maps the index of a pack. Without one, or with one that is not
// good, it returns nil: an index is never needed.
func openIndex(fsys vfs.FS, dir string, name packName, store [16]byte) *index {
	data, release, err := fsys.Map(filepath.Join(dir, name.indexFile()))
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

// close gives the mapping back at once. No other user may have the index.
func (x *index) close() {
	if x != nil && x.release != nil {
		x.release() // nothing was written, nothing can be lost
		x.release = nil
	}
}

// intact checks the body sum, once.
func (x *index) intact() bool {
	if !x.checked {
		x.checked = xxhash.Sum64(x.body) == x.bodySum
		runtime.KeepAlive(x)
	}
	return x.checked
}

func (x *index) objects() int     { return len(x.ids) / 32 }
func (x *index) blockCount() int  { return len(x.blocks) / indexBlock }
func (x *index) commitCount() int { return len(x.commits) / indexCommit }

func (x *index) commit(i int) commitRef {
	b := x.commits[i*indexCommit:]
	c := commitRef{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}
	runtime.KeepAlive(x)
	return c
}

func (x *index) block(i int) blockRef {
	b := x.blocks[i*indexBlock:]
	ref := blockRef{int64(binary.LittleEndian.Uint64(b)), int32(binary.LittleEndian.Uint32(b[8:]))}
	runtime.KeepAlive(x)
	return ref
}

func (x *index) object(i int) located {
	b := x.places[i*indexPlace:]
	o := located{oid.ID(x.ids[i*32:]), binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])}
	runtime.KeepAlive(x)
	return o
}

// search returns the first object whose id begins with key, or has key as
// its whole: key is 16 or 32 bytes. A damaged body finds nothing or something
// wrong; it does not panic.
func (x *index) search(key []byte) (blockRef, int, bool) {
	i := x.firstAt(key)
	found := i < x.objects() && bytes.Equal(x.ids[i*32:i*32+len(key)], key)
	runtime.KeepAlive(x)
	if !found {
		return blockRef{}, 0, false
	}
	o := x.object(i)
	ref, ok := x.ref(o)
	return ref, int(o.pos), ok
}

// firstAt is the first object whose id does not sort before key.
func (x *index) firstAt(key []byte) int {
	n := x.objects()
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

// ref is where the block of an object lies.
func (x *index) ref(o located) (blockRef, bool) {
	if int64(o.block) >= int64(x.blockCount()) {
		return blockRef{}, false
	}
	ref := x.block(int(o.block))
	return ref, ref.offset >= headerSize && ref.size > 0 && ref.offset <= x.covered-int64(ref.size)
}

// contents is what the index was written from.
func (x *index) contents() *contents {
	c := &contents{covered: x.covered, sealed: x.sealed}
	for i := range x.blockCount() {
		c.blocks = append(c.blocks, x.block(i))
	}
	for i := range x.objects() {
		c.objects = append(c.objects, x.object(i))
	}
	for i := range x.commitCount() {
		c.commits = append(c.commits, x.commit(i))
	}
	return c
}

// writeIndex replaces the index of a pack. It is not synced: an index that a
// crash damages is noticed and made anew. What it covers must be durable.
func (s *Store) writeIndex(name packName, c *contents) error {
	c.sort()
	file := filepath.Join(s.o.Dir, name.indexFile())
	size := indexHead + indexCommit*len(c.commits) + indexBlock*len(c.blocks) + indexFanout + (32+indexPlace)*len(c.objects)
	data := appendIndex(make([]byte, 0, size), name, s.o.StoreID, c)
	// An index whose pack is not there says that the pack is lost.
	there := func() error {
		_, err := s.fs.Lstat(filepath.Join(s.o.Dir, name.file()))
		return errors.Join(s.sure(), err)
	}
	return s.replace(file, vfs.Replacement{NoSync: true, KeepDir: true, Before: there}, vfs.Bytes(data))
}

// create makes a new file of the store for reading and writing.
func (s *Store) create(file string) (vfs.File, error) {
	f, err := s.fs.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if s.o.Owner != nil {
		if err := s.o.Owner(file); err != nil {
			return nil, errors.Join(err, f.Close(), s.fs.Remove(file))
		}
	}
	return f, nil
}
