package page

import (
	"fmt"
	"strings"
	"testing"
)

// A diff marks the words that differ, has both sides beside each other where there is room, and draws of a long file what
// is near the part that is seen. A message shows its code as code, and the emphasis, headings and lists of an agent; a call and its answer are one row.
func TestPageDiffs(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&long, "line", i+1)
	}
	l := newPageLabOf(t, []pageTurn{
		{"make Add faster", "calc.go", "package calc\n\n// Add is fast.\nfunc Add(a, b int) int { return a - b }\n", "## It is *done*\n\nUse **what `a - b` is**, *not* `**x**` nor 2 * 3 * 4:\n\n1. one <i>x</i>\n   - two\n\n```go\nfunc <b>x</b>() {}\n```\n> as the **book** says\n> it is\n\nDone."},
		{"a long file", "long.txt", long.String(), "Done."},
	})
	l.click(".right button", "Show all 5,000 lines")
	drawn := `document.querySelectorAll(".right .patch tr[data-i]").length`
	l.until(drawn + ` > 100 && ` + drawn + ` < 1500`)
	l.ok(l.Eval(`document.querySelector(".right").scrollTop = 1e9`, nil))
	l.until(`document.querySelector(".right .patch tbody:last-child tr:last-child")?.textContent.includes("line 5000") && ` + drawn + ` < 1500`)

	l.click(".row.k-prompt", "make Add faster")
	word := func(side string) string {
		return `[...document.querySelectorAll(".right .patch .` + side + ` .word")].map((e) => e.textContent).join()`
	}
	l.until(word("out") + ` === "+" && ` + word("in") + ` === "-"`)
	l.until(`document.querySelector(".talk .words pre")?.textContent === "func <b>x</b>() {}" && document.querySelector(".talk .words code").textContent === "a - b"`)
	l.until(`(() => { const texts = (of) => [...document.querySelectorAll(".talk .words " + of)].map((e) => e.textContent).join("|");
		return texts("strong") === "what a - b is|book" && texts("blockquote") === "as the book says\nit is" && texts("em") === "done|not" && texts("code") === "a - b|**x**" && texts(".heading") === "It is done" && texts("ol > li") === "one <i>x</i>" && texts("ul > li.depth-1") === "two" && texts("p").includes("nor 2 * 3 * 4:"); })()`)
	l.until(`!document.querySelector(".talk .answer") && [...document.querySelectorAll(".talk .call details")].some((e) => e.textContent.includes("written"))`)
	l.ok(l.Size(1920, 1080))
	l.until(`document.querySelector(".right .patch.beside tr:has(.code.out):has(.code.in)")?.textContent.includes("a - b")`) // beside its like
	l.picture("beside")
	l.clean()
}
