package page

import (
	"fmt"
	"strings"
	"testing"
)

// elsewhere does what another page does meanwhile: the restore of some paths to the row with a text.
func (l *pageLab) elsewhere(text string, paths string) {
	l.t.Helper()
	l.until(`sessionStorage.getItem("rewind-token")`)
	var status int
	l.ok(l.Eval(fmt.Sprintf(`(async () => {
		const at = "/api/v1" + location.pathname.slice(0, "/p/".length + 32), ask = async (path, body) => {
			const r = await fetch(at + path, { method: body ? "POST" : "GET", body: body && JSON.stringify(body), headers: { Authorization: "Bearer " + sessionStorage.getItem("rewind-token") } });
			return { status: r.status, ...(await r.json()) };
		};
		const row = (await ask("/timeline")).rows.find((r) => r.text.includes(%q));
		const plan = await ask("/plans", { verb: "restore", id: row.id, paths: %s });
		return (await ask("/plans/" + plan.id + "/apply", {})).status;
	})()`, text, paths), &status))
	if status != 200 {
		l.t.Fatal("the other page: ", status)
	}
}

// reported fails where the page reported anything but answers with a status.
func (l *pageLab) reported(status string) {
	l.t.Helper()
	for _, line := range l.Logged() {
		if !strings.Contains(line, status) {
			l.t.Errorf("the page reported %s", line)
		}
	}
}

const goes = `document.querySelector("dialog .go:not([disabled])")?.textContent`

// A plan that the server has no more is made anew, with the lines that were open; a second click, that was meant for the
// first, does not do what nobody has read.
func TestPagePlanIsGone(t *testing.T) {
	l := newPageLab(t)
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(goes + ` === "Restore 2 paths" && document.querySelectorAll("dialog .lines[open] .patch").length === 2`)
	l.ok(l.Eval(`document.querySelector('dialog input[value=code]').click()`, nil))
	l.until(goes + ` === "Restore 2 paths" && document.querySelectorAll("dialog .lines[open] .patch").length === 2`)
	l.until(`document.querySelector("dialog .act-delete .lines").textContent.includes("deleted file mode")`) // as it will be
	l.elsewhere("make Add faster", `["README.md"]`)
	l.ok(l.Eval(`(window.real = performance.now, performance.now = () => 1e9)`, nil)) // no time passes
	l.click("dialog .go", "Restore")
	l.until(goes + ` === "Restore 1 path" && /nothing was done: that plan is gone.*something changed since then/s.test(document.querySelector("dialog .warn").textContent)`)
	l.until(`document.querySelectorAll("dialog .lines[open] .patch").length === 1`)
	l.picture("plan-anew")
	l.ok(l.Eval(`(performance.clearResourceTimings(), document.querySelector("dialog .go").click(), new Promise((go) => setTimeout(go, 100)))`, nil))
	var asked int
	l.ok(l.Eval(`performance.getEntriesByType("resource").filter((e) => e.name.includes("/apply")).length`, &asked))
	if got := l.read("calc.go"); asked != 0 || !strings.Contains(got, "a - b") {
		t.Errorf("what nobody had read was done: %d %s", asked, got)
	}
	l.ok(l.Eval(`(performance.now = () => 2e9)`, nil))
	l.click("dialog .go", "Restore")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("not restored: %s", got)
	}
	l.reported("410")
}

// What was undone at the command line cannot be undone once more, and what u would do now is not what was asked for.
func TestPageUndoIsDoneElsewhere(t *testing.T) {
	l := newPageLab(t)
	l.elsewhere("make Add faster", `["README.md", "calc.go"]`)
	l.press("u")
	l.until(goes + ` === "Undo 2 paths"`)
	l.rewind("undo-restore", "--yes")
	l.click("dialog .go", "Undo")
	// The plan is made anew, and waits.
	l.until(`document.querySelector("dialog h2").textContent.startsWith("Undo: to") && ` + goes + ` === "Undo 1 path" && !!document.querySelector("dialog .warn")`)
	l.picture("undo-elsewhere")
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("undone: %s", got)
	}
	l.reported("409")
}

