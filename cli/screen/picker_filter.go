package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// rowWidths are the widths of the list's columns, over all rows.
type rowWidths struct{ n, age, why, note int }

// measure finds the widths of the columns, and what a filter is compared with.
func (m *Picker) measure() {
	var w rowWidths
	m.lower = make([]string, len(m.rows.List))
	for i := range m.rows.List {
		r := &m.rows.List[i]
		r.Text = Ordered(r.Text)
		w.n = max(w.n, len(r.N)+1)
		w.age = max(w.age, len(r.Age))
		w.why = max(w.why, min(displaywidth.String(r.Why), 10))
		w.note = max(w.note, min(displaywidth.String(r.Note), 14))
		m.lower[i] = strings.ToLower(strings.Join([]string{r.Why, r.Text, r.Note, r.Hidden}, " "))
	}
	m.widths = w
}

func (m *Picker) setFilter(text string) {
	if text == m.filter {
		return
	}
	r, ok := m.selected()
	m.filter = text
	m.refilter()
	m.cursor, m.top = 0, 0
	if text == "" && ok { // of all rows, the one that was chosen among fewer
		m.cursor = max(m.shownAt(r.ID), 0)
	}
	m.moved()
}

// refilter keeps the rows that have the filter as it was typed, and after them those in which each of its words begins a
// word. A row's number is found whole. The page has the same rule.
func (m *Picker) refilter() {
	m.shown = m.shown[:0]
	phrase := strings.ToLower(strings.TrimSpace(m.filter))
	words := strings.Fields(phrase)
	var rest []int
next:
	for i, text := range m.lower {
		n := m.rows.List[i].N
		if strings.Contains(text, phrase) || n == phrase {
			m.shown = append(m.shown, i)
			continue
		}
		for _, w := range words {
			if n != w && wordAt(text, w) < 0 {
				continue next
			}
		}
		rest = append(rest, i)
	}
	m.shown = append(m.shown, rest...)
}

// wordAt is where a word of a text begins with w; -1 for nowhere.
func wordAt(text, w string) int {
	for at := 0; ; {
		i := strings.Index(text[at:], w)
		if i < 0 {
			return -1
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if first, n := utf8.DecodeRuneInString(text[at:]); at == 0 || !letter(before) || !letter(first) {
			return at
		} else {
			at += n
		}
	}
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// matches marks in a text what the filter found: the phrase, else its words.
func (m *Picker) matches(text string, style Style) Line {
	phrase := strings.ToLower(strings.TrimSpace(m.filter))
	lower := strings.ToLower(text)
	if phrase == "" || len(lower) != len(text) {
		return Line{{text, style}}
	}
	found := make([]bool, len(text))
	words, where := []string{phrase}, strings.Index
	if !strings.Contains(lower, phrase) {
		words, where = strings.Fields(phrase), wordAt
	}
	for _, w := range words {
		for at := 0; ; {
			i := where(lower[at:], w)
			if i < 0 {
				break
			}
			for j := at + i; j < at+i+len(w); j++ {
				found[j] = true
			}
			at += i + len(w)
		}
	}
	var line Line
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && found[to] == found[from] {
			to++
		}
		s := style
		if found[from] {
			s = both(style, "1;4")
		}
		line = append(line, Span{text[from:to], s})
		from = to
	}
	return line
}
