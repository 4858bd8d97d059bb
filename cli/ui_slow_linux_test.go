package cli

import (
	"strings"
	"testing"
)

// slow holds the answers to some questions of the page back, until window.let is called.
const slow = `(() => {
	const now = window.fetch, held = [];
	let open = false;
	window.fetch = async (...args) => {
		const answer = await now(...args);
		if (/\/diff\?/.test(args[0]) && !open) await new Promise((go) => held.push(go));
		return answer;
	};
	window.held = held;
	window.let = () => ((open = true), held.forEach((go) => go()));
})()`

// The lines of a long file that come when another row, other ends or another frame are shown, change nothing there.
func TestPageLateLines(t *testing.T) {
	l := newPageLab(t)
	l.write("long.js", strings.Repeat("some words that are many\n", 1<<15))
	l.rewind("save", "a long file")
	l.until(`document.querySelector(".left").textContent.includes("a long file")`)
	long := `[...document.querySelectorAll(".file")].find((f) => f.textContent.includes("long.js"))`
	for _, place := range []struct{ name, there, enter, long, other string }{
		{"timeline", `document.querySelector(".three .right[aria-busy=false]")`, "", "Home j", "j j"},
		{"compare", `document.querySelector(".compare .right[aria-busy=false]")`, "c", "j", "b j j"},
		{"film", `document.querySelector(".film .screen[aria-busy=false]")`, "m", "End", "Home"},
	} {
		press := func(keys string) {
			for _, key := range strings.Fields(keys) {
				l.press(key)
				l.until(place.there)
			}
		}
		l.ok(l.Eval(slow, nil))
		press(place.enter)
		press(place.long)
		l.until(`window.held.length && ` + long)
		press(place.other)
		gone := place.there + " && !" + long
		l.until(gone)
		l.ok(l.Eval(`(async () => { window.let(); for (let i = 0; i < 50; i++) await new Promise(requestAnimationFrame); })()`, nil))
		var is bool
		if l.ok(l.Eval("!!("+gone+")", &is)); !is {
			t.Errorf("%s shows something else once the lines came", place.name)
			l.picture("late-" + place.name)
		}
	}
	l.clean()
}
