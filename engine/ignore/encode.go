package ignore

import (
	"encoding/binary"
	"fmt"
)

// The first byte of encoded rules. Under those of version 1 the agents' directories
// were left out, and nothing was precious.
const (
	encodingBefore  = 1
	encodingVersion = 2
)

// Flags of encoded rules.
const (
	flagNoIgnore = 1
	flagFoldCase = 2
)

// DecodeError says where encoded rules stop making sense.
type DecodeError struct {
	Offset int
	Reason string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("encoded ignore rules: byte %d: %s", e.Offset, e.Reason)
}

// Encode keeps the rules of a checkpoint, so that restore can ask them later:
// the same Config gives the same bytes. Git's index is not part of it: what
// Decode returns holds an ignored file to be left out also if git tracked it,
// which makes restore the more careful.
func (r *Rules) Encode() []byte { return r.appendTo(nil, true) }

// appendTo writes version, flags, captureIgnored, StorePath, Ignore,
// ForceInclude, Exclude and, from version 2 on, Precious; strings and lists follow their length as uvarint.
func (r *Rules) appendTo(b []byte, names bool) []byte {
	c := &r.config
	flags := byte(0)
	if c.NoIgnore {
		flags = flagNoIgnore
	}
	if c.FoldCase {
		flags |= flagFoldCase
	}
	version := byte(encodingVersion)
	if c.agentsOut {
		version = encodingBefore
	}
	b = append(b, version, flags, byte(r.capture))
	b = appendString(b, c.StorePath)
	b = appendStrings(b, c.Ignore)
	b = appendStrings(b, c.ForceInclude)
	b = binary.AppendUvarint(b, uint64(len(c.Exclude)))
	for _, s := range c.Exclude {
		own := byte(0)
		if s.Own {
			own = 1
		}
		b = append(b, own)
		if names {
			b = appendString(b, s.Name)
		}
		b = appendString(b, s.Below)
		b = appendString(b, string(s.Text))
	}
	if version == encodingBefore {
		return b
	}
	return appendStrings(b, c.Precious)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// Decode brings back what Encode wrote, and accepts nothing else. Errors: *DecodeError, *ConfigError.
func Decode(data []byte) (*Rules, error) {
	d := decoder{data: data}
	version := d.byte(255)
	words := captureWords[:]
	var c Config
	switch version {
	case encodingVersion:
	case encodingBefore:
		c.agentsOut, words = true, words[:capturePrecious]
	default:
		if d.err == nil {
			d.fail("unknown version")
		}
	}
	flags := d.byte(flagNoIgnore | flagFoldCase)
	c.NoIgnore, c.FoldCase = flags&flagNoIgnore != 0, flags&flagFoldCase != 0
	c.CaptureIgnored = words[d.byte(byte(len(words)-1))]
	c.StorePath = d.string()
	c.Ignore = d.strings()
	c.ForceInclude = d.strings()
	for n := d.count(); n > 0 && d.err == nil; n-- {
		s := Source{Own: d.byte(1) == 1}
		s.Name = d.string()
		s.Below = d.string()
		s.Text = []byte(d.string())
		c.Exclude = append(c.Exclude, s)
	}
	if version == encodingVersion {
		c.Precious = d.strings()
	}
	if d.err == nil && d.at != len(data) {
		d.fail("trailing bytes")
	}
	if d.err != nil {
		return nil, d.err
	}
	return Compile(c)
}

// decoder reads data; after the first failure it gives zero values.
type decoder struct {
	data []byte
	at   int
	err  error
}

func (d *decoder) fail(reason string) {
	if d.err == nil {
		d.err = &DecodeError{d.at, reason}
	}
}

// byte reads one byte of at most limit.
func (d *decoder) byte(limit byte) byte {
	if d.err != nil {
		return 0
	}
	if d.at >= len(d.data) {
		d.fail("cut off")
		return 0
	}
	b := d.data[d.at]
	if b > limit {
		d.fail("value out of range")
		return 0
	}
	d.at++
	return b
}

// count reads a length: no more than there are bytes left, and in its shortest form.
func (d *decoder) count() int {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.data[d.at:])
	if n <= 0 || n > 1 && d.data[d.at+n-1] == 0 {
		d.fail("bad length")
		return 0
	}
	if v > uint64(len(d.data)-d.at-n) {
		d.fail("cut off")
		return 0
	}
	d.at += n
	return int(v)
}

func (d *decoder) string() string {
	n := d.count()
	if d.err != nil {
		return ""
	}
	s := string(d.data[d.at : d.at+n])
	d.at += n
	return s
}

func (d *decoder) strings() []string {
	var list []string
	for n := d.count(); n > 0 && d.err == nil; n-- {
		list = append(list, d.string())
	}
	return list
}
