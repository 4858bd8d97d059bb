package register

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Edits of settings files are splices of their text, so that every byte which
// is not ours stays. Each one can be found again and taken back exactly:
//
//   - Something is appended as the last item of an object or array, before the
//     white space in front of the closing bracket; a comma goes right behind
//     the item before it. Removing an item takes its comma and the white space
//     in front of it.
//   - An object or array that we make begins its first item right behind the
//     bracket, or on the next line. One that was there and empty keeps what is
//     inside, and gets our item after an empty line (after one blank, where
//     the file is written in one line): so it is known to have been there.

// maxSettingsBytes bounds a settings file, maxSettingsDepth its nesting.
const (
	maxSettingsBytes = 16 << 20
	maxSettingsDepth = 200
)

const blanks = " \t\r\n"

// NotJSONError: a settings file cannot be understood. It was left as it is.
type NotJSONError struct{ Err error }

func (e *NotJSONError) Error() string { return "not valid JSON: " + e.Err.Error() }
func (e *NotJSONError) Unwrap() error { return e.Err }

// ShapeError: the file is JSON, but something in it is not of the kind that
// agents expect there. It was left as it is.
type ShapeError struct{ Key, Want string }

func (e *ShapeError) Error() string { return fmt.Sprintf("%q is not %s", e.Key, e.Want) }

// parseSettings parses JSON with comments, trailing commas and a byte order
// mark. Offsets are those of b. o is nil for an empty or missing file.
func parseSettings(b []byte) (o *hujson.Object, root hujson.Value, err error) {
	if len(b) > maxSettingsBytes {
		return nil, root, &NotJSONError{fmt.Errorf("larger than %d bytes", maxSettingsBytes)}
	}
	text := append(bytes.Clone(b), '\n') // the parser wants a line comment to end, also at the end of the file
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		copy(text, "   ")
	}
	if len(bytes.Trim(text, blanks)) == 0 {
		return nil, root, nil
	}
	if nesting(text) > maxSettingsDepth {
		return nil, root, &NotJSONError{fmt.Errorf("nested deeper than %d", maxSettingsDepth)}
	}
	if root, err = hujson.Parse(text); err != nil {
		return nil, root, &NotJSONError{errors.New(strings.TrimPrefix(err.Error(), "hujson: "))}
	}
	o, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, root, &NotJSONError{errors.New("not an object")}
	}
	return o, root, nil
}

// nesting is the deepest nesting in b, strings and comments left out.
func nesting(b []byte) int {
	var now, most int
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			now++
			most = max(most, now)
		case '}', ']':
			now--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '/':
			end := commentEnd(b[i:])
			if end == 0 {
				continue
			}
			i += end - 1
		}
	}
	return most
}

// commentEnd is the length of the comment at the beginning of b, its line's end
// included; 0 where there is none.
func commentEnd(b []byte) int {
	start, end := "//", "\n"
	if bytes.HasPrefix(b, []byte("/*")) {
		start, end = "/*", "*/"
	} else if !bytes.HasPrefix(b, []byte("//")) {
		return 0
	}
	i := bytes.Index(b[len(start):], []byte(end))
	if i < 0 {
		return len(b)
	}
	return len(start) + i + len(end)
}

// hasComment and endsInLineComment look at the text between two items.
func hasComment(extra []byte) bool { return bytes.IndexByte(extra, '/') >= 0 }

func endsInLineComment(extra []byte) (line bool) {
	for i := 0; i < len(extra); {
		if n := commentEnd(extra[i:]); n > 0 {
			line = extra[i+1] == '/'
			i += n
			continue
		}
		i++
	}
	return line
}

// item is a member of an object or an element of an array.
type item struct {
	name       string
	start, end int // of the text, name included
	value      hujson.Value
	before     []byte // white space and comments in front
	after      []byte // between the value and its comma
}

// container is an object or array in the text.
type container struct {
	start, end int
	items      []item
	trailing   bool // the last item has a comma
}

// containerOf returns the items of an object or array; ok is false for other
// values.
func containerOf(v hujson.Value) (c container, ok bool) {
	c.start, c.end = v.StartOffset, v.EndOffset
	switch t := v.Value.(type) {
	case *hujson.Object:
		for _, m := range t.Members {
			c.items = append(c.items, item{m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, m.Value.EndOffset, m.Value, m.Name.BeforeExtra, m.Value.AfterExtra})
		}
	case *hujson.Array:
		for _, e := range t.Elements {
			c.items = append(c.items, item{"", e.StartOffset, e.EndOffset, e, e.BeforeExtra, e.AfterExtra})
		}
	default:
		return c, false
	}
	if n := len(c.items); n > 0 {
		c.trailing = c.items[n-1].after != nil
	}
	return c, true
}

// member is the last one of that name, which is the one that counts.
func (c container) member(name string) (m item, ok bool) {
	for i := len(c.items) - 1; i >= 0; i-- {
		if c.items[i].name == name {
			return c.items[i], true
		}
	}
	return item{}, false
}

// style is how a file is written.
type style struct {
	newline string
	unit    string // one step of indentation
	colon   string
	comma   string // between items of one line
}

