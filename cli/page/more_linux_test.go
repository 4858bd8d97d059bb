package page

import (
	"fmt"
	"testing"
)

// What is done with a row is one line at each width; the rest is a menu, which keys open, walk through and close.
func TestPageActionsAreOneLine(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	l.serve()
	l.look()
	l.click(".row.k-prompt", "add a test")
	l.until(`document.querySelector(".right .buttons")`)
	for _, width := range []int{390, 1024, 1440, 1920} {
		l.ok(l.Size(width, 900))
		var got struct {
			Lines int
			Right float64
		}
		l.ok(l.Eval(`(() => { const all = [...document.querySelectorAll(".right .buttons > *")].map((e) => e.getBoundingClientRect());
			return { Lines: new Set(all.map((r) => Math.round(r.top))).size, Right: Math.max(...all.map((r) => r.right)) - document.querySelector(".right .head").getBoundingClientRect().right }; })()`, &got))
		if got.Lines != 1 || got.Right > 0 {
			t.Errorf("%d wide: the buttons are on %d lines and %v px beyond the edge", width, got.Lines, got.Right)
		}
	}
	l.tabTo("More")
	l.press("Enter")
	l.until(`document.querySelector(".more[open] .menu")`)
	l.press("ArrowDown", "ArrowDown")
	l.until(`document.activeElement.textContent === "Name…" && document.querySelector(".row.chosen").textContent.includes("add a test")`)
	l.press("Escape")
	l.until(`!document.querySelector(".more[open]") && document.activeElement.textContent === "More"`)
	l.press("Enter", "End")
	l.until(`document.activeElement === [...document.querySelectorAll(".menu button")].at(-1) && document.querySelector(".row.chosen").textContent.includes("add a test")`)
	l.press("Home")
	l.until(`document.activeElement === document.querySelector(".menu button")`)
	l.press("Escape", "Enter", "ArrowDown", "ArrowDown", "Enter")
	l.until(`document.querySelector("dialog[open] input") === document.activeElement`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog") && document.activeElement.textContent === "More"`)

	// The label that was clicked names what was copied, and nothing moves.
	l.ok(l.Eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (window.copied = text) } })`, nil))
	l.press("Enter")
	const places = `JSON.stringify([...document.querySelectorAll(".menu button")].map((e) => e.getBoundingClientRect()))`
	var before, after string
	l.ok(l.Eval(places, &before))
	l.click(".menu button", "Copy the session's resume command")
	l.until(`document.querySelector(".more[open] .over")?.textContent === "Copied"`)
	if l.ok(l.Eval(places, &after)); before != after {
		t.Errorf("the menu moved from %s to %s", before, after)
	}
	l.picture("more")
	l.clean()
}

// What is done with a version of a file is one line, and at most two on a telephone; the menu is within the window. Where the
// browser refuses the clipboard, the text is shown to be copied by hand, and the menu is as it was once it is closed.
func TestPageFileActionsFit(t *testing.T) {
	l := newPageLab(t)
	l.press("f")
	l.click(".tree button", "calc.go")
	l.until(`document.querySelector(".version .buttons .go")`)
	for _, width := range []int{390, 1024, 1440, 1920} {
		l.ok(l.Size(width, 900))
		l.ok(l.Eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))`, nil)) // the page hears of a size with its next frame
		l.until(`document.querySelector(".version .more") && (document.querySelector(".version .more").open = true)`)
		var got struct {
			Lines              int
			Left, Right, Below float64
		}
		l.ok(l.Eval(`(() => { const all = [...document.querySelectorAll(".version .buttons > *")].map((e) => Math.round(e.getBoundingClientRect().top / 8)), menu = document.querySelector(".version .menu").getBoundingClientRect();
			return { Lines: new Set(all).size, Left: menu.left, Right: innerWidth - menu.right, Below: document.querySelector(".version").getBoundingClientRect().bottom - menu.bottom }; })()`, &got))
		if most := map[bool]int{true: 2, false: 1}[width < 1024]; got.Lines > most || got.Left < 0 || got.Right < 0 || got.Below < 0 {
			t.Errorf("%d wide: the buttons are on %d lines, and the menu has %v and %v px beside it, and %v below", width, got.Lines, got.Left, got.Right, got.Below)
		}
		l.picture(fmt.Sprintf("file-more-%d", width))
		l.ok(l.Eval(`void (document.querySelector(".version .more").open = false)`, nil))
	}
	l.ok(l.Eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: () => Promise.reject(new Error("no")) } })`, nil))
	l.click(".version summary", "More")
	l.click(".version .menu button", "Copy command")
	l.until(`document.querySelector("dialog[open] textarea") === document.activeElement && document.activeElement.value === "rewind history -p calc.go" && document.activeElement.selectionEnd === 25`)
	l.picture("by-hand")
	l.press("Escape")
	l.until(`!document.querySelector("dialog") && document.querySelector(".version .more[open]")`)
	l.clean()
}
