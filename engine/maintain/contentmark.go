package maintain

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// maxMarked bounds the versions of files that conversations are looked through for, maxMarkedSize the size of each.
	maxMarked     = 100
	maxMarkedSize = 256 << 10
	// A line, and all lines of a version together, have at least as many bytes: what is shorter is everywhere.
	minMarkedLine = 4
	minMarkedText = 8
	// maxValues bounds the values that are looked for.
	maxValues = 200
)

// assigned is a line that gives a name a value of one word, as files with passwords do.
var assigned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:export\s+)?["']?[\w.-]+["']?\s*[:=]\s*["']?([^\s"'(){}\[\];,<>]{8,})["']?,?$`)
})

// contentMark marks what conversations hold of the content of files: in the input and the result of a tool, in a prompt. A
// record that holds all lines of a version, numbered, indented or in a patch as they may be, loses all of them; one that
// names a file loses each line of it.
type contentMark struct {
	versions []markedText
	names    []string // last parts of the paths
	values   [][]byte // of single lines, but for plain words: they are left where nothing else of a file is
	missed   int      // versions that are not looked for
	mentions int      // records that name a file, or have such a value alone
}

// markedText is one version of a file: its lines, the longest first.
type markedText struct {
	lines [][]byte
	whole bool // they are long enough together to be looked for where nothing names the file
}

// name adds the name of a file.
func (m *contentMark) name(file string) {
	if base := path.Base(file); len(base) >= 2 && !slices.Contains(m.names, base) {
		m.names = append(m.names, base)
	}
}

// full reports whether one more version would be too many; it counts as missed then.
func (m *contentMark) full(size int64) bool {
	full := size > maxMarkedSize || len(m.versions) >= maxMarked
	if full {
		m.missed++
	}
	return full
}

// version adds a version of a file.
func (m *contentMark) version(data []byte) {
	var v markedText
	size, seen := 0, map[string]bool{}
	if bytes.IndexByte(data, 0) >= 0 { // clients hand on pictures and the like in base64
		data = base64.StdEncoding.AppendEncode(nil, data)
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) >= minMarkedLine && !seen[string(line)] {
			seen[string(line)] = true
			v.lines = append(v.lines, line)
			size += len(line)
			if value := assigned().FindSubmatch(line); value != nil && bytes.ContainsAny(value[1], "0123456789-_.+/=@!$%&*#~^:") && len(m.values) < maxValues {
				m.values = append(m.values, value[1])
			}
		}
	}
	if len(v.lines) == 0 {
		return
	}
	slices.SortStableFunc(v.lines, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	v.whole = size >= minMarkedText
	m.versions = append(m.versions, v)
}

func (m *contentMark) lines(data []byte) (n int) {
	for part := range parts(data) {
		if re := m.find(part, 0); re != nil {
			n += textMark{re}.lines(part)
		}
	}
	return n
}

func (m *contentMark) text(data []byte, level int) int {
	if re := m.find(data, level); re != nil {
		return textMark{re}.text(data, level)
	}
	return 0
}

// find gives what is to be marked in a record, nil for nothing.
func (m *contentMark) find(record []byte, level int) *regexp.Regexp {
	found := map[string]bool{}
	d := decodedText{text: record}
	named, valued := false, false
	for at := 0; len(m.versions)+len(m.names) > 0 && at < markLevels; at++ {
		if at >= level {
			named = m.search(d.text, found) || named
			valued = valued || slices.ContainsFunc(m.values, func(value []byte) bool { return bytes.Contains(d.text, value) })
			if bytes.IndexByte(d.text, '\\') < 0 {
				break
			}
		}
		d = d.unescape()
	}
	if named || valued && len(found) == 0 {
		m.mentions++
	}
	if len(found) == 0 {
		return nil
	}
	lines := make([]string, 0, len(found))
	for line := range found {
		lines = append(lines, line)
	}
	// The longest first: of those that begin alike it is to be the one.
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for i := range lines {
		lines[i] = regexp.QuoteMeta(lines[i])
	}
	return regexp.MustCompile(strings.Join(lines, "|"))
}

// search adds to found the lines of files that a record holds, and reports whether it names one.
func (m *contentMark) search(text []byte, found map[string]bool) (named bool) {
	named = slices.ContainsFunc(m.names, func(name string) bool { return bytes.Contains(text, []byte(name)) })
	for _, v := range m.versions {
		has := func(line []byte) bool { return bytes.Contains(text, line) }
		if !named && !(v.whole && has(v.lines[0]) && !slices.ContainsFunc(v.lines, func(line []byte) bool { return !has(line) })) {
			continue
		}
		for _, line := range v.lines {
			if has(line) {
				found[string(line)] = true
			}
		}
	}
	return named
}
