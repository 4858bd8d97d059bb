package page

import "testing"

// All lines of a file have an address, with the version and a line; what wrote them leads to its row, whose message has its
// restore and its revert under the pointer.
func TestPageLinesHaveAnAddress(t *testing.T) {
	l := newPageLabOf(t, []pageTurn{
		{"say what it is", "calc.go", "// Package calc adds.\npackage calc\n\nfunc Add(a, b int) int { return a + b }\n", "Done."},
		{"make Add right", "calc.go", "// Package calc adds.\npackage calc\n\nfunc Add(a, b int) int { return b + a }\n", "Done."},
	})
	l.press("f")
	l.click(".tree button", "calc.go")
	l.click(".version .pair button", "All lines")
	l.until(`[...document.querySelectorAll(".whole .whose-line")].map((e) => e.textContent).join("|") === "say what it is|not known||make Add right"`)
	// Who wrote a line has a quarter of the page, and an ellipsis where that is not enough.
	l.until(`document.querySelector(".whose-line").getBoundingClientRect().width > 300 && getComputedStyle(document.querySelector(".whose-line .link")).textOverflow === "ellipsis"`)
	l.click(".whole .no", "4")
	l.until(`location.search.includes("whole=") && location.search.includes("line=4")`)
	l.ok(l.Eval(`window.old = 1; location.reload()`, nil))
	l.until(`!window.old && document.querySelector(".whole tr.flash")?.textContent.includes("b + a")`)
	l.click(".whose-line button", "say what it is")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("say what it is") && document.querySelector(".right[aria-busy=false] .patch .in")?.textContent.includes("Package calc")`)
	l.click(".talk .said.here .plans button", "Revert…")
	l.until(`document.querySelector("dialog h2")?.textContent.includes("say what it is")`)
	l.clean()
}

// The rows of a session stand together if that is wanted, below a head that names it. The filter, which rows are shown and
// their order are in the address: a reload and Back keep them.
func TestPageKeepsTheView(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".legend")`)
	l.rewind("save", "by myself")
	l.until(`document.querySelector(".left").textContent.includes("by myself")`)
	l.ok(l.Eval(`(() => { const s = document.querySelector("select[aria-label=Order]"); s.value = "session"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	l.until(`document.querySelectorAll(".timeline .group").length === 2 && document.querySelector(".timeline .group").textContent.includes("no session") && [...document.querySelectorAll(".timeline .group")][1].textContent.includes("claude 5ba1")`)
	l.until(`location.search === "?order=session"`)
	l.picture("by-session")
	l.press("/")
	l.ok(l.Type("faster"))
	l.until(`location.search === "?f=faster&order=session" && document.querySelectorAll(".row").length === 1`)
	l.press("ArrowDown")
	l.reload()
	l.until(`document.querySelector("header input").value === "faster" && document.querySelectorAll(".row").length === 1 && document.querySelector("select[aria-label=Order]").value === "session"`)
	l.click(".row", "faster")
	l.until(`location.pathname.includes("/c/") && location.search === "?f=faster&order=session"`)
	l.press("h")
	l.until(`document.querySelector(".at-health dl")`)
	l.ok(l.Eval("history.back()", nil))
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("faster") && document.querySelectorAll(".row").length === 1`)
	l.clean()
}
