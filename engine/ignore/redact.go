package ignore

import (
	"bytes"
	"slices"
	"strings"
)

// Redact gives the rules without what mark writes over, in place, and counts; changed reports whether there was any. The new rules
// leave out at least what the old ones did: of a path that a checkpoint left out, a restore deletes nothing. Errors: *ConfigError.
func (r *Rules) Redact(mark func([]byte) int) (_ *Rules, changed bool, err error) {
	d := redaction{mark: mark}
	c := r.config
	c.Ignore, c.Precious = d.patterns(c.Ignore), d.patterns(c.Precious)
	c.ForceInclude = slices.DeleteFunc(slices.Clone(c.ForceInclude), d.has)
	c.Exclude = d.sources(c.Exclude, r.below)
	var sessions []string
	for _, path := range c.SessionPaths {
		sessions = append(sessions, d.beginning(path))
	}
	for _, path := range []*string{&c.StorePath, &c.AccountPath} {
		switch begin := d.beginning(*path); {
		case begin == *path:
		case c.agentsOut: // these rules have no other place for it
			*path, c.Ignore = "", append(c.Ignore, "/"+begin)
		default:
			*path, sessions = "", append(sessions, begin)
		}
	}
	c.SessionPaths = sessions
	if !d.changed {
		return r, false, nil
	}
	r, err = Compile(c)
	return r, true, err
}

// redaction writes patterns anew, and notes whether one changed.
type redaction struct {
	mark    func([]byte) int
	changed bool
}

// marked is a text with the marks in it, of the same length.
func (d *redaction) marked(text []byte) ([]byte, bool) {
	b := bytes.Clone(text)
	if d.mark(b) == 0 || len(b) != len(text) {
		return text, false
	}
	d.changed = true
	return b, true
}

func (d *redaction) has(s string) bool {
	_, has := d.marked([]byte(s))
	return has
}

// beginning is a path, or all that begin as it does up to what is marked, as SessionPaths has them.
func (d *redaction) beginning(path string) string {
	b, has := d.marked([]byte(path))
	if !has {
		return path
	}
	at := 0
	for b[at] == path[at] {
		at++
	}
	return path[:at] + "*"
}

func (d *redaction) patterns(lines []string) (out []string) {
	for _, line := range lines {
		b, has := d.marked([]byte(line))
		if line, keep := widened([]byte(line), b); !has || keep {
			out = append(out, line)
		}
	}
	return out
}

// sources are rule files, whose patterns are relative to directories above the root; below is the longest way from there.
func (d *redaction) sources(list []Source, below string) (out []Source) {
	b, moved := d.marked([]byte(below))
	dirs := components([]byte(below), b)
	for _, s := range list {
		if name, has := d.marked([]byte(s.Name)); has {
			s.Name = string(name)
		}
		text, has := d.marked(s.Text)
		if has {
			s.Text = redactedText(s.Text, text)
		}
		if n := strings.Count(s.Below, "/"); moved && n > 0 {
			way := strings.SplitAfter(dirs, "/")
			if way = way[len(way)-1-n:]; strings.Join(way, "") != s.Below {
				s.Below, s.Text = strings.Join(way, ""), []byte("*\n") // its patterns may name the directory otherwise
			}
		}
		out = append(out, s)
	}
	return out
}

// redactedText is a rule file line by line.
func redactedText(text, marked []byte) []byte {
	var out []byte
	at := 0
	for line := range bytes.Lines(text) {
		end := len(bytes.TrimRight(line, "\r\n"))
		if wide, keep := widened(line[:end], marked[at:at+end]); keep {
			out = append(append(out, wide...), line[end:]...)
		}
		at += len(line)
	}
	return out
}

// widened is one pattern that matches all that it matched, without what is marked. keep is false for one that takes something back.
func widened(line, marked []byte) (wide string, keep bool) {
	bom := []byte("\xef\xbb\xbf")
	switch pattern := bytes.TrimPrefix(line, bom); {
	case bytes.Equal(line, marked):
		return string(line), true
	case bytes.HasPrefix(pattern, []byte("#")):
		return "#", true
	case bytes.HasPrefix(pattern, []byte("!")):
		return "", false
	case bytes.ContainsAny(line, `[\`):
		return "*", true // a part of it may be the mark's
	}
	return components(line, marked), true
}

// components writes one "*" into each component of a path or pattern, from the first to the last byte that is marked.
func components(line, marked []byte) string {
	var out []byte
	for at := 0; at < len(line); at++ {
		end := len(line)
		if i := bytes.IndexByte(line[at:], '/'); i >= 0 {
			end = at + i
		}
		first, last := -1, -1
		for i := at; i < end; i++ {
			if line[i] != marked[i] {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first >= 0 {
			out = append(append(append(out, line[at:first]...), '*'), line[last+1:end]...)
		} else {
			out = append(out, line[at:end]...)
		}
		if at = end; at < len(line) {
			out = append(out, '/')
		}
	}
	return string(out)
}