func styleOf(b []byte, root container) style {
	s := style{newline: "\n", unit: "  ", colon: ": ", comma: ", "}
	if bytes.Contains(b, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if len(root.items) > 0 {
		extra := root.items[0].before
		if i := bytes.LastIndexByte(extra, '\n'); i >= 0 {
			if indent := leadingBlank(extra[i+1:]); indent != "" {
				s.unit = indent
			}
		} else if !bytes.Contains(b, []byte(`": `)) {
			s.colon, s.comma = ":", ","
		}
	}
	return s
}

func leadingBlank(b []byte) string { return string(b[:len(b)-len(bytes.TrimLeft(b, " \t"))]) }

// lineIndent is the white space that begins the line of offset.
func lineIndent(b []byte, offset int) string {
	return leadingBlank(b[bytes.LastIndexByte(b[:offset], '\n')+1 : offset])
}

func splice(b []byte, from, to int, text string) []byte {
	return slices.Concat(b[:from], []byte(text), b[to:])
}

// appendItem adds an item at the end of c. multi says whether an empty c is
// written over several lines.
func appendItem(b []byte, c container, s style, multi bool, text func(layout) string) []byte {
	inner := b[c.start+1 : c.end-1]
	if len(c.items) == 0 {
		if !multi && bytes.IndexByte(inner, '\n') < 0 {
			return splice(b, c.end-1, c.end-1, " "+text(layout{style: s}))
		}
		outer := lineIndent(b, c.start)
		indent := outer + s.unit
		return splice(b, c.end-1, c.end-1, s.newline+s.newline+indent+text(layout{s, true, indent})+s.newline+outer)
	}
	last := c.items[len(c.items)-1]
	var before string
	l := layout{style: s}
	if i := bytes.LastIndexByte(last.before, '\n'); i >= 0 {
		l = layout{s, true, leadingBlank(last.before[i+1:])}
	} else if endsInLineComment(b[last.end : c.end-1]) {
		l = layout{s, true, lineIndent(b, c.start) + s.unit}
	}
	if before = s.comma[1:]; l.multi {
		before = s.newline + l.indent
	}
	at := len(bytes.TrimRight(b[:c.end-1], blanks))
	if c.trailing {
		return splice(b, at, at, before+text(l)+",")
	}
	b = splice(b, at, at, before+text(l))
	return splice(b, last.end, last.end, ",")
}

// removeItem takes the i-th item of c away. alone says that c was left empty
// and is one that we made: then nothing was changed, c itself is to go.
func removeItem(b []byte, c container, i int) (out []byte, alone bool) {
	it := c.items[i]
	if len(c.items) == 1 {
		return removeOnly(b, c)
	}
	from, to := it.start, it.end
	isLast := i == len(c.items)-1
	if !isLast || c.trailing {
		to += len(it.after) + 1
	}
	start := len(bytes.TrimRight(b[:from], blanks))
	if endsInLineComment(it.before) && !bytes.HasPrefix(bytes.TrimLeft(b[to:], " \t\r"), []byte("\n")) {
		start += bytes.IndexByte(b[start:from], '\n') + 1 // the comment ends there
	}
	b = splice(b, start, to, "")
	if isLast && !c.trailing {
		prev := c.items[i-1]
		comma := prev.end + len(prev.after)
		b = splice(b, comma, comma+1, "")
	}
	return b, false
}

func removeOnly(b []byte, c container) (out []byte, alone bool) {
	it := c.items[0]
	end := it.end
	if c.trailing {
		end += len(it.after) + 1
	}
	head, tail := b[c.start+1:it.start], b[end:c.end-1]
	trimmed := bytes.TrimRight(head, " \t")
	for _, newline := range []string{"\r\n", "\n"} {
		if kept, ok := bytes.CutSuffix(trimmed, []byte(newline+newline)); ok {
			if !hasComment(tail) {
				tail = nil
			}
			return splice(b, c.start+1, c.end-1, string(kept)+string(tail)), false
		}
	}
	// What we add in an empty one of one line comes right before its end.
	if !hasComment(head) && !hasComment(tail) && (len(head) == 0 || len(tail) > 0 || bytes.IndexByte(head, '\n') >= 0) {
		return b, true
	}
	kept := head
	if n := len(head); n > 0 && head[n-1] == ' ' {
		kept = head[:n-1]
	}
	return splice(b, c.start+1, c.end-1, string(kept)+string(tail)), false
}

// layout is where a text begins and how its lines are indented.
type layout struct {
	style
	multi  bool
	indent string
}

func (l layout) deeper() layout {
	l.indent += l.unit
	return l
}

// jsonNode is JSON to be written: a literal, an object (names and values in turn)
// or an array.
type jsonNode struct {
	literal string
	names   []string
	values  []jsonNode
	array   bool
}

func quoted(s string) jsonNode { return jsonNode{literal: string(hujson.String(s))} }

func (n jsonNode) render(l layout) string {
	if n.literal != "" {
		return n.literal
	}
	open, shut := "{", "}"
	if n.array {
		open, shut = "[", "]"
	}
	var b strings.Builder
	b.WriteString(open)
	inner := l.deeper()
	for i, v := range n.values {
		switch {
		case l.multi && i > 0:
			b.WriteString("," + l.newline + inner.indent)
		case l.multi:
			b.WriteString(l.newline + inner.indent)
		case i > 0:
			b.WriteString(l.comma)
		}
		if !n.array {
			b.WriteString(string(hujson.String(n.names[i])) + l.colon)
		}
		b.WriteString(v.render(inner))
	}
	if l.multi && len(n.values) > 0 {
		b.WriteString(l.newline + l.indent)
	}
	b.WriteString(shut)
	return b.String()
}

func object(pairs ...any) jsonNode {
	var n jsonNode
	for i := 0; i+1 < len(pairs); i += 2 {
		n.names = append(n.names, pairs[i].(string))
		n.values = append(n.values, pairs[i+1].(jsonNode))
	}
	return n
}

func array(values ...jsonNode) jsonNode { return jsonNode{array: true, values: values} }

func named(name string, n jsonNode) func(layout) string {
	return func(l layout) string { return string(hujson.String(name)) + l.colon + n.render(l) }
}
