package page

import (
	"image/color"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/browser"
)

// The main path of the page in Firefox: the other tests are in Chromium. What breaks in one of them alone is how a browser
// keeps time, lays out, encodes pictures, gives focus and keys, and what its policy lets through.
func TestFirefoxPage(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	l := newTurnsLab(t)
	l.write("logo.png", drawn(t, color.RGBA{255, 0, 0, 255}, 40))
	l.rewind("save", "-q")
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."},
		pageTurn{"make Add faster", "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "Done."},
		pageTurn{"make the logo green", "logo.png", drawn(t, color.RGBA{0, 128, 0, 255}, 60), "Done <img src=x onerror=alert(1)>."})
	l.serve()
	l.lookInFirefox()
	f, until, click := l.fox, l.until, l.click
	press := func(keys string) { t.Helper(); l.ok(f.Type(keys)) }
	until(`document.querySelectorAll(".row").length === 6 && document.querySelector(".legend") && document.querySelector(".live.on")`)
	until(`document.querySelector(".row.chosen")?.textContent.includes("make the logo green") && !location.hash`)
	until(`[...document.querySelectorAll(".pictures figcaption")].map((e) => e.textContent).join() === "before 40 × 40,after 60 × 60"`)
	until(`document.querySelector(".talk .here") && document.querySelector(".talk").textContent.includes("<img") && !document.querySelector(".talk img")`)
	l.picture("firefox-pictures")
	l.ok(f.Eval(`void document.querySelector(".timeline").focus()`, nil))
	press("j")
	until(`document.querySelector(".row.chosen")?.textContent.includes("make Add faster") && document.querySelector(".right .patch .in [class^=c-]")`)
	until(`/\/c\/[k-z]{16}$/.test(location.pathname)`)
	l.ok(f.Eval(`void (window.wide = document.querySelector(".left").clientWidth, document.querySelector(".split").focus())`, nil))
	press(browser.FoxRight + browser.FoxRight + browser.FoxRight)
	until(`document.querySelector(".left").clientWidth > window.wide + 60`)
	l.picture("firefox-timeline")
	l.ok(f.Go(l.url[:strings.Index(l.url, "#")])) // another load: the token is kept
	until(`document.querySelectorAll(".row").length === 6 && document.querySelector(".live.on")`)

	press("/return a - b" + browser.FoxEnter)
	until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	click(".place .lines td button", "make Add faster")
	until(`document.querySelector(".row.chosen")?.textContent.includes("make Add faster") && document.querySelector(".right[aria-busy=false] .patch .in")`)
	press("f")
	until(`document.querySelectorAll(".tree li").length === 3`)
	click(".tree button", "calc.go")
	until(`document.querySelectorAll(".versions li").length === 2`)
	press(browser.FoxEscape)
	until(`document.querySelector(".right[aria-busy=false] .patch .in") && (window.rest ??= performance.now()) + 500 < performance.now()`)
	until(`document.activeElement.matches(".timeline")`) // and not in the line that the search led to
	press("v")
	until(`document.querySelector("dialog[open] .go:not([disabled])")?.textContent === "Revert 1 path"`)
	l.picture("firefox-plan")
	click("dialog .go", "Revert")
	until(`document.querySelector(".done") && !document.querySelector("dialog")`)
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("not reverted: %s", got)
	}
	click("header button", "Undo…")
	click("dialog .go:not([disabled])", "Undo")
	until(`[...document.querySelectorAll(".done")].some((e) => e.textContent.includes("Undone"))`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("not undone: %s", got)
	}
	l.ok(f.Size(500, 800)) // it has no smaller window
	for _, place := range []string{"timeline", "operations", "film", "health"} {
		click("nav a", place)
		until(`!document.querySelector(".place .wait") && (document.querySelector(".place h2") || document.querySelector(".row"))`)
		l.picture("firefox-" + place + "-500")
		var beyond []string
		l.ok(f.Eval(beyondEdge, &beyond))
		if len(beyond) > 0 {
			t.Errorf("%s: beyond the edge: %q", place, beyond)
		}
	}
	l.clean()
}
