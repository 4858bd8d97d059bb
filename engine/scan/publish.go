package scan

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

func freshSeed() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// slack is up to how many bytes of deltas a stat cache of any size may carry.
const slack = 16 << 10

// Publish writes the stat cache that follows from the run: nothing, an appended
// delta, or a new file. The caller holds the append lock. If another process
// published since the stat cache was loaded, it does nothing: that stat cache is as true
// as this one. A stat cache that needs no change keeps its old stamp, unless something of it
// was in doubt (Options.Unsynced). owner gets a new file before it has its name; it may be nil. Nothing is fsynced: checksums tell what a crash left.
func (r *Result) Publish(file string, s Stamp, owner func(string) error) error {
	old, loaded := r.loaded, r.CacheID
	r.CacheID = ""
	whole := r.cache == nil // nothing of what was loaded was used, or nothing was
	if old != nil {
		info, err := os.Lstat(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !os.SameFile(info, old.info) || info.Size() != old.info.Size() {
			return nil
		}
	}
	if !whole {
		payload := r.delta(s)
		if payload == nil {
			r.CacheID = loaded
			return nil
		}
		room := max(old.base/4, slack)
		if old.used == len(old.image) && old.used-old.base+len(payload)+12 <= room {
			if err := appendTo(file, appendDelta(nil, old.sum, payload)); !errors.Is(err, errShared) {
				r.identify(file, deltaSum(old.sum, payload), err)
				return err
			}
		}
	}
	data, err := r.image(s)
	if err != nil {
		return errors.Join(err, os.Remove(file))
	}
	err = replace(file, data, owner)
	r.identify(file, binary.LittleEndian.Uint64(data[len(data)-8:]), err)
	return err
}

// identify notes which stat cache was published.
func (r *Result) identify(file string, sum uint64, err error) {
	if info, statErr := os.Lstat(file); err == nil && statErr == nil {
		r.CacheID = cacheID(info, sum)
	}
}

// Restamp gives an unchanged stat cache's file a new stamp (after gc). The caller
// holds the append lock. A stat cache that is missing or damaged is left alone.
func Restamp(file string, s Stamp) error {
	h, err := LoadCache(file)
	if err != nil || h == nil {
		return err
	}
	if h.used != len(h.image) {
		return os.Remove(file) // nothing can be appended to it
	}
	err = appendTo(file, appendDelta(nil, h.sum, h.preamble(nil, s, h.files, h.bytes)))
	if errors.Is(err, errShared) {
		return os.Remove(file)
	}
	return err
}

// errShared: the file has another name, as in a backup made of hard links, which must not change.
var errShared = errors.New("the stat cache has another name")

func appendTo(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|vfs.NoFollow|vfs.NoWait, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && rootfs.InfoOf(info).Nlink > 1 {
		err = errShared
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = f.Write(data) // a short write is a bad delta, which the next one sees
	return errors.Join(err, f.Close())
}

func replace(file string, data []byte, owner func(string) error) error {
	temp := file + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return vfs.Replace(vfs.OS, file, vfs.Replacement{Temp: temp, Own: owner, NoSync: true, KeepDir: true}, vfs.Bytes(data))
}

// preamble begins a delta: what differs in the stamp, and the totals.
func (h *Cache) preamble(dst []byte, s Stamp, files, bytes uint64) []byte {
	var mask uint64
	for i := range s {
		if s[i] != h.stamp[i] {
			mask |= 1 << i
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, mask)
	for i := range s {
		if mask>>i&1 != 0 {
			dst = append(dst, s[i])
		}
	}
	dst = binary.AppendUvarint(dst, files)
	return binary.AppendUvarint(dst, bytes)
}

// delta is the payload that turns the loaded stat cache into the new one, nil when nothing differs.
func (r *Result) delta(s Stamp) []byte {
	h := r.cache
	var ops []byte
	if h.conf != r.conf {
		ops = append(ops, opConf)
		ops = binary.LittleEndian.AppendUint64(ops, r.conf)
	}
	ords := make(map[*node]int32)
	if h.root != r.Root {
		ops = append(append(ops, opRoot), r.Root[:]...)
	}
	fresh := int32(len(h.dirs))
	gather(r.top, func(n *node) {
		ord := n.ord
		if ord < 0 {
			ord = fresh
			fresh++
		}
		ords[n] = ord
	})
	kept := make(map[int32]bool)
	gather(r.top, func(n *node) {
		kept[ords[n]] = true
		b, _ := splitBlock(n.block, n.count)
		for _, k := range n.kids {
			ord := k.ord
			if k.node != nil {
				ord = ords[k.node]
			}
			b.setSlot(int(k.slot), uint64(ord))
		}
		ops = n.appendOps(ops, h, ords[n], ords[n.parent])
	})
	if len(r.removed) > 0 {
		gone := make(map[int32]bool)
		for _, ord := range r.removed {
			if !kept[ord] {
				gone[ord] = true
			}
		}
		for ord := int32(1); ord < int32(len(h.dirs)); ord++ {
			// Parents come first, so one look at the parent is enough.
			if gone[h.dirs[ord].parent] && !kept[ord] {
				gone[ord] = true
			}
			if gone[ord] && !h.dirs[ord].dead() {
				ops = append(ops, opDrop)
				ops = binary.AppendUvarint(ops, uint64(ord))
			}
		}
	}
	if len(ops) == 0 && !r.renew {
		return nil
	}
	return append(h.preamble(nil, s, r.Files, r.Bytes), ops...)
}

// appendOps appends what makes the stat cache's directory ord the node.
func (n *node) appendOps(ops []byte, h *Cache, ord, parent int32) []byte {
	le := binary.LittleEndian
	if n.ord >= 0 {
		d := &h.dirs[ord]
		was, _ := h.block(ord)
		now, _ := splitBlock(n.block, n.count)
		if bytes.Equal(was.kinds, now.kinds) && bytes.Equal(was.tail, now.tail) && d.flags == n.flags {
			var flags byte
			if d.fp != n.fp {
				flags |= patchFP
			}
			if d.mode != n.mode {
				flags |= patchMode
			}
			if d.rules != n.rules {
				flags |= patchRules
			}
			var slots []byte
			count, next := 0, 0
			for i := range n.count {
				if v := now.slot(i); v != was.slot(i) {
					slots = binary.AppendUvarint(slots, uint64(i-next))
					slots = le.AppendUint64(slots, v)
					count, next = count+1, i+1
				}
			}
			if flags == 0 && count == 0 {
				return ops
			}
			ops = append(ops, opPatch)
			ops = binary.AppendUvarint(ops, uint64(ord))
			ops = append(ops, flags)
			if flags&patchFP != 0 {
				ops = le.AppendUint64(ops, n.fp)
			}
			if flags&patchMode != 0 {
				ops = le.AppendUint16(ops, n.mode)
			}
			if flags&patchRules != 0 {
				ops = le.AppendUint64(ops, n.rules)
			}
			ops = binary.AppendUvarint(ops, uint64(count))
			return append(ops, slots...)
		}
	}
	ops = append(ops, opPut)
	ops = binary.AppendUvarint(ops, uint64(ord))
	ops = binary.AppendUvarint(ops, uint64(parent))
	ops = le.AppendUint16(ops, n.mode)
	ops = le.AppendUint16(ops, n.flags)
	ops = le.AppendUint64(ops, n.fp)
	ops = le.AppendUint64(ops, n.rules)
	ops = binary.AppendUvarint(ops, uint64(n.count))
	ops = binary.AppendUvarint(ops, uint64(len(n.block)))
	return append(ops, n.block...)
}

// image is the whole new stat cache: the walked directories, and of the old stat cache what is below them.
func (r *Result) image(s Stamp) ([]byte, error) {
	type place struct {
		node   *node // or
		ord    int32 // of the old stat cache
		parent int32
		slot   int // in the parent
	}
	var dirs []dirRec
	var blocks []byte
	var seen []bool
	if r.cache != nil {
		seen = make([]bool, len(r.cache.dirs))
		dirs = make([]dirRec, 0, len(r.cache.dirs)+16)
		blocks = make([]byte, 0, len(r.cache.image))
	}
	stack := []place{{node: r.top, parent: -1}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		ord := int32(len(dirs))
		if p.parent >= 0 {
			up := &dirs[p.parent]
			b, _ := splitBlock(blocks[up.off:up.off+up.len], int(up.n))
			b.setSlot(p.slot, uint64(ord))
		}
		below := len(stack)
		d := dirRec{parent: p.parent, off: uint32(len(blocks))}
		if n := p.node; n != nil {
			d.mode, d.flags, d.fp, d.rules, d.n = n.mode, n.flags, n.fp, n.rules, uint32(n.count)
			blocks = append(blocks, n.block...)
			for _, k := range n.kids {
				stack = append(stack, place{k.node, k.ord, ord, int(k.slot)})
			}
		} else {
			was := &r.cache.dirs[p.ord]
			b, ok := r.cache.block(p.ord)
			if !ok || seen[p.ord] {
				return nil, errDamaged
			}
			seen[p.ord] = true
			d.mode, d.flags, d.fp, d.rules, d.n = was.mode, was.flags, was.fp, was.rules, was.n
			blocks = append(blocks, r.cache.image[was.off:was.off+was.len]...)
			for i, kind := range b.kinds {
				slot := b.slot(i)
				if kind&kindMask == kindDir && slot < uint64(len(r.cache.dirs)) && r.cache.dirs[slot].parent == p.ord {
					stack = append(stack, place{nil, int32(slot), ord, i})
				}
			}
		}
		slices.Reverse(stack[below:])
		d.len = uint32(len(blocks)) - d.off
		dirs = append(dirs, d)
	}
	le := binary.LittleEndian
	start := headHeader + len(dirs)*cacheRecord
	out := make([]byte, start, start+len(blocks)+8)
	copy(out, cacheMagic)
	le.PutUint64(out[8:], uint64(start+len(blocks)+8))
	le.PutUint64(out[16:], r.key)
	le.PutUint64(out[24:], r.conf)
	le.PutUint64(out[32:], r.Files)
	le.PutUint64(out[40:], r.Bytes)
	copy(out[48:], s[:])
	le.PutUint32(out[112:], uint32(len(dirs)))
	copy(out[120:], r.Root[:])
	for i := range dirs {
		dirs[i].off += uint32(start)
		putRecord(out[headHeader+i*cacheRecord:], &dirs[i])
	}
	out = append(out, blocks...)
	return le.AppendUint64(out, xxhash.Sum64(out)), nil
}
