package wire

import (
	"encoding/binary"
	"fmt"
)

// Decoder reads canonical bytes. The first error stays; after it, reads give zeros.
type Decoder struct {
	What string
	Data string // a string, so that what is cut from it shares its memory
	Pos  int
	Err  error
}

func (d *Decoder) Fail(reason string) {
	if d.Err == nil {
		d.Err = &FormatError{What: d.What, Offset: d.Pos, Reason: reason}
	}
}

func (d *Decoder) More() bool { return d.Err == nil && d.Pos < len(d.Data) }

// Uvarint reads a varint of at most 64 bits in its shortest form.
func (d *Decoder) Uvarint() uint64 {
	if d.Err != nil {
		return 0
	}
	var v uint64
	for i := 0; ; i++ {
		if d.Pos+i >= len(d.Data) {
			d.Fail("truncated number")
			return 0
		}
		b := d.Data[d.Pos+i]
		if i == 9 && b > 1 {
			d.Fail("number of more than 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 {
				d.Fail("number not in its shortest form")
				return 0
			}
			d.Pos += i + 1
			return v
		}
	}
}

// Bytes cuts off the next n bytes.
func (d *Decoder) Bytes(n uint64) string {
	if d.Err != nil {
		return ""
	}
	if n > uint64(len(d.Data)-d.Pos) {
		d.Fail("length beyond the end")
		return ""
	}
	s := d.Data[d.Pos : d.Pos+int(n)]
	d.Pos += int(n)
	return s
}

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if s := d.Bytes(1); s != "" {
		return s[0]
	}
	return 0
}

// AtMost reads a number up to limit.
func (d *Decoder) AtMost(limit uint64) uint64 {
	v := d.Uvarint()
	if v > limit {
		d.Fail("number too large")
		return 0
	}
	return v
}

// End is the first error, also that there is more than was read.
func (d *Decoder) End() error {
	if d.More() {
		d.Fail("trailing bytes")
	}
	return d.Err
}

// Text reads a length and that many bytes.
func (d *Decoder) Text() string { return d.Bytes(d.Uvarint()) }

func (d *Decoder) ID() (id [32]byte) {
	copy(id[:], d.Bytes(uint64(len(id))))
	return id
}

func (d *Decoder) Uint64() uint64 {
	s := d.Bytes(8)
	if d.Err != nil {
		return 0
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

func AppendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// FormatError says that bytes are not what they should be.
type FormatError struct {
	What   string // "directory manifest", "record", …
	Offset int    // where in the bytes
	Reason string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.What, e.Offset, e.Reason)
}
