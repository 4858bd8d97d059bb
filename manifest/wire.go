package manifest

import "encoding/binary"

// decoder reads canonical bytes. The first error stays; after it, reads give zeros.
type decoder struct {
	what string
	data string // a string, so that what is cut from it shares its memory
	pos  int
	err  error
}

func (d *decoder) fail(reason string) {
	if d.err == nil {
		d.err = &FormatError{What: d.what, Offset: d.pos, Reason: reason}
	}
}

func (d *decoder) more() bool { return d.err == nil && d.pos < len(d.data) }

// uvarint reads a varint of at most 64 bits in its shortest form.
func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	var v uint64
	for i := 0; ; i++ {
		if d.pos+i >= len(d.data) {
			d.fail("truncated number")
			return 0
		}
		b := d.data[d.pos+i]
		if i == 9 && b > 1 {
			d.fail("number of more than 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				d.fail("number not in its shortest form")
				return 0
			}
			d.pos += i + 1
			return v
		}
	}
}

// bytes cuts off the next n bytes.
func (d *decoder) bytes(n uint64) string {
	if d.err != nil {
		return ""
	}
	if n > uint64(len(d.data)-d.pos) {
		d.fail("length beyond the end")
		return ""
	}
	s := d.data[d.pos : d.pos+int(n)]
	d.pos += int(n)
	return s
}

// text reads a length and that many bytes.
func (d *decoder) text() string { return d.bytes(d.uvarint()) }

func (d *decoder) id() (id ID) {
	copy(id[:], d.bytes(uint64(len(id))))
	return id
}

func (d *decoder) uint64() uint64 {
	s := d.bytes(8)
	if d.err != nil {
		return 0
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
