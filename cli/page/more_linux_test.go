package page

import "testing"

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
	l.press("Enter", "ArrowDown", "ArrowDown", "Enter")
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
