package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"os"
)

// unpack reads the object at an offset of a pack: the chain of deltas down to a whole one, then back up.
func (o *objects) unpack(f *os.File, size, at int64) (objectType, []byte, error) {
	bad := func() (objectType, []byte, error) { return 0, nil, &FormatError{f.Name(), "a damaged object"} }
	var deltas [][]byte
	for range maxDeltaChain {
		r := bufio.NewReader(io.NewSectionReader(f, at, size-at))
		typ, length, ok := packHeader(r)
		if !ok || at < 0 || length > maxObject {
			return bad()
		}
		base, id := int64(0), make([]byte, o.oid)
		switch typ {
		case offsetDelta:
			head, _ := r.Peek(9) // fewer are left at the end
			back, n := offsetVarint(head)
			if _, err := r.Discard(n); err != nil || back == 0 || back > uint64(at) {
				return bad()
			}
			base = at - int64(back)
		case refDelta:
			if _, err := io.ReadFull(r, id); err != nil {
				return bad()
			}
		}
		z, err := zlib.NewReader(r)
		if err != nil {
			return bad()
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(z, data); err != nil {
			return bad()
		}
		switch typ {
		case offsetDelta:
			deltas, at = append(deltas, data), base
			continue
		case refDelta:
			deltas = append(deltas, data)
			// In a pack on disk the base is in the same one.
			if at, ok = o.lookUp(f.Name()[:len(f.Name())-len("pack")]+"idx", string(id)); !ok {
				return bad()
			}
			continue
		}
		for i := len(deltas) - 1; i >= 0; i-- {
			if data, ok = applyDelta(data, deltas[i]); !ok {
				return bad()
			}
		}
		return typ, data, nil
	}
	return bad()
}

// packHeader reads type and size of an object.
func packHeader(r io.ByteReader) (typ objectType, size int64, ok bool) {
	b, err := r.ReadByte()
	typ, size = objectType(b>>4&7), int64(b&15)
	for shift := 4; err == nil && b&0x80 != 0; shift += 7 {
		if shift > 50 {
			return 0, 0, false
		}
		b, err = r.ReadByte()
		size |= int64(b&0x7f) << shift
	}
	return typ, size, err == nil
}

// applyDelta makes an object from its base: copies from that, and new bytes.
func applyDelta(base, delta []byte) ([]byte, bool) {
	from, n := binary.Uvarint(delta)
	to, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || from != uint64(len(base)) || to > maxObject {
		return nil, false
	}
	delta = delta[n+m:]
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			n := int(op)
			if n == 0 || n > len(delta) {
				return nil, false
			}
			out, delta = append(out, delta[:n]...), delta[n:]
		} else {
			var v [7]int64
			for i := range v {
				if op>>i&1 != 0 {
					if len(delta) == 0 {
						return nil, false
					}
					v[i], delta = int64(delta[0]), delta[1:]
				}
			}
			at, n := v[0]|v[1]<<8|v[2]<<16|v[3]<<24, v[4]|v[5]<<8|v[6]<<16
			if n == 0 {
				n = 0x10000
			}
			if at+n > int64(len(base)) {
				return nil, false
			}
			out = append(out, base[at:at+n]...)
		}
		if uint64(len(out)) > to {
			return nil, false
		}
	}
	return out, uint64(len(out)) == to
}

// PackIDs reads the ids of a pack's objects from its index, of version 1 or 2: ascending, size bytes each, one after the
// other. Errors: *FormatError, of the file system.
func PackIDs(file string, size int) ([]byte, error) {
	data, err := readFile(file, 1<<31)
	if err != nil {
		return nil, err
	}
	start, step, skip := 0, 4+size, 4
	if bytes.HasPrefix(data, []byte("\xfftOc\x00\x00\x00\x02")) {
		start, step, skip = 8, size, 0
	}
	table := start + 256*4
	if len(data) < table {
		return nil, &FormatError{file, "not the index of a pack"}
	}
	count := int64(binary.BigEndian.Uint32(data[table-4:]))
	if count*int64(step) > int64(len(data)-table) {
		return nil, &FormatError{file, "not the index of a pack"}
	}
	table, end := table, table+int(count)*step
	if skip == 0 {
		return data[table:end], nil
	}
	ids := make([]byte, 0, int(count)*size)
	for at := table; at < end; at += step {
		ids = append(ids, data[at+skip:at+step]...)
	}
	return ids, nil
}
