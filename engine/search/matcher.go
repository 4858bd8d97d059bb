package search

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Query says what a line must have in it.
type Query struct {
	Patterns   []string // RE2; a line matches if one of them does
	Fixed      bool     // the patterns are texts
	IgnoreCase bool
	Word       bool // the match is not next to a letter, digit or underscore
}

// PatternError: a pattern is no regular expression.
type PatternError struct{ Pattern, Reason string }

func (e *PatternError) Error() string {
	return fmt.Sprintf("%q is not a pattern: %s", e.Pattern, e.Reason)
}

// Matcher finds the lines of a text that match. It is safe for concurrent use.
type Matcher struct {
	re *regexp.Regexp // nil: the literals are all
	// literals: one of them is in every line that matches. Lines without one are not looked at. nil: not known.
	literals [][]byte
	fold     bool // the literals are in lower case, the text may have them in any
	odd      bool // and they have a letter that a character beyond ASCII folds to
}

// Compile checks a query. Error: *PatternError.
func Compile(q Query) (*Matcher, error) {
	m := &Matcher{}
	var parts []string
	plain := q.Fixed && !q.IgnoreCase && !q.Word
	for _, p := range q.Patterns {
		if strings.Contains(p, "\n") {
			return nil, &PatternError{p, "it has a line break, and lines are matched one by one"}
		}
		m.literals = append(m.literals, []byte(p))
		plain = plain && p != ""
		text := p
		if q.Fixed {
			text = regexp.QuoteMeta(p)
		}
		// Each by itself: (?i) in one must not reach the next, nor a parenthesis close another's.
		if _, err := syntax.Parse(text, syntax.Perl); err != nil && !plain {
			return nil, &PatternError{p, strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
		}
		parts = append(parts, "(?:"+text+")")
	}
	if plain {
		return m, nil
	}
	whole := strings.Join(parts, "|")
	if q.Word {
		whole = `\b(?:` + whole + `)\b`
	}
	if q.IgnoreCase {
		whole = "(?i)" + whole
	}
	all := strings.Join(q.Patterns, " ")
	var err error
	if m.re, err = regexp.Compile(whole); err != nil {
		return nil, &PatternError{all, strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	}
	tree, err := syntax.Parse(whole, syntax.Perl)
	if err != nil {
		return nil, &PatternError{all, err.Error()}
	}
	lits, fold := required(tree.Simplify())
	m.literals, m.fold = nil, fold
	for _, l := range lits {
		if fold {
			l = string(lower(nil, []byte(l)))
		}
		m.odd = m.odd || fold && strings.ContainsAny(l, "ks")
		m.literals = append(m.literals, []byte(l))
	}
	return m, nil
}

// maxLiterals bounds the literals that are looked for at once.
const maxLiterals = 16

// required finds texts of which one is in everything that re matches; nil where there is no such.
// fold: they may be there in another case.
func required(re *syntax.Regexp) (lits []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		fold = re.Flags&syntax.FoldCase != 0
		if strings.ContainsRune(text, utf8.RuneError) || fold && !isASCII(text) {
			return nil, false // a byte that is no UTF-8 is one too; folding is looked for in ASCII only
		}
		return []string{text}, fold
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l, f := required(sub); l != nil && (lits == nil || shortest(l) > shortest(lits)) {
				lits, fold = l, f
			}
		}
		return lits, fold
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			l, f := required(sub)
			if l == nil || len(lits)+len(l) > maxLiterals {
				return nil, false
			}
			lits, fold = append(lits, l...), fold || f
		}
		return lits, fold
	}
	return nil, false
}

func shortest(lits []string) int {
	return len(slices.MinFunc(lits, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// lower appends text with the letters of ASCII in lower case.
func lower(dst, text []byte) []byte {
	dst = append(dst, text...)
	for i, c := range dst {
		if c-'A' < 26 {
			dst[i] = c + 'a' - 'A'
		}
	}
	return dst
}

// longS and kelvin are the two characters outside ASCII that fold to a letter of ASCII.
var longS, kelvin = []byte("\u017F"), []byte("\u212A")

// lines visits the lines of a text that match, in order: the line without its end is text[from:to],
// the match in it begins at start and ends at end, from the line's begin. scratch is reused.
func (m *Matcher) lines(text []byte, scratch *[]byte, visit func(from, to, start, end int) bool) {
	where := text // in which the literals are looked for
	if m.fold {
		if m.odd && (bytes.Contains(text, longS) || bytes.Contains(text, kelvin)) {
			where = nil
		} else {
			*scratch = lower((*scratch)[:0], text)
			where = *scratch
		}
	}
	look := finder{text: where, literals: m.literals}
	for at := 0; at < len(text); {
		from, to := at, len(text)
		if m.literals != nil && where != nil {
			at = look.next(at)
			if at < 0 {
				return
			}
			from = bytes.LastIndexByte(text[:at], '\n') + 1
		}
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			to = at + i
		}
		next := to + 1
		if to > from && text[to-1] == '\r' {
			to--
		}
		start, end := at-from, at-from+look.size
		ok := at < to || m.literals == nil // a literal may not be the \r that was cut off
		if m.re != nil {
			loc := m.re.FindIndex(text[from:to])
			if ok = loc != nil; ok {
				start, end = loc[0], loc[1]
			}
		}
		if ok && !visit(from, to, start, min(end, to-from)) {
			return
		}
		at = next
	}
}

// finder goes through the places of several literals in a text.
type finder struct {
	text     []byte
	literals [][]byte
	places   []int // the next place of each at or behind where it was last asked; len(text) for none
	size     int   // of the literal that next found
}

// next is the first place at or behind at; -1 for none.
func (f *finder) next(at int) int {
	if f.places == nil {
		f.places = make([]int, len(f.literals))
		for i := range f.places {
			f.places[i] = -1
		}
	}
	best := len(f.text)
	for i, l := range f.literals {
		if f.places[i] < at {
			f.places[i] = len(f.text)
			if n := bytes.Index(f.text[at:], l); n >= 0 {
				f.places[i] = at + n
			}
		}
		if f.places[i] < best {
			best, f.size = f.places[i], len(l)
		}
	}
	if best == len(f.text) {
		return -1
	}
	return best
}

// FirstLine is the first line of a text that matches.
func (m *Matcher) FirstLine(text string) (line string, ok bool) {
	var scratch []byte
	m.lines([]byte(text), &scratch, func(from, to, _, _ int) bool {
		line, ok = text[from:to], true
		return false
	})
	return line, ok
}
