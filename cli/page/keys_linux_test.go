package page

import (
	"strings"
	"testing"
)

// A key that comes right after another finds the page as that one left it, however busy the browser is.
func TestPageKeysRightAfterAnother(t *testing.T) {
	l := newPageLab(t)
	l.press("?")
	l.until(`document.querySelector(".place.at-keys")`)
	var on string
	l.ok(l.Eval(`(async () => {
		const press = async (key) => {
			document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
			for (let i = 0; i < 5; i++) await null; // no frame is painted meanwhile
		};
		for (const key of ["Escape", "ArrowDown", "ArrowDown", "Home", "/"]) await press(key);
		return document.activeElement.type + " " + document.querySelector(".row.chosen").ariaPosInSet;
	})()`, &on))
	if on != "search 1" {
		t.Errorf("the focus is on %q", on)
	}
}

// Names, pins, comparisons, times and single files, by keys and by mouse; the talk and the diff lead to each other.
func TestPageMarksAndCompares(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".live.on")`)
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right[aria-busy=false] .patch") && document.querySelector(".talk .here")?.textContent.includes("faster")`)

	// From the file to the call, and back.
	l.click(".right .by button", "where it was said")
	l.until(`document.querySelector(".talk .flash details[open]")?.textContent.includes("calc.go")`)
	l.click(".talk .call button", "diff")
	l.until(`document.querySelector(".right details.flash")`)

	// A name and a pin, and how they go away.
	l.press("n")
	l.until(`document.activeElement.name === "name"`)
	l.ok(l.Type("good one"))
	l.press("Enter")
	l.until(`document.querySelector("dialog [role=alert]")`)
	l.ok(l.Eval(`document.activeElement.select()`, nil))
	l.ok(l.Type("good"))
	l.until(`document.querySelector("dialog").textContent.includes("rewind restore good")`)
	l.press("Enter")
	l.until(`!document.querySelector("dialog") && document.querySelector(".done")?.textContent.includes("named") && document.querySelector(".row.chosen").textContent.includes("[good]")`)
	l.press("p")
	l.until(`document.querySelector(".row.chosen .pin") && document.querySelector(".done").textContent.includes("p again")`)
	if out := l.rewind("list"); !strings.Contains(out, "[good]") {
		t.Errorf("no name in the list:\n%s", out)
	}
	l.press("p")
	l.until(`!document.querySelector(".row.chosen .pin")`)

	// One of two files alone, chosen in the plan.
	l.press("r")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 2 paths"`)
	l.click("dialog label", "README.md")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 1 path" && document.querySelector("dialog").textContent.includes("the conversation stays")`)
	l.picture("paths")
	l.click("dialog .go", "Restore")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a + b") || !strings.Contains(got, "# calc") {
		t.Errorf("not just one file: %s", got)
	}

	// What is new is in the row of now, which is looked at meanwhile.
	l.press("Home")
	l.until(`document.querySelector(".row.chosen").textContent.includes("now") && document.querySelector(".right[aria-busy=false]")`)
	l.write("late.txt", "late\n")
	l.rewind("pin", "last")
	l.until(`document.querySelector(".right[aria-busy=false] .files")?.textContent.includes("late.txt")`)

	// A time by keys alone.
	l.ok(l.Eval(`document.querySelector(".brushed").focus()`, nil))
	l.press("Home")
	l.until(`document.querySelector(".brush") && document.querySelector(".total").textContent.includes("all times")`)
	l.press("End", "ArrowLeft")
	l.until(`+document.querySelector(".brushed").ariaValueNow > 50 && document.querySelector(".brushed").ariaValueText.includes(" to ") && document.querySelectorAll(".row").length < 7`)
	l.press("Escape")
	l.until(`!document.querySelector(".brush") && document.querySelectorAll(".row").length > 5`)
	l.click(".legend summary", "Legend")
	l.until(`document.querySelector(".legend").textContent.includes("claude: ")`)

	// Both ends of a comparison, by keys, then by mouse.
	l.ok(l.Eval(`document.activeElement.blur()`, nil))
	l.click(".row", "add a test")
	l.press("c")
	l.until(`document.querySelector(".compare .right[aria-busy=false]")?.textContent.includes("calc_test.go")`)
	l.until(`document.querySelector(".end-card").textContent.includes("add a test") && document.querySelector(".who-list").textContent.includes("Write")`)
	l.click(".end-card", "now")
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".compare .right[aria-busy=false] .files")?.textContent.includes("calc_test.go") && document.querySelectorAll(".compare .file").length === 1`)
	l.picture("compare")
	l.press("x", "a", "k", "b", "j")
	l.until(`document.querySelector(".compare .right[aria-busy=false]") && location.search.includes("at=compare")`)
	l.press("Escape")
	l.until(`document.querySelector(".three")`)
	for _, line := range l.Logged() {
		if !strings.Contains(line, "400") { // the name that could not be
			t.Errorf("the page reported %q", line)
		}
	}
}

// The film plays what changed, by keys.
func TestPageFilm(t *testing.T) {
	l := newPageLab(t)
	l.press("m")
	l.until(`document.querySelector(".film .screen[aria-busy=false] .patch")`)
	at := func(n string) {
		t.Helper()
		l.until(`document.querySelector(".film .screen[aria-busy=false]") && document.querySelector(".film .note").textContent.includes("` + n + ` of 4")`)
	}
	at("1")
	l.press("ArrowRight")
	at("2")
	l.until(`document.querySelector(".film .file").textContent.includes("calc_test.go")`)
	l.press("ArrowLeft", "End")
	at("4")
	l.ok(l.Eval(`document.querySelector(".film select").value = "10", document.querySelector(".film select").dispatchEvent(new Event("change"))`, nil))
	l.press(" ") // from the beginning, and stops at the end
	l.until(`document.querySelector(".film button.go").ariaLabel === "Pause"`)
	l.until(`document.querySelector(".film button.go").ariaLabel === "Play"`)
	at("4")
	var box struct{ X, Y float64 }
	l.ok(l.Eval(`(() => { const b = document.querySelector(".film .chart").getBoundingClientRect(); return { x: b.x + b.width * .3, y: b.y + 5 }; })()`, &box))
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		l.ok(l.Send("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": box.X, "y": box.Y, "button": "left", "clickCount": 1}, nil))
	}
	at("2")
	l.clean()
}

// A whole restore and a whole revert by keys alone, from the page's first look to the undo of each: the chosen row, the
// plan, its question, what it said, and where the focus is then.
func TestPageRestoresAndRevertsByKeys(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".live.on") && document.querySelector(".legend")`)
	chosen := func(text string) {
		t.Helper()
		l.until(`document.querySelector(".row.chosen")?.textContent.includes("` + text + `")`)
	}
	tabTo := func(what string) { // as a person without a mouse gets there
		t.Helper()
		for range 40 {
			var on bool
			if l.ok(l.Eval(`document.activeElement.matches(`+"`"+what+"`"+`)`, &on)); on {
				return
			}
			l.press("Tab")
		}
		var at string
		l.ok(l.Eval(`document.activeElement.outerHTML.slice(0, 200)`, &at))
		t.Fatalf("Tab does not lead to %s, but to %s", what, at)
	}
	planned := func(verb string) {
		t.Helper()
		l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent.startsWith("` + verb + `")`)
	}
	said := func(text string) {
		t.Helper()
		l.until(`!document.querySelector("dialog") && [...document.querySelectorAll(".done")].some((e) => e.textContent.includes("` + text + `"))`)
	}

	// A restore: the prompt is filtered for, chosen, planned, done.
	l.press("/")
	l.ok(l.Type("faster"))
	l.press("ArrowDown")
	chosen("make Add faster")
	l.press("Enter")
	planned("Restore")
	tabTo("dialog .go")
	l.press("Enter")
	said("Restored to")
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a + b") || strings.Contains(got, "# calc") {
		t.Errorf("not restored: %s", got)
	}
	l.press("u") // from wherever the focus is now
	planned("Undo")
	tabTo("dialog .go")
	l.press(" ")
	said("Undone")
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a - b") || !strings.Contains(got, "# calc") {
		t.Errorf("not undone: %s", got)
	}

	// A revert, of the same turn; the plan is left once, and nothing happens.
	l.until(`!document.querySelector("#row-0")`) // the row of now no longer has the word of the filter
	l.press("Home", "]")
	l.until(`document.querySelector(".timeline")`)
	for range 12 {
		var text string
		l.until(`document.querySelector(".row.chosen")`) // not while the rows are drawn anew
		l.ok(l.Eval(`document.querySelector(".row.chosen")?.textContent || ""`, &text))
		if strings.Contains(text, "prompt") && strings.Contains(text, "make Add faster") {
			break
		}
		l.press("[")
	}
	chosen("make Add faster")
	l.press("v")
	planned("Revert")
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("reverted by Escape: %s", got)
	}
	l.press("v")
	planned("Revert")
	tabTo("dialog .go")
	l.press("Enter")
	said("Reverted")
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a + b") || !strings.Contains(got, "# calc") {
		t.Errorf("not that turn alone: %s", got)
	}
	tabTo(".done button") // the button that comes with what was said
	l.press("Enter")
	planned("Undo")
	tabTo("dialog .go")
	l.press("Enter")
	said("Undone")
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("not undone: %s", got)
	}
	l.press("j") // the keys of the timeline go on
	l.until(`document.querySelector(".row.chosen")`)
	l.clean()
}
