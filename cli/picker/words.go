package picker

import (
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
)

// emphasised is a line of an agent, escaped, without its marks of emphasis: what they are around is bold. Code stays as it is
// between its marks, which are dim. A mark that nothing closes is text.
func emphasised(text string) (out screen.Line) {
	if heading := strings.TrimLeft(text, "#"); len(text)-len(heading) <= 6 && len(heading) < len(text) && strings.HasPrefix(heading, " ") {
		return screen.Text(screen.Bold, strings.ReplaceAll(strings.TrimSpace(heading), "**", ""))
	}
	from := 0 // of what is no span yet
	add := func(begin, end int, spans ...screen.Span) {
		if begin > from {
			out = append(out, screen.Span{Text: text[from:begin]})
		}
		out, from = append(out, spans...), end
	}
	for i := 0; i < len(text); {
		size, inner := marked(text, i)
		end := i + inner + 2*size
		switch {
		case size == 0:
			i++
			continue
		case text[i] == '`':
			add(i, end, screen.Span{Text: "`", Style: screen.Dim}, screen.Span{Text: text[i+1 : end-1]}, screen.Span{Text: "`", Style: screen.Dim})
		default:
			add(i, end, screen.Span{Text: text[i+size : end-size], Style: screen.Bold})
		}
		i = end
	}
	add(len(text), len(text))
	return out
}

// marked is the length of a mark that begins at a place of a text, and of what is between it and the mark that closes it;
// 0 where none begins.
func marked(text string, at int) (size, inner int) {
	space := func(i int) bool { return i < 0 || i >= len(text) || text[i] == ' ' }
	word := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '_' || text[i] >= 0x80 || '0' <= text[i] && text[i] <= '9' || 'a' <= text[i]|0x20 && text[i]|0x20 <= 'z')
	}
	rest := text[at:]
	switch {
	case rest[0] == '`':
		size, inner = 1, strings.IndexByte(rest[1:], '`')
	case strings.HasPrefix(rest, "**"):
		size, inner = 2, strings.IndexByte(rest[2:], '*')
		if end := at + 2 + inner; inner > 0 && (space(at+2) || space(end-1) || !strings.HasPrefix(text[end:], "**")) {
			return 0, 0
		}
	case rest[0] == '*' && !word(at-1) && (at == 0 || text[at-1] != '*'):
		size, inner = 1, strings.IndexByte(rest[1:], '*')
		if end := at + 1 + inner; inner > 0 && (space(at+1) || space(end-1) || word(end+1) || strings.HasPrefix(text[end:], "**")) {
			return 0, 0
		}
	}
	if inner <= 0 {
		return 0, 0
	}
	return size, inner
}
