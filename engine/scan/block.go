package scan

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// block is a directory's part of the image:
//
//	own name, NUL | n kind bytes | n slots of 8 bytes | n names, each with NUL | reasons
//
// Entries are in ascending order of their names. A slot holds a fingerprint
// or, of a directory, its ordinal. Reasons are those of the entries with
// flagReason, in order: a 2-byte length and the text; the length 0xffff
// repeats the reason before.
type block struct {
	name  []byte
	kinds []byte
	slots []byte
	tail  []byte // names and reasons
}

const sameReason = 0xffff

// block takes a directory's block apart. It is false for a block that does not fit its record.
func (h *Cache) block(ord int32) (block, bool) {
	d := &h.dirs[ord]
	return splitBlock(h.image[d.off:d.off+d.len], int(d.n))
}

func splitBlock(data []byte, n int) (b block, ok bool) {
	nul := bytes.IndexByte(data, 0)
	if nul < 0 || len(data)-nul-1 < 9*n {
		return b, false
	}
	b.name, data = data[:nul], data[nul+1:]
	b.kinds, data = data[:n], data[n:]
	b.slots, b.tail = data[:8*n], data[8*n:]
	return b, true
}

func (b *block) slot(i int) uint64       { return binary.LittleEndian.Uint64(b.slots[8*i:]) }
func (b *block) setSlot(i int, v uint64) { binary.LittleEndian.PutUint64(b.slots[8*i:], v) }

// record is an entry as the stat cache knows it.
type record struct {
	name   string
	kind   byte // with flags
	slot   uint64
	reason string
}

// records decodes a directory's block, and checks everything in it: names that
// could be on disk, in order, slots of directories that point back here.
func (h *Cache) records(ord int32) ([]record, bool) {
	b, ok := h.block(ord)
	if !ok {
		return nil, false
	}
	list, ok := b.records()
	if !ok {
		return nil, false
	}
	for i := range list {
		if list[i].kind&kindMask != kindDir {
			continue
		}
		slot := list[i].slot
		if slot >= uint64(len(h.dirs)) || h.dirs[slot].parent != ord {
			return nil, false
		}
		if child, ok := h.block(int32(slot)); !ok || string(child.name) != list[i].name {
			return nil, false
		}
	}
	return list, true
}

// records decodes the entries, whose slots may be anything.
func (b *block) records() ([]record, bool) {
	text := string(b.tail)
	list := make([]record, len(b.kinds))
	at := 0
	for i := range list {
		r := &list[i]
		nul := strings.IndexByte(text[at:], 0)
		if nul < 0 {
			return nil, false
		}
		r.name, r.kind, r.slot = text[at:at+nul], b.kinds[i], b.slot(i)
		at += nul + 1
		if !validName(r.name) || i > 0 && list[i-1].name >= r.name {
			return nil, false
		}
		if kind := r.kind & kindMask; kind == 0 || kind > kindFailed {
			return nil, false
		}
	}
	reason := ""
	for i := range list {
		if list[i].kind&flagReason == 0 {
			continue
		}
		if len(text)-at < 2 {
			return nil, false
		}
		size := int(text[at]) | int(text[at+1])<<8
		at += 2
		if size != sameReason {
			if len(text)-at < size {
				return nil, false
			}
			reason = text[at : at+size]
			at += size
		}
		list[i].reason = reason
	}
	return list, at == len(text)
}

func validName(s string) bool {
	return s != "" && s != "." && s != ".." && strings.IndexByte(s, '/') < 0
}

// appendBlock is the inverse of records. It returns the flags for the directory's record.
func appendBlock(dst []byte, name string, list []record) ([]byte, uint16) {
	dst = append(dst, name...)
	dst = append(dst, 0)
	for i := range list {
		dst = append(dst, list[i].kind)
	}
	for i := range list {
		dst = binary.LittleEndian.AppendUint64(dst, list[i].slot)
	}
	for i := range list {
		dst = append(dst, list[i].name...)
		dst = append(dst, 0)
	}
	var flags uint16
	last := ""
	for i := range list {
		r := &list[i]
		if r.kind&flagReason == 0 {
			continue
		}
		if flags != 0 && r.reason == last {
			dst = binary.LittleEndian.AppendUint16(dst, sameReason)
			continue
		}
		flags, last = hasReasons, r.reason
		text := r.reason
		if len(text) >= sameReason {
			text = text[:sameReason-1]
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(text)))
		dst = append(dst, text...)
	}
	return dst, flags
}

// path is a directory's path below the root, "" for the root itself.
func (h *Cache) path(ord int32) string {
	var parts [][]byte
	for ; ord > 0; ord = h.dirs[ord].parent {
		b, _ := h.block(ord)
		parts = append(parts, b.name)
	}
	var s strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		if s.Len() > 0 {
			s.WriteByte('/')
		}
		s.Write(parts[i])
	}
	return s.String()
}
