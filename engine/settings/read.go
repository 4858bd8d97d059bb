package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/problem"

	"github.com/tailscale/hujson"
)

// MaxFileBytes bounds a config file. Real ones have a few hundred bytes.
const MaxFileBytes = 1 << 20

// maxBrackets bounds objects and lists, and so how deep the parser recurses. Real
// files have ten.
const maxBrackets = 10_000

type loader struct {
	getenv   func(string) string
	warnings []Warning
}

func (l *loader) warn(source, key, problem, allowed string) {
	l.warnings = append(l.warnings, Warning{source, key, problem, allowed})
}

// readFile returns nil, nil for a file that is not there.
func readFile(file string) ([]byte, error) {
	b, err := vfs.ReadSmall(file, MaxFileBytes, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Readable reports whether data is a settings file that can be read: JSON, with
// comments and trailing commas.
func Readable(data []byte) bool {
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxBrackets {
		return false
	}
	_, err := hujson.Parse(data)
	return err == nil
}

// document is a parsed config file; o is nil where the file is only white space.
type document struct {
	o          *hujson.Object
	start, end int // of the object in the text
}

// parseObject parses a JSON object with comments. Offsets in the result are
// those of b.
func parseObject(b []byte) (document, error) {
	text := append(bytes.Clone(b), '\n') // the parser wants a line comment to end, also at the end of the file
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		copy(text, "   ")
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return document{}, nil
	}
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxBrackets {
		return document{}, fmt.Errorf("more than %d brackets", maxBrackets)
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return document{}, err
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return document{}, errors.New("not an object")
	}
	return document{o, v.StartOffset, v.EndOffset}, nil
}

// read reads one config file; nil where it is missing or empty, or cannot be used.
func (l *loader) read(file string) *hujson.Object {
	b, err := readFile(file)
	if err != nil {
		l.warn(file, "", "cannot be read: "+problem.Text(err), "")
		return nil
	}
	d, err := parseObject(b)
	if err != nil {
		l.warn(file, "", "is not valid JSON: "+problem.Text(err), "")
	}
	return d.o
}

// file reads one config file into hand.
func (l *loader) file(file string, source Source, hand *[keyCount]slot) {
	if file == "" {
		return
	}
	if o := l.read(file); o != nil {
		l.object(o, "", file, source, hand)
	}
}

func (l *loader) object(o *hujson.Object, prefix, file string, source Source, hand *[keyCount]slot) {
	for _, m := range o.Members {
		name := prefix + m.Name.Value.(hujson.Literal).String()
		if i := findKey(name); i >= 0 {
			if m.Value.Value.Kind() == 'n' { // null: as if it were not there
				continue
			}
			v, ok := keys[i].decode(m.Value.Value)
			if !ok {
				l.warn(file, name, "is "+describe(m.Value.Value), keys[i].allowed())
				continue
			}
			hand[i] = slot{v, Origin{source, file}}
			continue
		}
		if isSection(name) {
			if sub, ok := m.Value.Value.(*hujson.Object); ok {
				l.object(sub, name+".", file, source, hand)
			} else if m.Value.Value.Kind() != 'n' {
				l.warn(file, name, "is "+describe(m.Value.Value), "an object")
			}
			continue
		}
		if name == "$schema" { // editors put it there
			continue
		}
		l.warn(file, name, "is unknown", "")
	}
}

// describe names a JSON value briefly.
func describe(v hujson.ValueTrimmed) string {
	switch v.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list of other things"
	}
	s := string(v.(hujson.Literal))
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	if v.Kind() == '"' {
		return fmt.Sprintf("%q", v.(hujson.Literal).String())
	}
	return s
}

// tierVariables override the tier, the first one that is set and valid.
var tierVariables = []string{"REWIND_TIER", "CHECKPOINT_TIER"}

func (l *loader) environment(hand *[keyCount]slot) {
	for _, name := range tierVariables {
		text := l.getenv(name)
		if text == "" {
			continue
		}
		if v, ok := keys[keyTier].word(text); ok {
			hand[keyTier] = slot{v, Origin{FromEnvironment, name}}
			return
		}
		l.warn(name, "", fmt.Sprintf("is %q", text), keys[keyTier].allowed())
	}
}
