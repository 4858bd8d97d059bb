package page

import (
	"strings"
	"testing"
)

// An attempt is what its own session was asked and wrote: what another session did meanwhile is named, and not counted. Both
// ends of a comparison of attempts are in its address, which shows them again.
func TestPageAttemptsAreOfTheirSession(t *testing.T) {
	l := newPageLabOf(t, []pageTurn{
		{"begin", "calc_test.go", "package calc\n", "Done."},
		{"make Add right", "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "Done."},
	})
	l.rewind("restore", "prompt~1", "--code-only", "--yes")
	l.play(pageTurn{"make Add right again", "calc.go", "package calc\n\nfunc Add(a, b int) int { return b + a }\n", "Done."})
	o := l.other()
	o.play(pageTurn{"a file beside", "beside.go", "package calc\n", "Done."}, pageTurn{"a comment", "calc.go", "package calc\n\n// Add adds.\n\nfunc Add(a, b int) int { return b + a }\n", "Done."})
	l.until(`document.querySelector(".left").textContent.includes("a comment")`)
	l.press("Escape")
	l.click("nav a", "attempts")
	l.until(`[...document.querySelectorAll(".attempts section")].map((e) => /\d+ prompts?/.exec(e.textContent)[0]).join() === "1 prompt,1 prompt"`)
	l.until(`/1 more path that only you or other sessions changed meanwhile is not counted.*Lines that you or other sessions wrote in the same files/s.test(document.querySelector(".attempts .current").textContent)`)
	l.until(`!/other sessions/.test(document.querySelector(".attempts section:not(.current)").textContent)`)
	l.click(".attempts button", "Compare with attempt 1")
	shown := `document.querySelector(".at-compare .right[aria-busy=false] .patch .out")?.textContent.includes("a - b") && !document.querySelector(".end-card .end-text").textContent.includes("nothing") && !!document.querySelector(".at-compare .timeline .badge")`
	l.until(shown)
	l.reload()
	l.until(shown)
	l.until(`/attempt 1 .* to attempt 2 .*last: 1 path of others.*calc\.go.*beside\.go/s.test(document.querySelector(".at-compare .right").textContent)`)
	l.clean()
}

// Of more than two attempts, each is compared with any other one. One file is no files.
func TestPageComparesAnyAttempts(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"begin", "calc_test.go", "package calc\n", "Done."})
	for i, body := range []string{"a - b", "b + a", "a + b + 0"} {
		if i > 0 {
			l.rewind("restore", "prompt~1", "--code-only", "--yes")
		}
		l.play(pageTurn{"make Add right", "calc.go", "package calc\n\nfunc Add(a, b int) int { return " + body + " }\n", "Done."})
	}
	l.serve()
	l.look()
	l.click("nav a", "attempts")
	l.until(`document.querySelectorAll(".attempts section").length === 3 && document.querySelector(".attempts section").textContent.includes("1 file ~1, lines +1 −1")`)
	l.picture("attempts-three")
	l.ok(l.Eval(`(() => { const s = document.querySelectorAll(".attempts select")[0]; s.selectedIndex = 2; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	l.until(`/attempt 1 .* to attempt 3 /.test(document.querySelector(".at-compare .right[aria-busy=false]")?.textContent) && document.querySelector(".at-compare .patch .in").textContent.includes("a + b + 0")`)
	l.clean()
}

// An address can name a row that adds nothing, and a filter that leaves it out: it is what is shown all the same, also where it
// is an end of a comparison.
func TestPageAddressOfRowsThatAreLeftOut(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".legend")`)
	l.click("button", "without changes")
	l.until(`document.querySelectorAll(".row.k-stop").length === 3`)
	l.ok(l.Eval(`document.querySelectorAll(".row.k-stop")[1].click()`, nil))
	l.until(`location.pathname.includes("/c/") && document.querySelector(".right[aria-busy=false] h2")?.textContent.includes("stop")`)
	var at string
	l.ok(l.Eval(`location.pathname`, &at))
	project, id := at[:len(at)-len("/c/kkkkkkkkkkkkkkkk")], at[len(at)-16:]
	base := l.url[:strings.Index(l.url, "/p/")]
	for _, place := range []string{at, at + "?f=faster", at + "?rows=prompts", at + "?with=now"} {
		l.ok(l.Go(base + place))
		l.until(`document.querySelector(".right[aria-busy=false] h2")?.textContent.includes("stop") && location.pathname === "` + at + `"`)
	}
	for _, f := range []string{"", "no row has this"} {
		l.ok(l.Go(base + project + "?at=compare&a=" + id + "&b=%40"))
		l.until(`document.querySelector(".end-card .end-text")?.textContent.includes("stop") && document.querySelector(".at-compare .right[aria-busy=false] h2")`)
		l.press("/")
		l.ok(l.Type(f))
		l.until(`document.querySelector(".end-card .end-text").textContent.includes("stop")`)
	}
	l.clean()
}
