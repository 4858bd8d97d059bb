package scan

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// A delta is what one scan changed, appended to the stat cache's file:
//
//	length (4) | payload | checksum (8), seeded with the checksum of the part before
//
// The payload is the stamp's difference (a 64-bit mask of changed bytes, and
// those bytes), the totals, and operations up to its end.
const (
	opPatch = 1 // a directory with the same names: fingerprints
	opPut   = 2 // a whole directory, new or replaced
	opDrop  = 3 // a directory is gone
	opConf  = 4 // other rules decided
	opRoot  = 5 // another id of the root's manifest
)

// Fields that a patch carries.
const (
	patchFP    = 2
	patchMode  = 4
	patchRules = 8
)

func deltaSum(prev uint64, payload []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(prev)
	_, _ = d.Write(payload)
	return d.Sum64()
}

// appendDelta frames a payload.
func appendDelta(dst []byte, prev uint64, payload []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint64(dst, deltaSum(prev, payload))
}

// deltas applies those that follow the base, up to the first bad one.
func (h *Cache) deltas() {
	for {
		rest := h.image[h.used:]
		if len(rest) < 12 {
			return
		}
		size := uint64(binary.LittleEndian.Uint32(rest))
		if size > uint64(len(rest)-12) {
			return
		}
		payload := rest[4 : 4+size]
		sum := binary.LittleEndian.Uint64(rest[4+size:])
		if sum != deltaSum(h.sum, payload) {
			return
		}
		if !h.apply(payload, h.used+4) {
			// Nothing that Publish writes. What came before is as good as it was,
			// but operations may have been applied: such a file is no stat cache.
			h.used = -1
			return
		}
		h.used += 12 + int(size)
		h.sum = sum
	}
}

// reader takes a payload apart; ok turns false, and stays so, when it is too short.
type reader struct {
	data []byte
	at   int
	ok   bool
}

func (r *reader) bytes(n uint64) []byte {
	if !r.ok || n > uint64(len(r.data)-r.at) {
		r.ok = false
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) uvarint() uint64 {
	if !r.ok {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.ok = false
		return 0
	}
	r.at += n
	return v
}

func (r *reader) u64() uint64 {
	if b := r.bytes(8); r.ok {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.bytes(2); r.ok {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// apply carries a payload out. at is its offset in the image.
func (h *Cache) apply(payload []byte, at int) bool {
	r := &reader{data: payload, ok: true}
	mask := r.u64()
	for i := range h.stamp {
		if mask>>i&1 != 0 {
			if b := r.bytes(1); r.ok {
				h.stamp[i] = b[0]
			}
		}
	}
	h.files, h.bytes = r.uvarint(), r.uvarint()
	for r.ok && r.at < len(payload) {
		switch op := r.bytes(1); op[0] {
		case opPatch:
			h.applyPatch(r)
		case opPut:
			h.applyPut(r, at)
		case opDrop:
			ord := r.uvarint()
			if ord == 0 || ord >= uint64(len(h.dirs)) {
				return false
			}
			h.dirs[ord] = dirRec{parent: h.dirs[ord].parent}
		case opConf:
			h.conf = r.u64()
		case opRoot:
			copy(h.root[:], r.bytes(32))
		default:
			return false
		}
	}
	return r.ok
}

func (h *Cache) applyPatch(r *reader) {
	ord := r.uvarint()
	flags := r.bytes(1)
	if !r.ok || ord >= uint64(len(h.dirs)) || h.dirs[ord].dead() {
		r.ok = false
		return
	}
	d := &h.dirs[ord]
	if flags[0]&patchFP != 0 {
		d.fp = r.u64()
	}
	if flags[0]&patchMode != 0 {
		d.mode = r.u16()
	}
	if flags[0]&patchRules != 0 {
		d.rules = r.u64()
	}
	count := r.uvarint()
	b, ok := h.block(int32(ord))
	if !ok || count > uint64(d.n) {
		r.ok = false
		return
	}
	next := uint64(0)
	for ; count > 0 && r.ok; count-- {
		gap := r.uvarint()
		fp := r.u64()
		if gap > uint64(d.n) || next+gap >= uint64(d.n) {
			r.ok = false
			return
		}
		b.setSlot(int(next+gap), fp)
		next += gap + 1
	}
}

func (h *Cache) applyPut(r *reader, at int) {
	ord, parent := r.uvarint(), r.uvarint()
	mode, flags := r.u16(), r.u16()
	fp, rules := r.u64(), r.u64()
	n, size := r.uvarint(), r.uvarint()
	off := at + r.at
	r.bytes(size)
	if !r.ok || ord > uint64(len(h.dirs)) || n > size || parent > ord {
		r.ok = false
		return
	}
	if ord == uint64(len(h.dirs)) {
		h.dirs = append(h.dirs, dirRec{})
		h.linear = false
	}
	// The root has no parent: its parent is written as 0, like that of its children.
	p := int32(parent)
	if ord == 0 {
		p = -1
	}
	h.dirs[ord] = dirRec{
		parent: p, off: uint32(off), len: uint32(size), n: uint32(n),
		mode: mode, flags: flags, fp: fp, rules: rules,
	}
	if !h.place(int(ord), uint64(off), size, uint64(len(h.image))) {
		r.ok = false
	}
}
