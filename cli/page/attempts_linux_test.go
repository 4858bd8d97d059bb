package page

import "testing"

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
	l.clean()
}
