package manifest

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// A record is a byte for what it is and then fields, each a byte number<<2|shape, then the value.
// Numbers ascend, and zero values are left out: that makes the bytes canonical.
// A reader skips numbers that it does not know, by their shape.
const (
	shapeNumber = 0 // uvarint
	shapeEight  = 1 // 8 bytes
	shapeID     = 2 // 32 bytes
	shapeText   = 3 // uvarint length, bytes
)

// codec goes through the fields of a record in the order of their numbers, and either appends each to dst
// or reads it from in: the fields of a record are listed once. It is never passed through an interface or a
// function value, which would put it on the heap for each record.
type codec struct {
	dst []byte

	reading bool
	in      wire.Decoder
	field   byte // number of the field that was reached
	shape   byte
	pending bool // its value was not read yet
}

func reader(what, data string) codec {
	return codec{reading: true, in: wire.Decoder{What: what, Data: data}}
}

// head begins a field.
func (c *codec) head(n, shape byte) { c.dst = append(c.dst, n<<2|shape) }

// at moves to a field whose value is to be read now, past unknown ones. It is false where the record has no such field.
// A known field of another shape is damage, not news.
func (c *codec) at(n, shape byte) bool {
	for !c.pending || c.field < n {
		if !c.next() {
			return false
		}
	}
	if c.field != n {
		return false
	}
	if c.pending = false; c.shape != shape {
		c.in.Fail("field of another shape")
	}
	return c.in.Err == nil
}

// next moves to the next field.
func (c *codec) next() bool {
	if c.pending {
		c.skip()
	}
	if !c.in.More() {
		return false
	}
	head := c.in.Data[c.in.Pos]
	if field := head >> 2; field == 0 || field <= c.field {
		c.in.Fail("fields not in ascending order")
		return false
	}
	c.in.Pos++
	c.field, c.shape, c.pending = head>>2, head&3, true
	return true
}

func (c *codec) skip() {
	switch c.shape {
	case shapeNumber:
		c.in.Uvarint()
	case shapeEight:
		c.in.Bytes(8)
	case shapeID:
		c.in.Bytes(32)
	case shapeText:
		c.in.Text()
	}
}

// end skips the fields that are not known, and gives the first error.
func (c *codec) end() error {
	for c.next() {
	}
	return c.in.Err
}

func (c *codec) number(n byte, v *uint64) {
	if !c.reading && *v != 0 {
		c.head(n, shapeNumber)
		c.dst = binary.AppendUvarint(c.dst, *v)
	} else if c.reading && c.at(n, shapeNumber) {
		if *v = c.in.Uvarint(); *v == 0 {
			c.in.Fail("zero value")
		}
	}
}

func (c *codec) flag(n byte, v *bool) {
	var number uint64
	if *v {
		number = 1
	}
	if c.number(n, &number); number > 1 {
		c.in.Fail("flag beyond 1")
	}
	*v = number == 1
}

func (c *codec) eight(n byte, v *CheckpointID) {
	if !c.reading && !v.IsZero() {
		c.head(n, shapeEight)
		c.dst = append(c.dst, v[:]...)
	} else if c.reading && c.at(n, shapeEight) {
		if copy(v[:], c.in.Bytes(8)); v.IsZero() {
			c.in.Fail("zero value")
		}
	}
}

// time is nanoseconds since 1970 in UTC; what int64 cannot hold becomes the
// nearest that it can. The zero time is left out; a time exactly at 1970 reads as the zero time.
func (c *codec) time(n byte, v *time.Time) {
	var b CheckpointID
	if !v.IsZero() {
		binary.BigEndian.PutUint64(b[:], uint64(clampNanos(*v)))
	}
	if c.eight(n, &b); c.reading && !b.IsZero() {
		*v = time.Unix(0, int64(binary.BigEndian.Uint64(b[:]))).UTC()
	}
}

func clampNanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func (c *codec) object(n byte, v *oid.ID) {
	if !c.reading && !v.IsZero() {
		c.head(n, shapeID)
		c.dst = append(c.dst, v[:]...)
	} else if c.reading && c.at(n, shapeID) {
		if *v = c.in.ID(); v.IsZero() {
			c.in.Fail("zero value")
		}
	}
}

