package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Set writes one key into a config file, which it creates (0600) where it is
// missing; its directory must exist. Everything else in the file, comments and
// formatting included, stays as it is. Errors: *KeyError, *ValueError,
// *NotJSONError, *BusyError; then nothing was written. It may be called from any
// number of processes: they take turns.
//
// value is as a person types it: true, 30, 10GiB, small; for a list a JSON
// array, or one string per line.
func Set(file, key, value string) error {
	i := findKey(key)
	if i < 0 {
		return &KeyError{key, keyNames()}
	}
	text, ok := keys[i].encode(value)
	if !ok {
		return &ValueError{key, value, keys[i].allowed()}
	}
	return change(file, func(old []byte) ([]byte, error) { return setKey(old, key, text) })
}

// Unset takes one key out of a config file, so that the weaker value holds
// again. A file or key that is not there is no error. Errors and concurrency as Set.
func Unset(file, key string) error {
	if findKey(key) < 0 {
		return &KeyError{key, keyNames()}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return change(file, func(old []byte) ([]byte, error) { return unsetKey(old, key) })
}

// member is where a member of an object is in the text.
type member struct {
	parent *hujson.Object
	index  int
}

// find returns the last member for a dotted key, which is the one that counts;
// however it is split into nested and dotted names.
func find(o *hujson.Object, key string) (found member, ok bool) {
	for i, m := range o.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if name == key {
			found, ok = member{o, i}, true
			continue
		}
		if rest, inside := strings.CutPrefix(key, name+"."); inside {
			if sub, isObject := m.Value.Value.(*hujson.Object); isObject {
				if p, found1 := find(sub, rest); found1 {
					found, ok = p, true
				}
			}
		}
	}
	return found, ok
}

func setKey(old []byte, key string, text hujson.Literal) ([]byte, error) {
	d, err := parseObject(old)
	if err != nil {
		return nil, err
	}
	section, rest, nested := strings.Cut(key, ".")
	if d.o == nil {
		if nested {
			return []byte("{\n  \"" + section + "\": {\n    \"" + rest + "\": " + string(text) + "\n  }\n}\n"), nil
		}
		return []byte("{\n  \"" + key + "\": " + string(text) + "\n}\n"), nil
	}
	if p, ok := find(d.o, key); ok {
		v := p.parent.Members[p.index].Value
		return splice(old, v.StartOffset, v.EndOffset, string(text)), nil
	}
	if !nested {
		return insertMember(old, d, d, key, string(text)), nil
	}
	for i := len(d.o.Members) - 1; i >= 0; i-- {
		m := d.o.Members[i]
		if sub, isObject := m.Value.Value.(*hujson.Object); isObject && m.Name.Value.(hujson.Literal).String() == section {
			return insertMember(old, d, document{sub, m.Value.StartOffset, m.Value.EndOffset}, rest, string(text)), nil
		}
	}
	return insertMember(old, d, d, section, "{ \""+rest+"\": "+string(text)+" }"), nil
}

func unsetKey(old []byte, key string) ([]byte, error) {
	for {
		d, err := parseObject(old)
		if err != nil {
			return nil, err
		}
		if d.o == nil {
			return old, nil
		}
		p, ok := find(d.o, key)
		if !ok {
			return old, nil
		}
		old = removeMember(old, p)
	}
}

const white = " \t\r\n"

func splice(b []byte, from, to int, text string) []byte {
	return slices.Concat(b[:from], []byte(text), b[to:])
}

// insertMember appends a member to the object in, formatted as the members
// before it. root tells the file's indentation.
func insertMember(b []byte, root, in document, name, value string) []byte {
	newline := "\n"
	if bytes.Contains(b, []byte("\r\n")) {
		newline = "\r\n"
	}
	member := string(hujson.String(name)) + ": " + value
	end := in.end - 1 // the closing brace
	at := len(bytes.TrimRight(b[:end], white))
	if len(in.o.Members) == 0 {
		outer := lineIndent(b, in.start)
		return splice(b, at, end, newline+outer+unit(root)+member+newline+outer)
	}
	last := in.o.Members[len(in.o.Members)-1]
	before := " "
	if i := bytes.LastIndexByte(last.Name.BeforeExtra, '\n'); i >= 0 {
		before = newline + leadingBlank(last.Name.BeforeExtra[i+1:])
	} else if bytes.Contains(b[last.Value.EndOffset:end], []byte("//")) {
		before = newline + lineIndent(b, in.start) + unit(root) // else it would be part of the comment
	}
	if last.Value.AfterExtra != nil { // a trailing comma: keep the style
		return splice(b, at, at, before+member+",")
	}
	b = splice(b, at, at, before+member)
	return splice(b, last.Value.EndOffset, last.Value.EndOffset, ",")
}

func leadingBlank(b []byte) string {
	return string(b[:len(b)-len(bytes.TrimLeft(b, " \t"))])
}

// lineIndent is the white space that begins the line of offset.
func lineIndent(b []byte, offset int) string {
	return leadingBlank(b[bytes.LastIndexByte(b[:offset], '\n')+1 : offset])
}

// unit is the file's step of indentation.
func unit(root document) string {
	if len(root.o.Members) > 0 {
		extra := root.o.Members[0].Name.BeforeExtra
		if i := bytes.LastIndexByte(extra, '\n'); i >= 0 {
			if s := leadingBlank(extra[i+1:]); s != "" {
				return s
			}
		}
	}
	return "  "
}

// removeMember takes a member out, with its comma and the white space before
// it. Comments before it stay.
func removeMember(b []byte, p member) []byte {
	m := p.parent.Members[p.index]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	isLast := p.index == len(p.parent.Members)-1
	if !isLast || m.Value.AfterExtra != nil {
		to += len(m.Value.AfterExtra) + 1 // through the comma after it
	}
	start := len(bytes.TrimRight(b[:from], white))
	if bytes.Contains(m.Name.BeforeExtra, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(b[to:], " \t\r"), []byte("\n")) {
		start += bytes.IndexByte(b[start:from], '\n') + 1 // a line comment ends there
	}
	b = splice(b, start, to, "")
	if isLast && m.Value.AfterExtra == nil && p.index > 0 {
		prev := p.parent.Members[p.index-1].Value
		comma := prev.EndOffset + len(prev.AfterExtra)
		b = splice(b, comma, comma+1, "")
	}
	return b
}
