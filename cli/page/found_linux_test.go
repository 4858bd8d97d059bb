package page

import (
	"strings"
	"testing"
)

// A search shows what it found in the text that a tool was given, not in the JSON around that, and marks it. A heading that is
// cut says so.
func TestPageSearchMarksWhatItFound(t *testing.T) {
	l := newPageLabOf(t, []pageTurn{{strings.Repeat("make it faster than it was ", 5), "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b } // the Needle\n", "Done."}})
	l.until(`document.querySelector(".right h2")?.textContent.endsWith("…")`)
	for _, c := range []struct{ query, table, text string }{{"calc.go", "said", "calc.go"}, {"Needle", "lines", "func Add(a, b int) int { return a - b } // the Needle"}} {
		l.press("/")
		l.ok(l.Type(c.query))
		l.press("Enter")
		l.until(`[...document.querySelectorAll("table.` + c.table + ` td:nth-child(2)")].some((e) => e.textContent.trim() === "` + c.text + `" && e.querySelector("mark").textContent === "` + c.query + `")`)
		l.press("Escape")
	}
	l.clean()
}
