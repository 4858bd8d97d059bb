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
	cell, lineHeight = 7.2, 17
	left, top        = 18, 56
)

// frame is what a screen shows for a while.
type frame struct {
	lines   [][]run
	caption string
	seconds float64
}

// svg draws a window in which the frames follow each other, again and again. What several frames in a row show at a place is
// there once. No script, no font of its own; who wants no motion sees the frame still.
func svg(frames []frame, still int) string {
	width, height := 836+2*left, top+rows*lineHeight // columns cells
	total := 0.0
	starts := make([]float64, len(frames)+1)
	for i, f := range frames {
		total += f.seconds
		starts[i+1] = total
	}
	var style, body strings.Builder
	known := map[[2]int]bool{}
	// part adds text that only the frames from ≤ i < to show.
	part := func(from, to int, text string) {
		if text == "" {
			return
		}
		if from == 0 && to == len(frames) {
			body.WriteString(text)
			return
		}
		span := [2]int{from, to}
		if !known[span] {
			known[span] = true
			fmt.Fprintf(&style, ".f%d-%d{animation:k%d-%d %gs step-end infinite}@keyframes k%d-%d{0%%{visibility:%s}", from, to, from, to, total, from, to, map[bool]string{true: "visible", false: "hidden"}[from == 0])
			if from > 0 {
				fmt.Fprintf(&style, "%.2f%%{visibility:visible}", 100*starts[from]/total)
			}
			if to < len(frames) {
				fmt.Fprintf(&style, "%.2f%%{visibility:hidden}", 100*starts[to]/total)
			}
			style.WriteString("}\n")
		}
		class := "f"
		if from <= still && still < to {
			class = "f s"
		}
		fmt.Fprintf(&body, `<g class="%s f%d-%d">%s</g>`+"\n", class, from, to, text)
	}
	row := func(of func(f *frame) string) {
		from := 0
		for i := range frames {
			if i+1 == len(frames) || of(&frames[i+1]) != of(&frames[from]) {
				part(from, i+1, of(&frames[from]))
				from = i + 1
			}
		}
	}
	row(func(f *frame) string {
		if f.caption == "" {
			return ""
		}
		return fmt.Sprintf(`<text x="%d" y="27" text-anchor="middle" class="t">%s</text>`, width/2, escaped(f.caption))
	})
	for i := range rows {
		row(func(f *frame) string {
			if i >= len(f.lines) {
				return ""
			}
			return drawn(f.lines[i], top+i*lineHeight)
		})
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="rewind at a terminal: the row of rm -rf, its red diff, the plan of a restore, and the files are back">
<style>
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}.t{font:600 13px system-ui,sans-serif;fill:#aeb9cc}
.b{font-weight:bold}.d{fill:#8a95a8}.c1{fill:#f0838b}.c2{fill:#8fc37a}.c3{fill:#e0be6c}.c4{fill:#7aa7e0}.c5{fill:#c08ad0}.c6{fill:#66bcc8}.c7{fill:#eceff4}.p{fill:#3b4a66}
.f{visibility:hidden}.s{visibility:visible}
@media (prefers-reduced-motion:no-preference){%s}
</style>
<rect width="%d" height="%d" rx="9" fill="#1d222c"/>
<circle cx="22" cy="22" r="6" fill="#e0737c"/><circle cx="42" cy="22" r="6" fill="#e0be6c"/><circle cx="62" cy="22" r="6" fill="#8fc37a"/>
%s</svg>
`, width, height, width, height, style.String(), width, height, body.String())
}

// drawn is one line of a screen. The line that the cursor is on has a ground.
func drawn(l []run, y int) string {
	var b strings.Builder
	for _, r := range l {
		if reversed := strings.Contains(" "+r.class+" ", " r "); reversed {
			fmt.Fprintf(&b, `<rect class="p" x="%.1f" y="%d" width="%.1f" height="%d"/>`, left+float64(r.column)*cell, y-13, float64(r.width)*cell, lineHeight)
		}
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
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve"%s>%s</text>`, left+float64(r.column+from)*cell, y, float64(w)*cell, class, escaped(text))
	}
	return b.String()
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes all
	return b.String()
}