func (c *codec) text(n byte, v *string) {
	if !c.reading && *v == "" {
		return
	}
	if c.presentText(n, v) && *v == "" {
		c.in.Fail("zero value")
	}
}

// presentText is a text that may be empty. It reports whether there is one.
func (c *codec) presentText(n byte, v *string) bool {
	if !c.reading {
		c.head(n, shapeText)
		c.dst = wire.AppendText(c.dst, *v)
		return true
	}
	if !c.at(n, shapeText) {
		return false
	}
	*v = c.in.Text()
	return c.in.Err == nil
}

// packed is a text that is often a UUID or lower-case hex, in half the
// bytes: the first byte says how the others are meant.
func (c *codec) packed(n byte, v *string) {
	var p string
	if !c.reading && *v != "" {
		p = pack(*v)
		c.presentText(n, &p)
	} else if c.reading && c.presentText(n, &p) {
		var ok bool
		if *v, ok = unpack(p); !ok {
			c.in.Fail("text not in its canonical form")
		}
	}
}

const (
	packedRaw  = 0
	packedHex  = 1
	packedUUID = 2 // 8-4-4-4-12 hex digits
)

func pack(s string) string {
	if b, ok := unhex(s); ok {
		return string(append([]byte{packedHex}, b...))
	}
	if len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' {
		if b, ok := unhex(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]); ok {
			return string(append([]byte{packedUUID}, b...))
		}
	}
	return string([]byte{packedRaw}) + s
}

// unhex decodes lower-case hex; hex in upper case would not come back as it was.
func unhex(s string) ([]byte, bool) {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return nil, false
		}
	}
	b, err := hex.DecodeString(s)
	return b, err == nil && len(b) > 0
}

func unpack(p string) (s string, ok bool) {
	if p == "" {
		return "", false
	}
	switch form, body := p[0], p[1:]; form {
	case packedRaw:
		s = body
	case packedHex:
		s = hex.EncodeToString([]byte(body))
	case packedUUID:
		if len(body) != 16 {
			return "", false
		}
		h := hex.EncodeToString([]byte(body))
		s = h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
	}
	// One text has one form.
	return s, s != "" && pack(s) == p
}

// list is a text that is made of parts: these are written, or the decoder returned has what was read. What is wrong
// with a part is reported with fail.
func (c *codec) list(n byte, parts []byte) wire.Decoder {
	text := string(parts)
	if c.text(n, &text); !c.reading {
		text = ""
	}
	return wire.Decoder{What: c.in.What, Data: text}
}

// fail reports what is wrong in a part of a field.
func (c *codec) fail(where string, err error) {
	if err != nil {
		c.in.Fail(where + err.Error())
	}
}

// idList is ids, one behind the other.
func idList[T CheckpointID | oid.ID](c *codec, n byte, v *[]T) {
	var list []byte
	for _, id := range *v {
		list = append(list, bytesOf(&id)...)
	}
	parts := c.list(n, list)
	size := len(*new(T))
	if len(parts.Data)%size != 0 {
		c.in.Fail("list of ids cut short")
		return
	}
	for parts.More() {
		var id T
		copy(bytesOf(&id), parts.Bytes(uint64(size)))
		*v = append(*v, id)
	}
}

func bytesOf[T CheckpointID | oid.ID](id *T) []byte {
	switch id := any(id).(type) {
	case *CheckpointID:
		return id[:]
	case *oid.ID:
		return id[:]
	}
	return nil
}

// seqList is ascending sequence numbers: each a varint, less the one before.
func seqList(c *codec, n byte, v *[]uint64) {
	var list []byte
	var last uint64
	for _, seq := range *v {
		list = binary.AppendUvarint(list, seq-last)
		last = seq
	}
	parts := c.list(n, list)
	for last = 0; parts.More(); {
		step := parts.Uvarint()
		if parts.Err == nil && (step == 0 || last+step < last) {
			parts.Fail("sequence numbers not in ascending order")
		}
		last += step
		*v = append(*v, last)
	}
	c.fail("", parts.Err)
}
