package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hold keeps the answers to the questions of the page that match back, until window.let is called.
func (l *pageLab) hold(questions string) {
	l.t.Helper()
	l.ok(l.Eval(`(() => {
		const now = window.fetch, held = [];
		let open = false;
		window.fetch = async (...args) => {
			const answer = await now(...args);
			if (`+questions+`.test(args[0]) && !open) await new Promise((go) => held.push(go));
			return answer;
		};
		window.held = held;
		window.let = () => ((open = true), held.forEach((go) => go()));
	})()`, nil))
}

// A path that is no longer chosen does not go, however soon somebody says yes to what is left.
func TestPageLatePlan(t *testing.T) {
	l := newPageLab(t)
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 2 paths"`)
	l.hold(`/\/plans$/`)
	l.click("dialog label", "README.md")
	l.ok(l.Eval(`document.querySelector("dialog .go").click()`, nil))
	l.until(`window.held.length`)
	l.ok(l.Eval(`(document.querySelector("dialog .go").click(), window.let())`, nil))
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 1 path"`)
	l.click("dialog .go", "Restore")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a + b") || !strings.Contains(got, "# calc") {
		t.Errorf("not just one file: %s", got)
	}
	l.clean()
}

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
		l.hold(`/\/diff\?/`)
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

// A path that is left out stays as it is, also where the directory around it was to go or to come; what comes into such a
// directory meanwhile, and goes with it, is shown as going.
func TestPageLeavesOutInADirectory(t *testing.T) {
	l := newPageLab(t)
	l.ok(os.Mkdir(filepath.Join(l.root, "d"), 0o755))
	l.write("d/x.go", "package d\n")
	l.write("d/y.go", "package d // y\n")
	l.rewind("save", "a package")
	l.until(`document.querySelector(".left").textContent.includes("a package")`)
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 4 paths"`)
	l.click("dialog label", "d/x.go")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 3 paths"`)
	chosen := `[...document.querySelectorAll("dialog label:has(:checked) .path")].map((e) => e.textContent).join(" ")`
	l.until(chosen + ` === "README.md d/y.go calc.go"`)
	l.click("dialog label", "d/x.go")
	l.until(`!document.querySelector("dialog .choose input:not(:checked)")`)
	l.write("d/z.go", "package d // z\n")
	l.click("dialog label", "README.md")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 4 paths" && ` + chosen + `.includes("d/z.go")`)
	l.click("dialog label", "d/x.go")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 3 paths"`)
	l.click("dialog .go", "Restore")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("d/x.go"); got != "package d\n" {
		t.Errorf("what was left out went: %q", got)
	}
	for _, gone := range []string{"d/y.go", "d/z.go"} {
		if _, err := os.Lstat(filepath.Join(l.root, gone)); err == nil {
			t.Errorf("%s stayed", gone)
		}
	}
	l.clean()
}

// Who leaves a plan while it is done is told what was done, and that nothing was where it was not.
func TestPageLeavesAPlanThatIsDone(t *testing.T) {
	l := newPageLab(t)
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.hold(`/\/apply$/`)
	l.click("dialog .go", "Restore")
	l.until(`window.held.length`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	l.ok(l.Eval(`window.let()`, nil))
	l.until(`document.querySelector(".done")?.textContent.includes("Restored to")`)

	l.click(".row", "add a test")
	l.press("r")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.write("calc.go", "package calc // mine\n")
	l.hold(`/\/apply$/`)
	l.click("dialog .go", "Restore")
	l.until(`window.held.length`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	l.ok(l.Eval(`window.let()`, nil))
	l.until(`document.querySelector(".done")?.textContent.includes("changed")`)
	if got := l.read("calc.go"); got != "package calc // mine\n" {
		t.Errorf("what was not done: %q", got)
	}
}

// Of many paths one is left out, then all but one: what is asked for is as short as what was turned.
func TestPageLeavesOneOfManyPaths(t *testing.T) {
	l := newPageLab(t)
	const files = 1300
	name := func(i int) string {
		return fmt.Sprintf("a file with a name that is somewhat longer than usual %04d", i)
	}
	for i := range files {
		l.write(name(i), "old\n")
	}
	l.rewind("save", "--name", "old", "many")
	for i := range files {
		l.write(name(i), "new\n")
	}
	l.until(`document.querySelector(".left").textContent.includes("many")`)
	l.click(".row", "[old]")
	l.press("r")
	button := `document.querySelector("dialog .go:not([disabled])")?.textContent`
	l.until(button + ` === "Restore 1,300 paths"`)
	l.ok(l.Eval(`document.querySelector("dialog details:not([open]) summary").click()`, nil))
	l.click("dialog label", name(7))
	l.until(button + ` === "Restore 1,299 paths"`)
	l.click("dialog button", "choose none")
	l.until(`document.querySelector("dialog .go").disabled && document.querySelector("dialog .go").title === "Choose a path first"`)
	l.until(`document.querySelector("dialog .wait")?.textContent === "No path is chosen." && document.querySelector("dialog .go[disabled]") && !document.querySelector("dialog :checked")`)
	l.click("dialog label", name(8))
	l.until(button + ` === "Restore 1 path"`)
	l.click("dialog label", name(9))
	l.until(button + ` === "Restore 2 paths"`)
	l.click("dialog .go", "Restore")
	l.until(`!document.querySelector("dialog")`)
	for i, want := range map[int]string{0: "new\n", 7: "new\n", 8: "old\n", 9: "old\n", 10: "new\n"} {
		if got := l.read(name(i)); got != want {
			t.Errorf("%s: %q", name(i), got)
		}
	}
	l.click(".done button", "Undo…")
	l.until(button + ` === "Undo 2 paths"`)
	l.clean()
}
