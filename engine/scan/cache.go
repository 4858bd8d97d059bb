package scan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/rootfs"

	"github.com/cespare/xxhash/v2"
)

// Stamp ties a stat cache to the store: opaque bytes that the caller compares.
type Stamp [64]byte

// Cache is a loaded stat cache. A nil *Cache is an empty one. It is immutable
// once loaded, and safe for concurrent use.
type Cache struct {
	image  []byte // the file: base, then deltas; offsets of directories point into it
	dirs   []dirRec
	stamp  Stamp
	seed   uint64
	conf   uint64 // of the rules and options that decided
	files  uint64
	bytes  uint64
	root   oid.ID // of the root's manifest; the ids of the other directories are in the manifests above them
	base   int    // length of the base
	used   int    // length of base and good deltas
	sum    uint64 // checksum of the last good part, which seeds the next delta's
	linear bool   // no directory was added since the base: ordinals are in tree order
	info   os.FileInfo
}

// dirRec is one directory. Its ordinal is its index; its parent's is smaller.
type dirRec struct {
	parent      int32 // -1 for the root
	off, len, n uint32
	mode        uint16 // permission bits
	flags       uint16
	fp          uint64 // 0: its names are not to be trusted
	rules       uint64 // hash of the rule files directly in it
}

func (d *dirRec) dead() bool { return d.off == 0 }

const (
	hasReasons = 1 // some entry is not simply captured
	hasNothing = 2 // it was descended into, nothing below is captured, and so it has no manifest
)

// Kinds of entries, in the low bits of their kind byte.
const (
	kindFile    = 1 // captured
	kindSymlink = 2 // captured
	kindDir     = 3 // its slot holds the ordinal, not a fingerprint
	kindIgnored = 4 // not looked at
	kindSpecial = 5 // socket, fifo, device; not looked at
	kindLarge   = 6 // an ignored file over the limit of IfSmall or Precious: compared like a file
	kindExempt  = 7 // mount point, over MaxFileSize: tried again by every scan
	kindFailed  = 8 // unreadable: tried again by every scan
	kindMask    = 0x0f

	flagSmall   = 0x10 // an ignored file, captured because it is small (of a marked one: not large)
	flagDescend = 0x20 // a directory that is captured only for what is below
	flagMarked  = 0x20 // a file or symlink that is precious: see manifest.Entry
	flagRule    = 0x40 // a rule file that is not captured: compared all the same
	flagReason  = 0x80 // has a reason, which is reported
)

const (
	cacheMagic  = "rwhead2\n"
	headHeader  = 152
	cacheRecord = 40
	maxCache    = 1<<32 - 1
)

// Stamp is what Publish was given.
func (h *Cache) Stamp() Stamp {
	if h == nil {
		return Stamp{}
	}
	return h.stamp
}

// Root is the root manifest whose files the stat cache has.
func (h *Cache) Root() oid.ID {
	if h == nil {
		return oid.ID{}
	}
	return h.root
}

// ID identifies the file as it was loaded, "" where it is not whole.
func (h *Cache) ID() string {
	if h == nil || h.info == nil || h.used != len(h.image) {
		return ""
	}
	return cacheID(h.info, h.sum)
}

func cacheID(info os.FileInfo, sum uint64) string {
	i := rootfs.InfoOf(info)
	return fmt.Sprintf("%x-%x-%x-%x", i.Ino, i.Size, i.Ctime, sum)
}

// Directories are the paths of those that the stat cache has.
func (h *Cache) Directories() map[string]bool {
	out := make(map[string]bool, len(h.dirs))
	for ord := range h.dirs {
		if !h.dirs[ord].dead() {
			out[h.path(int32(ord))] = true
		}
	}
	return out
}

