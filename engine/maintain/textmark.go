package maintain

import (
	"bytes"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// textMark removes texts from messages: each match of one of the patterns is replaced by as many
// bytes of a mark, so that JSON stays JSON and every offset what it was. Matches may overlap.
type textMark []*regexp.Regexp

// markLevels is how often a text may be escaped: a tool's JSON in a string of a string.
const markLevels = 4

// lines marks what JSON lines, or plain text, hold, in place, and counts the places.
func (m textMark) lines(data []byte) (n int) {
	for part, isJSON := range parts(data) {
		if isJSON {
			n += m.json(part)
		} else {
			n += m.text(part, 0)
		}
	}
	return n
}

// parts cuts data into lines that are JSON, and runs of plain text between them.
func parts(data []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for len(data) > 0 {
			end := len(data)
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				end = i + 1
			}
			if line := bytes.TrimSpace(data[:end]); len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line) {
				if !yield(line, true) {
					return
				}
				data = data[end:]
				continue
			}
			// Plain text extends to the next line that is JSON: a match may go across lines.
			for end < len(data) && data[end] != '{' {
				i := bytes.IndexByte(data[end:], '\n')
				if i < 0 {
					end = len(data)
					break
				}
				end += i + 1
			}
			if !yield(data[:end], false) {
				return
			}
			data = data[end:]
		}
	}
}

// json marks the strings and numbers of one valid JSON value.
func (m textMark) json(line []byte) (n int) {
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case b == '"':
			from := i + 1
			for i++; line[i] != '"'; i++ {
				if line[i] == '\\' {
					i++
				}
			}
			n += m.text(line[from:i], 1)
		case b == '-' || b >= '0' && b <= '9':
			from := i
			for i < len(line) && bytes.IndexByte([]byte("+-.eE0123456789"), line[i]) >= 0 {
				i++
			}
			if slices.ContainsFunc(m, func(re *regexp.Regexp) bool { return re.Match(line[from:i]) }) {
				n++
				for j := from; j < i; j++ {
					line[j] = '1' // a number it stays
				}
			}
			i--
		}
	}
	return n
}

// text marks a text, raw and with its escapes undone, from a level on.
func (m textMark) text(raw []byte, level int) (n int) {
	var ranges [][2]int
	d := decodedText{text: raw}
	for at := 0; at < markLevels; at++ {
		if at >= level {
			for _, re := range m {
				for _, hit := range re.FindAllIndex(d.text, -1) {
					if hit[0] < hit[1] {
						ranges = append(ranges, [2]int{d.from(hit[0]), d.to(hit[1] - 1)})
					}
				}
			}
		}
		if at >= level && bytes.IndexByte(d.text, '\\') < 0 {
			break
		}
		d = d.unescape()
	}
	for _, r := range ranges {
		if fill(raw[r[0]:r[1]]) {
			n++
		}
	}
	return n
}

// fill writes the mark over a text; false where it is there already.
func fill(b []byte) bool {
	const word = transcript.ForgottenMark
	was := bytes.Clone(b)
	for i := range b {
		b[i] = '*'
	}
	if len(b) >= len(word) {
		copy(b, word)
	}
	return !bytes.Equal(was, b)
}

// decodedText is a text and where each of its bytes begins and ends in what was decoded; nil: there.
type decodedText struct {
	text       []byte
	start, end []int
}

func (d decodedText) from(i int) int {
	if d.start == nil {
		return i
	}
	return d.start[i]
}

func (d decodedText) to(i int) int {
	if d.end == nil {
		return i + 1
	}
	return d.end[i]
}

// unescape undoes one level of JSON's escapes. What is none stays.
func (d decodedText) unescape() decodedText {
	var out decodedText
	add := func(text []byte, from, to int) {
		for _, b := range text {
			out.text = append(out.text, b)
			out.start = append(out.start, d.from(from))
			out.end = append(out.end, d.to(to-1))
		}
	}
	short := map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
	for i := 0; i < len(d.text); i++ {
		if d.text[i] != '\\' || i+1 == len(d.text) {
			add(d.text[i:i+1], i, i+1)
			continue
		}
		if b, ok := short[d.text[i+1]]; ok {
			add([]byte{b}, i, i+2)
			i++
			continue
		}
		r, size := unicodeEscape(d.text[i:])
		if size == 0 {
			add(d.text[i:i+1], i, i+1)
			continue
		}
		add(utf8.AppendRune(nil, r), i, i+size)
		i += size - 1
	}
	return out
}

// unicodeEscape reads \uXXXX, or two of them that are one character.
func unicodeEscape(b []byte) (r rune, size int) {
	one := func(b []byte) (rune, bool) {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(b[2:6]), 16, 32)
		return rune(v), err == nil
	}
	r, ok := one(b)
	if !ok {
		return 0, 0
	}
	if r >= 0xD800 && r < 0xDC00 {
		if low, ok := one(b[6:]); ok && low >= 0xDC00 && low < 0xE000 {
			return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, 12
		}
	}
	return r, 6
}
