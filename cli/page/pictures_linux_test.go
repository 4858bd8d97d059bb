package page

import (
	"fmt"
	"testing"
)

// Every place fits where there is little room, in both schemes: nothing stands beyond the right edge but what scrolls by
// itself. The pictures are to be looked at.
func TestPagePlacesFit(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	l := newTasksLab(t)
	l.serve()
	l.look()
	places := []struct{ name, do, until string }{
		{"timeline", ``, `document.querySelector(".right .patch tr")`},
		{"plan", `[...document.querySelectorAll(".right button")].find((b) => b.textContent === "Restore…").click()`, `document.querySelector("dialog .go:not([disabled])")`},
		{"compare", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "compare").click()`, `document.querySelector(".place.at-compare, .at-compare")`},
		{"film", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "film").click()`, `document.querySelector(".place h2") && !document.querySelector(".place .wait")`},
		{"operations", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "operations").click()`, `document.querySelector(".place td .link")`},
		{"space", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "space").click()`, `document.querySelectorAll(".at-space table").length === 2`},
		{"attempts", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "attempts").click()`, `document.querySelector(".at-attempts h2")`},
		{"files", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "files").click()`, `document.querySelector(".tree li")`},
		{"health", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "health").click()`, `document.querySelector(".place h2") && !document.querySelector(".place .wait")`},
		{"keys", `[...document.querySelectorAll("nav a")].find((a) => a.textContent === "keys").click()`, `document.querySelector(".place h2")`},
		{"file", `history.pushState(null, "", location.pathname + "?at=file&path=invoice/total.go"); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelectorAll(".versions li").length > 1`},
		{"search", `history.pushState(null, "", location.pathname + "?at=search&q=Total"); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelector(".place .files[role=status]")?.textContent.includes("line")`},
		{"whole", `history.pushState(null, "", location.pathname + "?at=file&path=invoice/total.go&whole="); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelector(".whole .code")`},
	}
	l.click(".row.k-prompt", "round the total")
	for _, place := range places {
		if place.name == "operations" {
			l.rewind("restore", "2", "--yes")
			l.until(`document.querySelector(".live.on")`)
		}
		if place.do != "" {
			l.ok(l.Eval(place.do, nil))
		}
		l.until(place.until)
		for _, size := range [][2]int{{390, 844}, {1024, 768}, {1440, 900}, {1920, 1080}} {
			l.ok(l.Size(size[0], size[1]))
			for _, scheme := range []string{"light", "dark"} {
				l.ok(l.Media(map[string]string{"prefers-color-scheme": scheme}))
				l.picture(fmt.Sprintf("fit-%s-%d-%s", place.name, size[0], scheme))
			}
			var head struct {
				Lines  int
				Undo   float64
				Hidden []string
				Rows   []string
				At     string
			}
			l.ok(l.Eval(`new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))`, nil)) // the page hears of a size with its next frame
			l.ok(l.Eval(headAndRows, &head))
			if most := map[bool]int{true: 2, false: 1}[size[0] < 600]; head.Lines > most || head.Undo > 50 || len(head.Hidden) > 0 {
				t.Errorf("%s, %d wide: the head has %d lines, the button of the undo ends at %v px, places that are not seen are %q", place.name, size[0], head.Lines, head.Undo, head.Hidden)
			}
			if place.name == "timeline" {
				var lines int
				l.ok(l.Eval(headConnecting, &lines))
				if lines != head.Lines {
					t.Errorf("%d wide: the head has %d lines while the page connects, and then %d", size[0], lines, head.Lines)
				}
			}
			if tab := map[string]string{"file": "files", "whole": "files", "plan": "timeline", "search": ""}; place.name != head.At && tab[place.name] != head.At {
				t.Errorf("%s: the tab of this place is %q", place.name, head.At)
			}
			if len(head.Rows) > 0 {
				t.Errorf("%s, %d wide: rows are not of two lines, the text alone in the first: %q", place.name, size[0], head.Rows)
			}
			var beyond []string
			l.ok(l.Eval(beyondEdge, &beyond))
			if place.name == "operations" && size[0] == 390 {
				var narrow int
				l.ok(l.Eval(`[...document.querySelectorAll(".ops td.to")].filter((e) => e.clientWidth < 150).length`, &narrow))
				if narrow > 0 {
					t.Errorf("%d wide: what an operation restored has no place", size[0])
				}
			}
			if len(beyond) > 0 {
				t.Errorf("%s, %d wide: beyond the edge: %q", place.name, size[0], beyond)
			}
		}
		if place.name == "plan" {
			l.press("Escape")
			l.until(`!document.querySelector("dialog[open]")`)
		}
	}
	l.clean()
}

// headAndRows is the head: how many lines it has, where the undo's button ends, and the links that are not seen, of a narrow page, whose
// links scroll, the one of this place alone; and the rows of a
// list below 600 px that are not of two lines, the text in the first, or whose text takes its line and is none.
const headAndRows = `(() => { const head = document.querySelector("header"), list = document.querySelector(".timeline"), right = (e) => e.getBoundingClientRect().right;
	const two = (r) => { const t = r.querySelector(".text"), n = r.querySelector(".why").getBoundingClientRect(); return r.offsetHeight === 48 && (t.textContent ? t.getBoundingClientRect().bottom <= n.top + 2 && t.offsetWidth > r.offsetWidth / 2 : !t.offsetHeight); };
	return { at: head.querySelector("[aria-current]")?.textContent || "", lines: Math.round(head.offsetHeight / 38), undo: head.querySelector("button").getBoundingClientRect().bottom, hidden: [...head.querySelectorAll("nav a")].filter((a) => innerWidth > 600 || a.hasAttribute("aria-current")).filter((a) => a.getBoundingClientRect().left < 0 || right(a) > innerWidth + 1 || right(a) > right(a.parentElement) + 1).map((a) => a.textContent),
		rows: list && list.clientWidth < 600 ? [...list.querySelectorAll(".row")].filter((r) => !two(r)).map((r) => r.textContent) : [] }; })()`

// headConnecting is how many lines the head has before the page is connected.
const headConnecting = `(() => { const e = document.querySelector(".live"), name = e.className, text = e.firstChild.data;
	e.className = "live connects"; e.firstChild.data = "connecting…";
	const lines = Math.round(document.querySelector("header").offsetHeight / 38);
	e.className = name; e.firstChild.data = text;
	return lines; })()`

// beyondEdge names what stands beyond the window's right edge, outside of what scrolls or cuts by itself.
const beyondEdge = `(() => { const out = [];
	for (const el of document.querySelectorAll("body *")) {
		const box = el.getBoundingClientRect();
		if (!box.width || !box.height || box.right <= innerWidth + 1 || el.closest("svg, .hidden, option")) continue;
		let kept = false;
		for (let up = el.parentElement; up && up !== document.body; up = up.parentElement) {
			const style = getComputedStyle(up);
			if (style.overflowX !== "visible" && up.getBoundingClientRect().right <= innerWidth + 1) kept = true;
		}
		if (!kept) out.push(el.tagName + "." + el.className + " " + el.textContent.slice(0, 30));
	}
	return out.slice(0, 5); })()`
