//go:build linux

package main

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// run is text in one style, from a column on.
type run struct {
	column, width int
	text          string
	class         string
}

// lines reads what a terminal would show: text and its styles. What moves the
// cursor is no part of a session that is only printed; a carriage return begins the line anew.
func lines(screen string) [][]run {
	out := [][]run{nil}
	var style []string
	column := 0
	for screen != "" {
		switch {
		case strings.HasPrefix(screen, "\x1b["):
			end := strings.IndexFunc(screen[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return out
			}
			code, final := screen[2:2+end], screen[2+end]
			screen = screen[3+end:]
			switch final {
			case 'm':
				style = applied(style, code)
			case 'K':
				cut := out[len(out)-1]
				for len(cut) > 0 && cut[len(cut)-1].column >= column {
					cut = cut[:len(cut)-1]
				}
				out[len(out)-1] = cut
			}
		case screen[0] == '\r':
			column = 0
			screen = screen[1:]
		case screen[0] == '\n':
			out = append(out, nil)
			screen = screen[1:]
		default:
			end := strings.IndexAny(screen, "\x1b\r\n")
			if end < 0 {
				end = len(screen)
			}
			text := screen[:end]
			width := displaywidth.String(text)
			out[len(out)-1] = append(out[len(out)-1], run{column, width, text, strings.Join(style, " ")})
			column += width
			screen = screen[end:]
		}
	}
	return out
}

// applied is a style after an SGR code.
func applied(style []string, codes string) []string {
	for _, code := range strings.Split(codes, ";") {
		n, _ := strconv.Atoi(code) // none is 0
		switch {
		case n == 0:
			style = nil
		case n == 1:
			style = append(style, "b")
		case n == 2:
			style = append(style, "d")
		case n == 7:
			style = append(style, "r")
		case n >= 30 && n <= 37, n >= 90 && n <= 97:
			style = append(style, fmt.Sprint("c", n%10))
		}
	}
	return style
}

const (
	cell, lineHeight = 8.4, 19
	left, top        = 18, 52
)

// svg draws a window with what is on the screen. No script, no font of its own.
func svg(screen string) string {
	all := lines(strings.TrimRight(screen, "\r\n"))
	width := 773 + 2*left // of columns cells
	height := top + len(all)*lineHeight + 8
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="a terminal session of rewind">
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}
.b{font-weight:bold}.d{fill:#7b8698}.c1{fill:#e0737c}.c2{fill:#8fc37a}.c3{fill:#e0be6c}.c4{fill:#7aa7e0}.c5{fill:#c08ad0}.c6{fill:#66bcc8}.c7{fill:#eceff4}
</style>
<rect width="%d" height="%d" rx="9" fill="#1d222c"/>
<circle cx="22" cy="22" r="6" fill="#e0737c"/><circle cx="42" cy="22" r="6" fill="#e0be6c"/><circle cx="62" cy="22" r="6" fill="#8fc37a"/>
`, width, height, width, height, width, height)
	for i, l := range all {
		y := top + i*lineHeight
		for _, r := range l {
			text := strings.TrimRight(r.text, " ")
			from := len(text) - len(strings.TrimLeft(text, " "))
			text = text[from:]
			if text == "" {
				continue
			}
			class := ""
			if r.class != "" {
				class = ` class="` + r.class + `"`
			}
			w := displaywidth.String(text)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve"%s>`, left+float64(r.column+from)*cell, y, float64(w)*cell, class)
			xml.EscapeText(&b, []byte(text))
			b.WriteString("</text>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
