package ignore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/manifest/wire"
)

// The first byte of encoded rules. Under those of version 1 the agents' directories
// were left out, and nothing was precious.
const (
	encodingBefore   = 1
	encodingVersion  = 2
	encodingAccount  = 3 // with AccountPath, where there is one: programs of before refuse what they would not keep
	encodingSessions = 4 // with SessionPaths, where there are some, after AccountPath
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
// ForceInclude, Exclude, from version 2 on Precious, from version 3 on AccountPath, and in version 4
// SessionPaths; strings and lists follow their length as uvarint.
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
	switch {
	case c.agentsOut:
		version = encodingBefore
	case len(c.SessionPaths) > 0:
		version = encodingSessions
	case c.AccountPath != "":
		version = encodingAccount
	}
	b = append(b, version, flags, byte(r.capture))
	b = wire.AppendText(b, c.StorePath)
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
			b = wire.AppendText(b, s.Name)
		}
		b = wire.AppendText(b, s.Below)
		b = wire.AppendText(b, string(s.Text))
	}
	if version == encodingBefore {
		return b
	}
	b = appendStrings(b, c.Precious)
	if version >= encodingAccount {
		b = wire.AppendText(b, c.AccountPath)
	}
	if version == encodingSessions {
		b = appendStrings(b, c.SessionPaths)
	}
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = wire.AppendText(b, s)
	}
	return b
}

func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// Decode brings back what Encode wrote, and accepts nothing else. Errors: *DecodeError, *ConfigError.
func Decode(data []byte) (*Rules, error) {
	d := ruleDecoder{wire.Decoder{What: "rules", Data: string(data)}}
	version := d.byte(255)
	words := captureWords[:]
	var c Config
	switch version {
	case encodingVersion, encodingAccount, encodingSessions:
	case encodingBefore:
		c.agentsOut, words = true, words[:capturePrecious]
	default:
		d.Fail("unknown version")
	}
	flags := d.byte(flagNoIgnore | flagFoldCase)
	c.NoIgnore, c.FoldCase = flags&flagNoIgnore != 0, flags&flagFoldCase != 0
	c.CaptureIgnored = words[d.byte(byte(len(words)-1))]
	c.StorePath = d.Text()
	c.Ignore = d.strings()
	c.ForceInclude = d.strings()
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		s := Source{Own: d.byte(1) == 1}
		s.Name = d.Text()
		s.Below = d.Text()
		s.Text = []byte(d.Text())
		c.Exclude = append(c.Exclude, s)
	}
	if version != encodingBefore {
		c.Precious = d.strings()
	}
	if version == encodingAccount || version == encodingSessions {
		if c.AccountPath = d.Text(); c.AccountPath == "" && version == encodingAccount {
			d.Fail("no path of the account")
		}
	}
	if version == encodingSessions {
		if c.SessionPaths = d.strings(); len(c.SessionPaths) == 0 {
			d.Fail("no paths of sessions")
		}
	}
	var bad *wire.FormatError
	if errors.As(d.End(), &bad) {
		return nil, &DecodeError{bad.Offset, bad.Reason}
	}
	return Compile(c)
}

// ruleDecoder reads what appendTo wrote.
type ruleDecoder struct{ wire.Decoder }

// byte reads one byte of at most limit.
func (d *ruleDecoder) byte(limit byte) byte {
	b := d.Byte()
	if b > limit {
		d.Fail("value out of range")
		return 0
	}
	return b
}

func (d *ruleDecoder) strings() (list []string) {
	for n := d.count(); n > 0 && d.Err == nil; n-- {
		list = append(list, d.Text())
	}
	return list
}

// count reads a number of what follows: no more than there are bytes left.
func (d *ruleDecoder) count() uint64 { return d.AtMost(uint64(len(d.Data))) }