// What is planned cannot be turned into something else while it is done; where it is not, because the files changed, what
// was chosen is as it was.
func TestPageChoiceWhileItIsDone(t *testing.T) {
	l := newPageLab(t)
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(goes + ` === "Restore 2 paths"`)
	l.ok(l.Eval(`document.querySelector('dialog input[value=code]').click()`, nil))
	l.until(goes + ` === "Restore 2 paths"`)
	l.write("calc.go", "package calc // mine\n")
	l.hold(`/\/apply$/`)
	l.click("dialog .go", "Restore")
	l.until(`window.held.length && document.querySelector("dialog [role=status]")?.textContent.includes("being done")`)
	l.until(`![...document.querySelectorAll("dialog input, dialog .link")].some((e) => !e.disabled)`)
	l.ok(l.Eval(`(window.let(), performance.now = () => 1e9)`, nil))
	l.until(goes + ` === "Restore 2 paths" && document.querySelector("dialog .warn").textContent.includes("nothing was done") && document.querySelector("dialog [value=code]").checked`)
	l.until(`[...document.querySelectorAll("dialog .lines[open] .patch")].some((p) => p.textContent.includes("mine"))`)
	l.click("dialog label", "README.md")
	l.until(goes + ` === "Restore 1 path"`)
	l.write("calc.go", "package calc // mine again\n")
	l.ok(l.Eval(`(performance.now = () => 2e9)`, nil))
	l.click("dialog .go", "Restore")
	l.until(goes + ` === "Restore 1 path" && document.querySelector("dialog .warn")?.textContent.includes("nothing was done") && document.querySelectorAll("dialog label:has(:checked) .path").length === 1`)
	l.until(`[...document.querySelectorAll("dialog .lines[open] .patch")].some((p) => p.textContent.includes("mine again"))`)
	if got := l.read("calc.go") + l.read("README.md"); got != "package calc // mine again\n# calc\n" {
		t.Errorf("what was not done: %s", got)
	}
	l.reported("409")
}

// Where no answer comes, nobody says that nothing was done: it may be, and the plan that is made anew tells.
func TestPageAnswerNeverComes(t *testing.T) {
	l := newPageLab(t)
	cut := func(questions string) {
		l.ok(l.Eval(`(() => {
			const now = window.fetch;
			window.fetch = async (...args) => {
				const answer = await now(...args);
				if (`+questions+`.test(args[0])) throw new TypeError("Failed to fetch");
				return answer;
			};
		})()`, nil))
	}
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(goes + ` === "Restore 2 paths"`)
	l.ok(l.Eval(`document.querySelector('dialog input[value=code]').click()`, nil))
	l.until(goes + ` === "Restore 2 paths"`)
	cut(`/\/apply$/`)
	l.click("dialog .go", "Restore")
	l.until(`/no answer came.*it may be done all the same/s.test(document.querySelector("dialog .warn")?.textContent)`)
	l.until(`document.querySelector("dialog .go[disabled]").textContent === "Nothing to do"`)
	l.picture("no-answer")
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("it was done: %s", got)
	}
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	l.press("u")
	l.until(goes + ` === "Undo 2 paths"`)
	cut(`/\/plans$/`)
	l.click("dialog .go", "Undo")
	l.until(`/no answer came/s.test(document.querySelector("dialog .warn")?.textContent) && !document.querySelector("dialog .go")`)
	l.press("Escape")
	l.click(".row", "add a test")
	l.press("r")
	l.until(`/^rewind ui does not answer/.test(document.querySelector("dialog .warn")?.textContent)`)
	l.clean()
}

// What is loaded later and does not come is said, wherever it was to be, and can be tried again.
func TestPageRestDoesNotCome(t *testing.T) {
	l := newPageLab(t)
	block := func(urls ...string) {
		l.ok(l.Send("Network.enable", map[string]any{}, nil))
		l.ok(l.Send("Network.setBlockedURLs", map[string]any{"urls": append([]string{}, urls...)}, nil))
	}
	block("*rest.js*")
	l.reload()
	l.press("o")
	l.until(`document.querySelector("[role=alert]")?.textContent.includes("could not be loaded")`)
	l.picture("rest-is-missing")
	l.press("Escape")
	l.click(".row", "make Add faster")
	l.press("r")
	l.until(`document.querySelector("[role=alert]")?.textContent.includes("could not be loaded")`)
	l.picture("plan-is-missing")
	block()
	l.click("[role=alert] button", "Try again")
	l.until(goes + ` === "Restore 2 paths"`)
	l.reported("rest.js")
}
