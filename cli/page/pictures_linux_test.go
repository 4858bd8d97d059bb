package page

import (
	"fmt"
	"testing"
)

// Every place fits where there is little room, in both schemes: nothing stands beyond the right edge but what scrolls by
// itself. The pictures are to be looked at.
func TestPagePlacesFit(t *testing.T) {
	l := newPageLab(t)
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
		{"file", `history.pushState(null, "", location.pathname + "?at=file&path=calc.go"); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelectorAll(".versions li").length === 2`},
		{"search", `history.pushState(null, "", location.pathname + "?at=search&q=Add"); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelector(".place .files[role=status]")?.textContent.includes("line")`},
		{"whole", `history.pushState(null, "", location.pathname + "?at=file&path=calc.go&whole="); dispatchEvent(new PopStateEvent("popstate"))`, `document.querySelector(".whole .code")`},
	}
	l.click(".row", "make Add faster")
	for _, place := range places {
		if place.name == "operations" {
			l.rewind("restore", "2", "--yes")
			l.until(`document.querySelector(".live.on")`)
		}
		if place.do != "" {
			l.ok(l.Eval(place.do, nil))
		}
		l.until(place.until)
		for _, size := range [][2]int{{400, 800}, {1280, 800}} {
			l.ok(l.Size(size[0], size[1]))
			for _, scheme := range []string{"light", "dark"} {
				l.ok(l.Media(map[string]string{"prefers-color-scheme": scheme}))
				l.picture(fmt.Sprintf("fit-%s-%d-%s", place.name, size[0], scheme))
			}
			var beyond []string
			l.ok(l.Eval(beyondEdge, &beyond))
			if place.name == "operations" && size[0] == 400 {
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