// Directories are the paths of those that were captured, "" the root, in no order.
func (r *Result) Directories() (list []string) {
	var known func(ord int32, path string)
	known = func(ord int32, path string) {
		list = append(list, path)
		records, _ := r.cache.records(ord)
		for i := range records {
			if child := &records[i]; child.kind&kindMask == kindDir {
				known(int32(child.slot), rootfs.Join(path, child.name))
			}
		}
	}
	if r.top == nil {
		known(0, "")
	}
	gather(r.top, func(n *node) {
		list = append(list, n.path())
		for _, kid := range n.kids {
			if kid.node == nil {
				b, _ := r.cache.block(kid.ord)
				known(kid.ord, rootfs.Join(n.path(), string(b.name)))
			}
		}
	})
	return list
}

// LoadCache reads the stat cache's file; a missing, damaged or foreign one gives nil, nil.
// Deltas from the first bad one on are left out: a shorter stat cache is an older one, no wrong one.
func LoadCache(file string) (*Cache, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|vfs.NoFollow|vfs.NoWait, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || foreign(info) || info.Size() < headHeader+8 || info.Size() > maxCache {
		return nil, nil
	}
	image := make([]byte, info.Size())
	if n, err := io.ReadFull(f, image); err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, err
		}
		image = image[:n]
	}
	h := parseCache(image)
	if h != nil {
		h.info = info
	}
	return h, nil
}

// parseCache takes over image. It gives nil for what is no stat cache.
func parseCache(image []byte) *Cache {
	le := binary.LittleEndian
	if len(image) < headHeader+8 || string(image[:8]) != cacheMagic {
		return nil
	}
	total := le.Uint64(image[8:])
	count := uint64(le.Uint32(image[112:]))
	if total > uint64(len(image)) || total < headHeader+8 || count == 0 ||
		count > (total-headHeader-8)/cacheRecord {
		return nil
	}
	body := image[:total-8]
	sum := xxhash.Sum64(body)
	if sum != le.Uint64(image[total-8:]) {
		return nil
	}
	h := &Cache{
		image: image, base: int(total), used: int(total), sum: sum, linear: true,
		seed: le.Uint64(image[16:]), conf: le.Uint64(image[24:]),
		files: le.Uint64(image[32:]), bytes: le.Uint64(image[40:]),
		dirs: make([]dirRec, count, count+64),
	}
	copy(h.stamp[:], image[48:])
	copy(h.root[:], image[120:])
	for i := range h.dirs {
		d := &h.dirs[i]
		getRecord(d, image[headHeader+i*cacheRecord:])
		if !h.place(i, uint64(d.off), uint64(d.len), total-8) {
			return nil
		}
	}
	h.deltas()
	if h.used < 0 || h.root == (oid.ID{}) {
		return nil
	}
	return h
}

// place checks what a directory's record says against the image up to end, in constant time.
func (h *Cache) place(ord int, off, length, end uint64) bool {
	d := &h.dirs[ord]
	if off < headHeader || off+length > end || uint64(d.n)*9+1 > length {
		return false
	}
	return d.parent < int32(ord) && (d.parent >= 0) == (ord > 0)
}

func getRecord(d *dirRec, b []byte) {
	le := binary.LittleEndian
	_ = b[cacheRecord-1]
	d.parent = int32(le.Uint32(b))
	d.off, d.len, d.n = le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	d.mode, d.flags = le.Uint16(b[16:]), le.Uint16(b[18:])
	d.fp, d.rules = le.Uint64(b[24:]), le.Uint64(b[32:])
}

func putRecord(b []byte, d *dirRec) {
	le := binary.LittleEndian
	le.PutUint32(b, uint32(d.parent))
	le.PutUint32(b[4:], d.off)
	le.PutUint32(b[8:], d.len)
	le.PutUint32(b[12:], d.n)
	le.PutUint16(b[16:], d.mode)
	le.PutUint16(b[18:], d.flags)
	le.PutUint64(b[24:], d.fp)
	le.PutUint64(b[32:], d.rules)
}
