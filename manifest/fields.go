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

// fieldWriter appends fields in ascending order of their numbers.
type fieldWriter struct{ dst []byte }

func (w *fieldWriter) number(field byte, v uint64) {
	if v != 0 {
		w.dst = append(w.dst, field<<2|shapeNumber)
		w.dst = binary.AppendUvarint(w.dst, v)
	}
}

func (w *fieldWriter) flag(field byte, v bool) {
	if v {
		w.number(field, 1)
	}
}

func (w *fieldWriter) eight(field byte, v [8]byte) {
	if v != [8]byte{} {
		w.dst = append(w.dst, field<<2|shapeEight)
		w.dst = append(w.dst, v[:]...)
	}
}

// time writes nanoseconds since 1970 in UTC; what int64 cannot hold becomes the
// nearest that it can. The zero time is left out; a time exactly at 1970 reads as the zero time.
func (w *fieldWriter) time(field byte, t time.Time) {
	if t.IsZero() {
		return
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(clampNanos(t)))
	w.eight(field, b)
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

func (w *fieldWriter) id(field byte, id oid.ID) {
	if !id.IsZero() {
		w.dst = append(w.dst, field<<2|shapeID)
		w.dst = append(w.dst, id[:]...)
	}
}

func (w *fieldWriter) text(field byte, s string) {
	if s != "" {
		w.presentText(field, s)
	}
}

// presentText writes s also when it is empty.
func (w *fieldWriter) presentText(field byte, s string) {
	w.dst = append(w.dst, field<<2|shapeText)
	w.dst = wire.AppendText(w.dst, s)
}

// packed writes text that is often a UUID or lower-case hex in half the
// bytes: the first byte says how the others are meant.
func (w *fieldWriter) packed(field byte, s string) {
	if s != "" {
		w.presentText(field, pack(s))
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

// fieldReader goes through the fields of a record.
type fieldReader struct {
	wire.Decoder
	field byte // number of the current field
	shape byte
	taken bool // its value was read
}

// next moves to the next field.
func (r *fieldReader) next() bool {
	if !r.taken {
		r.skip()
	}
	if !r.More() {
		return false
	}
	head := r.Data[r.Pos]
	if field := head >> 2; field == 0 || field <= r.field {
		r.Fail("fields not in ascending order")
		return false
	}
	r.Pos++
	r.field, r.shape, r.taken = head>>2, head&3, false
	return true
}

// at moves to a field, past unknown ones. It is false where the
// record has none.
func (r *fieldReader) at(field byte) bool {
	for r.taken || r.field < field {
		if !r.next() {
			return false
		}
	}
	return r.field == field
}

func (r *fieldReader) skip() {
	r.taken = true
	switch r.shape {
	case shapeNumber:
		r.Uvarint()
	case shapeEight:
		r.Bytes(8)
	case shapeID:
		r.Bytes(32)
	case shapeText:
		r.Decoder.Text()
	}
}

// take reports whether the current field has the shape; a known field of
// another shape is damage, not news.
func (r *fieldReader) take(shape byte) bool {
	r.taken = true
	if r.shape != shape {
		r.Fail("field of another shape")
	}
	return r.Err == nil
}

func (r *fieldReader) number() uint64 {
	if !r.take(shapeNumber) {
		return 0
	}
	v := r.Uvarint()
	if v == 0 {
		r.Fail("zero value")
	}
	return v
}

func (r *fieldReader) flag() bool {
	v := r.number()
	if v > 1 {
		r.Fail("flag beyond 1")
	}
	return v == 1
}

func (r *fieldReader) eight() (v [8]byte) {
	if !r.take(shapeEight) {
		return v
	}
	copy(v[:], r.Bytes(8))
	if v == [8]byte{} {
		r.Fail("zero value")
	}
	return v
}

func (r *fieldReader) time() time.Time {
	b := r.eight()
	if r.Err != nil {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b[:]))).UTC()
}

func (r *fieldReader) object() oid.ID {
	if !r.take(shapeID) {
		return oid.ID{}
	}
	id := oid.ID(r.ID())
	if id.IsZero() {
		r.Fail("zero value")
	}
	return id
}

func (r *fieldReader) presentText() string {
	if !r.take(shapeText) {
		return ""
	}
	return r.Decoder.Text()
}

func (r *fieldReader) text() string {
	s := r.presentText()
	if s == "" {
		r.Fail("zero value")
	}
	return s
}

func (r *fieldReader) packed() string {
	p := r.presentText()
	if r.Err != nil {
		return ""
	}
	s, ok := unpack(p)
	if !ok {
		r.Fail("text not in its canonical form")
	}
	return s
}
