package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/hookio/jsonscan"
)

// edit is a change of a line's members; the rest stays byte for byte.
type edit struct {
	key   string
	value []byte // JSON
	add   bool   // also where the line has no such member
	in    string // the object whose member it is, with a slash between the keys that lead to it; "" for the line itself
}

var errNoObject = errors.New("the line is not a JSON object")

// splice appends line with its top-level members edited. It works on positions
// that the scanner gives, never on text that looks alike: the same key, or the
// same value, further inside is left alone.
func splice(dst, line []byte, edits ...edit) ([]byte, error) {
	s := jsonscan.Line(line)
	if s.Peek() != '{' {
		return dst, errNoObject
	}
	s.Object()
	copied, members := 0, 0
	had := make([]bool, len(edits))
	for {
		key, ok := s.Key()
		if !ok {
			break
		}
		members++
		hit := -1
		var inner []edit
		for i, e := range edits {
			first, rest, _ := strings.Cut(e.in, "/")
			switch {
			case e.in != "" && string(key) == first:
				e.in = rest
				inner = append(inner, e)
			case e.in == "" && string(key) == e.key:
				hit = i
			}
		}
		s.Peek() // the value's first byte
		from := s.Pos()
		s.Skip()
		if s.Bad() || hit < 0 && (inner == nil || line[from] != '{') {
			continue
		}
		dst = append(dst, line[copied:from]...)
		copied = s.Pos()
		if hit >= 0 {
			dst = append(dst, edits[hit].value...)
			had[hit] = true
			continue
		}
		var err error
		if dst, err = splice(dst, line[from:s.Pos()], inner...); err != nil {
			return dst, err
		}
	}
	if !s.Finish() {
		return dst, errNoObject
	}
	brace := bytes.LastIndexByte(line, '}')
	dst = append(dst, line[copied:brace]...)
	for i, e := range edits {
		if had[i] || !e.add || e.in != "" {
			continue
		}
		if members > 0 {
			dst = append(dst, ',')
		}
		members++
		dst = append(dst, quote(e.key)...)
		dst = append(dst, ':')
		dst = append(dst, e.value...)
	}
	return append(dst, line[brace:]...), nil
}

// object is a JSON object of names and strings in turn.
func object(members ...string) []byte {
	b := []byte{'{'}
	for i := 0; i < len(members); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, quote(members[i])...), ':'), quote(members[i+1])...)
	}
	return append(b, '}')
}

// quote is a JSON string, without the escapes that only HTML needs.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
