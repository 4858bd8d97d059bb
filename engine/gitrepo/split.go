package gitrepo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
)

// link is the extension of a split index: which index it completes, and which
// entries of that are gone or have another status here.
type link struct {
	base              string // hexadecimal id; "": none
	deleted, replaced []byte // bitmaps, encoded
}

func parseLink(file string, data []byte, oid int) (*link, error) {
	if len(data) < oid {
		return nil, &FormatError{file, "a short link to its other half"}
	}
	l := &link{}
	if id := data[:oid]; len(bytes.Trim(id, "\x00")) > 0 {
		l.base = hex.EncodeToString(id)
	}
	if data = data[oid:]; len(data) == 0 {
		return l, nil
	}
	n, ok := bitmapLength(data)
	if !ok {
		return nil, &FormatError{file, "a damaged bitmap"}
	}
	l.deleted, data = data[:n], data[n:]
	if n, ok = bitmapLength(data); !ok || n != len(data) {
		return nil, &FormatError{file, "a damaged bitmap"}
	}
	l.replaced = data
	return l, nil
}

// bitmapLength is how many bytes an encoded bitmap has: number of bits, number of words, the words, and
// a position that is for its writer.
func bitmapLength(data []byte) (int, bool) {
	if len(data) < 12 {
		return 0, false
	}
	words := int64(binary.BigEndian.Uint32(data[4:]))
	n := 8 + 8*words + 4
	return int(n), n <= int64(len(data))
}

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 != 0 }

// decodeBitmap expands git's compressed bitmap (EWAH), of which count bits may be set: marker words
// say how many words of equal bits follow, and then how many as they are.
func decodeBitmap(data []byte, count int) (bits, bool) {
	if len(data) == 0 {
		return nil, true
	}
	size := int64(binary.BigEndian.Uint32(data))
	if size > int64(count) {
		return nil, false
	}
	need := (int(size) + 63) / 64
	out := make(bits, 0, need)
	for words := data[8 : len(data)-4]; len(words) > 0; {
		marker := binary.BigEndian.Uint64(words)
		words = words[8:]
		run, literal := marker>>1&0xffffffff, marker>>33
		if run > uint64(need-len(out)) || literal > uint64(need-len(out))-run || literal > uint64(len(words)/8) {
			return nil, false
		}
		for range run {
			out = append(out, -(marker & 1))
		}
		for range literal {
			out = append(out, binary.BigEndian.Uint64(words))
			words = words[8:]
		}
	}
	return out, true
}

// complete joins the index that a link names with what this one says itself: the entries
// without a name replace those of the bitmap, one by one, and all others are new.
func (x *indexParser) complete(file indexFile, l *link) (*indexParser, error) {
	if l.base == "" {
		if len(x.nameless) > 0 {
			return nil, &FormatError{file.name, "entries without a name"}
		}
		return x, nil
	}
	f, err := file.shared(l.base)
	if err != nil {
		return nil, &UnsupportedError{file.name, "a split index whose other half cannot be read (" + err.Error() + ")"}
	}
	defer f.Close() // read only: nothing can be lost
	half := indexFile{name: f.Name(), from: f, size: f.size, oid: file.oid}
	base, err := half.parse(func(p *indexParser, count int) string {
		var ok1, ok2 bool
		p.deleted, ok1 = decodeBitmap(l.deleted, count)
		p.replaced, ok2 = decodeBitmap(l.replaced, count)
		if !ok1 || !ok2 {
			return "a bitmap that does not fit"
		}
		p.replacements = x.nameless
		return ""
	})
	if err != nil {
		return nil, err
	}
	if len(base.replacements) > 0 {
		return nil, &FormatError{file.name, "more replacements than replaced entries"}
	}
	base.set = merge(base.set, x.set)
	base.sparse, base.rules = join(base.sparse, x.sparse), join(base.rules, x.rules)
	return base, nil
}

// join merges entries by name; those of b win.
func join(a, b []indexed) []indexed {
	if len(b) == 0 {
		return a
	}
	list := append(slices.Clone(b), a...)
	slices.SortStableFunc(list, func(a, b indexed) int { return strings.Compare(a.name, b.name) })
	return slices.CompactFunc(list, func(a, b indexed) bool { return a.name == b.name })
}

// merge is the union of two sets.
func merge(a, b *Tracked) *Tracked {
	if b.Len() == 0 {
		return a
	}
	out := &Tracked{names: make([]byte, 0, len(a.names)+len(b.names)), starts: make([]uint32, 0, a.Len()+b.Len())}
	for i, j := 0, 0; i < a.Len() || j < b.Len(); {
		c := 0
		switch {
		case i == a.Len():
			c = 1
		case j == b.Len():
			c = -1
		default:
			c = bytes.Compare(a.name(i), b.name(j))
		}
		from := a
		k := i
		if c > 0 {
			from, k = b, j
		}
		out.starts = append(out.starts, uint32(len(out.names)))
		out.names = append(append(out.names, from.name(k)...), 0)
		if c <= 0 {
			i++
		}
		if c >= 0 {
			j++
		}
	}
	return out
}
