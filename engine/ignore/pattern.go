package ignore

import (
	"bytes"
	"strconv"
	"strings"
)

// pattern is one compiled line. What it is compared with, and how, is chosen
// once: most lines are literals or "*.suffix" and never see the glob matcher.
type pattern struct {
	label   string // where it stands and what it says, for messages
	neg     bool   // began with "!"
	dirOnly bool   // ended with "/"
	shape   shape
	where   where
	dir     string // inDir: the directory that it is about, "" or ending in "/"
	lit     string // what the name (anywhere, inDir) or the path (onPath) must begin with
	tail    string // shapeEnds: what it must end with
	glob    string // shapeGlob: what must match the rest
	need    string // shapeGlob: what a match must contain, to look for first
	fold    bool   // the case of letters does not count: what is compared has small ones only
}

type shape uint8

const (
	shapeLiteral shape = iota // equals lit
	shapeEnds                 // lit, anything, tail
	shapeGlob                 // lit, then glob
)

type where uint8

const (
	anywhere where = iota // a name, at any depth
	inDir                 // a name in one directory
	onPath                // the path from the rule file's directory
)

const wildcards = "*?[\\"

// parseText splits a rule file as git does: lines end with LF or CRLF, a
// byte order mark is skipped, a NUL ends the pattern but not the line.
func parseText(name string, text []byte, fold bool) []pattern {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var ps []pattern
	n := 0
	for line := range bytes.Lines(text) {
		n++
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if p, ok := parseLine(string(line), fold); ok {
			p.label = name + ":" + strconv.Itoa(n) + ": " + p.label
			ps = append(ps, p)
		}
	}
	return ps
}

// parseList compiles patterns that come one by one, from a configuration.
func parseList(name string, lines []string, fold bool) []pattern {
	var ps []pattern
	for _, line := range lines {
		if p, ok := parseLine(line, fold); ok {
			p.label = name + ": " + p.label
			ps = append(ps, p)
		}
	}
	return ps
}

// parseLine compiles one line. ok is false where it can never match: blank,
// a comment.
func parseLine(line string, fold bool) (p pattern, ok bool) {
	p.fold = fold
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = line[:i]
	}
	line = trimSpaces(line)
	p.label = line
	if p.neg = strings.HasPrefix(line, "!"); p.neg {
		line = line[1:]
	}
	if p.dirOnly = strings.HasSuffix(line, "/"); p.dirOnly {
		line = line[:len(line)-1]
	}
	if line == "" {
		return p, false
	}
	if !strings.Contains(line, "/") {
		p.where = anywhere
		p.compile(line)
		return p, true
	}
	line = strings.TrimPrefix(line, "/")
	if rest, ok := strings.CutPrefix(line, "**/"); ok && rest != "" && !strings.Contains(rest, "/") {
		p.where = anywhere // "**/x" is "x"
		p.compile(rest)
		return p, true
	}
	p.where = onPath
	p.compile(line)
	// Most path patterns are about the entries of one directory only: compile leaves shapeEnds to those whose star stays in
	// its component.
	if p.shape != shapeGlob || !strings.Contains(p.glob, "/") && strings.Trim(p.glob, "*") != "" {
		p.cutDir()
	}
	return p, true
}

// cutDir turns a path pattern whose wildcards match no slash into one about a
// single directory's names.
func (p *pattern) cutDir() {
	p.where = inDir
	i := strings.LastIndexByte(p.lit, '/') + 1
	p.dir, p.lit = p.lit[:i], p.lit[i:]
}

// compile chooses the shape for s, which has no leading "!" or "/" and no
// trailing "/". The literal beginning is split off as git splits it, so that
// "a**/b" is "a" followed by "**/b".
func (p *pattern) compile(s string) {
	i := strings.IndexAny(s, wildcards)
	if i < 0 {
		p.shape, p.lit = shapeLiteral, s
		if p.fold {
			p.lit = Fold(s)
		}
		return
	}
	p.lit, p.glob = s[:i], s[i:]
	if p.fold {
		p.lit = Fold(p.lit)
	} else if plain, ok := unescape(p.glob); ok { // git does not fold what is escaped
		p.shape, p.lit, p.glob = shapeLiteral, p.lit+plain, ""
		return
	}
	p.shape = shapeGlob
	if p.glob[0] != '*' {
		return
	}
	rest := strings.TrimLeft(p.glob, "*")
	if i := strings.IndexAny(rest, wildcards); i >= 0 {
		if p.need = rest[:i]; p.fold {
			p.need = Fold(p.need)
		}
		return
	}
	// One star that cannot meet a slash, and then a literal.
	if p.where == anywhere || len(p.glob)-len(rest) == 1 && !strings.Contains(rest, "/") {
		p.shape, p.tail, p.glob = shapeEnds, rest, ""
		if p.fold {
			p.tail = Fold(rest)
		}
	}
}

// unescape gives s without its backslashes if it has no other wildcard.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(s) {
				return "", false // a lone "\" at the end: the glob matcher says no
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), true
}

// trimSpaces drops trailing spaces that no backslash protects. Tabs stay.
func trimSpaces(s string) string {
	cut := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if cut < 0 {
				cut = i
			}
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		cut = -1
	}
	if cut < 0 {
		return s
	}
	return s[:cut]
}

// matchName compares a name, of an entry of the directory that p is about.
func (p *pattern) matchName(name string) bool {
	switch p.shape {
	case shapeLiteral:
		return name == p.lit
	case shapeEnds:
		return len(name) >= len(p.lit)+len(p.tail) && hasPrefix(name, p.lit) && strings.HasSuffix(name, p.tail)
	}
	return hasPrefix(name, p.lit) && strings.Contains(name[len(p.lit):], p.need) && wild(p.glob, name[len(p.lit):], false, p.fold)
}
