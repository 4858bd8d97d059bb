package page

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var storyTurns = []pageTurn{
	{"add a test for Add", "calc_test.go", "package calc\n", "There is a test now."},
	{"a command that adds", "main.go", "package main\n\nfunc main() { println(Add(1, 2)) }\n", "main.go adds."},
	{"make Add faster", "calc.go", "package calc\n\n// Add is as fast as it gets.\nfunc Add(a, b int) int { return a - b }\n", "One instruction now."},
	{"write a README", "README.md", "# calc\n", "README.md says what calc is for."},
	{"and a licence", "LICENSE", "Do what you want with it.\n", "It is there."},
}

// The page alone finds the prompt after which a test broke: rows are said to be good or bad, and halved. What that prompt
// did is seen, it alone is taken back, and that is taken back by the button that comes with it.
func TestPageFindsWhatBroke(t *testing.T) {
	l := newPageLabOf(t, storyTurns)
	l.until(`document.querySelector(".row.chosen")?.getAttribute("aria-posinset") === "2" && document.querySelector(".row .why").textContent === "now"`) // the newest, where now has nothing new
	l.click(".left button", "Find the turn that broke it…")
	l.press("Home")
	l.click(".hunt button", "It is bad here")
	l.until(`document.querySelector(".hunt .note")?.textContent === "It is bad at this row already: choose another one." && document.querySelectorAll(".hunt button:disabled").length >= 2`)
	l.press("End")
	l.click(".hunt button", "It is good here")
	for tries := 0; tries < 5; tries++ {
		l.until(`!document.querySelector("dialog") && /between|It broke in/.test(document.querySelector(".hunt p").textContent)`)
		var at string
		l.ok(l.Eval(`document.querySelector(".hunt p").textContent`, &at))
		if strings.Contains(at, "It broke in") {
			break
		}
		l.click(".hunt button", "Restore its files…")
		l.until(`document.querySelectorAll("dialog .lines .patch").length === document.querySelectorAll("dialog .paths li").length && document.querySelector("dialog .go:not([disabled])")`)
		l.picture("hunt-plan")
		l.click("dialog .go", "Restore")
		l.until(`document.querySelector(".done")`)
		says := "It is bad here"
		if strings.Contains(l.read("calc.go"), "a + b") {
			says = "It is good here"
		}
		l.ok(l.Eval(`window.was = document.querySelector(".hunt p").textContent; document.querySelector(".done .link").click()`, nil))
		l.click(".hunt button", says)
		l.until(`document.querySelector(".hunt p").textContent !== was`)
	}
	l.until(`document.querySelector(".hunt").textContent.includes("make Add faster")`)
	var first string
	l.ok(l.Eval(`document.querySelector(".hunt .go").textContent`, &first))
	if first != "Back to where you began…" { // the files are those of the last try: it comes first, as the text says
		t.Errorf("%q is offered first", first)
	}
	l.click(".hunt button", "Back to where you began…")
	l.until(`document.querySelectorAll("dialog .lines .patch").length > 0 && document.querySelectorAll("dialog .lines .patch").length === document.querySelectorAll("dialog .paths li").length && document.querySelector("dialog .go:not([disabled])")`)
	l.click("dialog .go", "Restore")
	l.until(`document.querySelector(".done") && !document.querySelector(".hunt .note")`)
	if got := l.read("calc.go") + l.read("LICENSE"); !strings.Contains(got, "a - b") || !strings.Contains(got, "Do what you want") {
		t.Fatalf("not where it began: %s", got)
	}
	l.picture("hunt")
	l.click(".hunt button", "Revert this turn…")
	// The plan shows the lines: what the turn wrote goes.
	has := func(cls, text string) string {
		return `[...document.querySelectorAll("dialog .lines .patch .` + cls + `")].some((e) => e.textContent.includes("` + text + `"))`
	}
	l.until(has("out", "a - b") + " && " + has("in", "a + b"))
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Revert 1 path"`)
	// However many lines a file has and however long a plan is: a number stands on one line, the buttons are seen.
	var drawn struct{ One, Many, Below float64 }
	l.ok(l.Eval(`(() => {
		const box = document.querySelector("dialog"), no = [...box.querySelectorAll(".no")].find((e) => e.textContent), was = no.textContent;
		const one = no.offsetHeight;
		no.textContent = "12345";
		const many = no.offsetHeight;
		no.textContent = was;
		box.style.maxHeight = "160px";
		const below = box.querySelector(".buttons .go").getBoundingClientRect().bottom - box.getBoundingClientRect().bottom;
		box.style.maxHeight = "";
		return { one, many, below };
	})()`, &drawn))
	if drawn.Many != drawn.One || drawn.Below > 0 {
		t.Errorf("a number of five digits is %v px high, of one %v; the buttons are %v px below the edge", drawn.Many, drawn.One, drawn.Below)
	}
	l.picture("hunt-revert")
	l.click("dialog .go", "Revert")
	l.until(`document.querySelector(".done button")?.textContent === "Undo…"`)
	if got := l.read("calc.go") + l.read("README.md"); !strings.Contains(got, "a + b") || !strings.Contains(got, "# calc") {
		t.Errorf("not that turn alone: %s", got)
	}
	l.until(`/revert.*make Add faster/.test([...document.querySelectorAll(".row.k-operation")][0]?.textContent)`)
	l.click(".done button", "Undo…")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Undo 1 path" && ` + has("in", "a - b"))
	l.click("dialog .go", "Undo")
	l.until(`document.querySelector(".done")?.textContent.includes("Undone") && document.querySelector(".done button")?.textContent === "Redo…"`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("not undone: %s", got)
	}
	// A search says of what brought a line and of what took it away what each was, though the timeline folds a revert
	// that was undone.
	l.press("/")
	l.ok(l.Type("return a"))
	l.press("Enter")
	l.until(`/^[2-9] lines$/.test(document.querySelector(".place .files[role=status]")?.textContent)`)
	var bare []string
	l.ok(l.Eval(`[...document.querySelectorAll(".place td:nth-child(n+3)")].map((e) => e.textContent).filter((s) => s && s !== "now" && !/[a-z] /.test(s))`, &bare))
	if len(bare) > 0 {
		t.Errorf("moments without words: %q", bare)
	}
	// So do the operations, of a turn that was taken back and of a state that only a restore left.
	l.press("Escape", "o")
	l.until(`document.querySelector(".at-operations tbody tr")`)
	var ops string
	l.ok(l.Eval(`document.querySelector(".at-operations").textContent`, &ops))
	if !regexp.MustCompile(`revert \d+ make Add faster`).MatchString(ops) || !strings.Contains(ops, "the state before restore") {
		t.Errorf("operations: %s", ops)
	}
	l.press("Escape")
	l.until(`document.querySelector(".three")`)
	for _, size := range [][2]int{{400, 800}, {1280, 800}} {
		l.ok(l.Size(size[0], size[1]))
		var wide int
		l.ok(l.Eval(`document.documentElement.scrollWidth - innerWidth`, &wide))
		if wide > 0 {
			t.Errorf("%d wide: the page is %d px wider", size[0], wide)
		}
	}
	l.clean()
}

// A search leads to the line, in the version that has it; time in which nothing
// happened takes no place in the chart; and of lines of a file that several wrote, the others' are marked.
func TestPageLinesAndTimes(t *testing.T) {
	l := newPageLabOf(t, storyTurns[:3])
	turn := func(n, prompt, file, text string, meanwhile func()) {
		event := func(name string, more map[string]any) {
			e := map[string]any{"hook_event_name": name, "transcript_path": l.transcript(), "prompt_id": "late-" + n}
			for k, v := range more {
				e[k] = v
			}
			l.hook(e)
		}
		call := map[string]any{"tool_name": "Write", "tool_use_id": "toolu_late_" + n, "tool_input": map[string]any{"file_path": filepath.Join(l.root, file), "content": text}}
		event("UserPromptSubmit", map[string]any{"prompt": prompt})
		if meanwhile != nil {
			meanwhile()
		}
		event("PreToolUse", call)
		l.write(file, text)
		event("PostToolUse", call)
		event("Stop", nil)
	}
	var lines strings.Builder
	for range 60 {
		lines.WriteString("// a line\n")
	}
	// The page takes what comes from here on for two days later.
	later := time.Now().UnixMilli()
	l.ok(l.Send("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": fmt.Sprintf(`{ const shift = (ms) => ms + (ms > %d ? 2 * 86400000 : 0), json = Response.prototype.json;
		Response.prototype.json = async function () { const v = await json.call(this), t = v.start?.timeline ?? v;
			for (const r of t.rows ?? []) r.time = new Date(shift(Date.parse(r.time))).toISOString();
			if (t.columns) { let was = 0, is = 0; t.columns.times = t.columns.times.map((step) => { was += step; const by = shift(was) - is; is += by; return by; }); }
			return v; }; }`, later)}, nil))
	turn("1", "a long file", "calc_test.go", "package calc\n"+lines.String()+"// the needle\n", nil)
	turn("2", "above it", "calc_test.go", "package calc\n// another line above\n"+lines.String()+"// the needle\n// by the agent\n", func() {
		l.write("calc_test.go", "package calc\n// another line above\n"+lines.String()+"// the needle\n")
	})
	l.reload()
	l.until(`document.querySelector(".left")?.textContent.includes("above it") && document.querySelector(".legend")`)
	// The first turn's bars are not all in the first of 120.
	l.until(`document.querySelector("path.churn")?.getAttribute("d").split("M").length > 3 && document.querySelector("path.gap")?.getAttribute("d").startsWith("M")`)
	// The chart says how much its bars are, at most and where the pointer is, and when they were.
	l.ok(l.Eval(`(() => { const chart = document.querySelector(".chart"); chart.dispatchEvent(new PointerEvent("pointermove", { clientX: chart.getBoundingClientRect().x + 2 })); })()`, nil))
	l.until(`/B stored.*path.* changed/.test(document.querySelector(".brushed .tip")?.textContent) && /^up to .*B stored.*up to .*changed$/.test(document.querySelector(".most").textContent) && document.querySelectorAll(".ends span").length === 5`)
	l.until(`document.querySelectorAll(".timeline .group").length === 2`) // one for each day

	l.click(".row.k-prompt", "above it")
	l.until(`document.querySelector(".right[aria-busy=false] h2")?.textContent.includes("prompt: above it") && document.querySelector(".right .patch .in.other, .right .patch .in.maybe")?.textContent.includes("another line above")`)
	l.until(`![...document.querySelectorAll(".right .patch .in.other")].some((e) => e.textContent.includes("by the agent"))`)
	l.picture("whose")

	l.press("/")
	l.ok(l.Type("the needle"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	l.picture("search")
	l.click(".place .lines td button", "calc_test.go")
	l.until(`document.querySelector(".versions [aria-pressed=true]") === document.querySelectorAll(".versions li button")[1] && document.querySelector(".version tr.flash")?.textContent.includes("the needle")`)
	l.until(`(() => { const r = document.querySelector(".version tr.flash").getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight && document.querySelector(".version tr.flash .no + .no").textContent === "62"; })()`)
	l.ok(l.Eval("history.back()", nil))
	l.click(".place .lines td button", "a long file")
	l.until(`document.querySelector(".right .patch tr.flash")?.textContent.includes("the needle")`)
	l.clean()

	// What was said is found too, and leads to the message, in the moment to which it belongs.
	said := func(words, row, text string) {
		t.Helper()
		l.ok(l.Eval(`document.activeElement.blur()`, nil))
		l.press("/")
		l.ok(l.Eval(`document.activeElement.select()`, nil))
		l.ok(l.Type(words))
		l.press("Enter")
		l.until(`document.querySelector(".place .said[role=status]")?.textContent === "1 message"`)
		l.picture("search-said")
		l.click(".place table.said button", row)
		l.until(fmt.Sprintf(`document.querySelector(".talk .flash")?.textContent.includes(%q) && document.querySelector(".row.chosen").textContent.includes(%q)`, text, row))
	}
	said("instruction", "make Add faster", "One instruction now.")
	l.clean()

	// So is what names no prompt, and what no checkpoint has yet.
	says := func(parent, role, id, text string) {
		t.Helper()
		f, err := os.OpenFile(l.transcript(), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprintf(f, `{"parentUuid":%q,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":%q,"version":"2.1.329","cwd":%q,"timestamp":%q,"message":{"role":%q,"content":%q}}`+"\n",
				parent, role, id, pageSession, l.root, time.Now().UTC().Format(time.RFC3339Nano), role, text)
			err = errors.Join(err, f.Close())
		}
		l.ok(err)
	}
	turn("3", "one more thing", "LICENSE", "None.\n", func() {
		says("e3-4", "user", "more-1", "one more thing")
		says("more-1", "assistant", "more-2", "An afterthought.")
	})
	said("afterthought", "one more thing", "An afterthought.")
	says("more-2", "assistant", "more-3", "A postscript.")
	said("postscript", "one more thing", "A postscript.")
	l.clean()

	// As a file, the page says it too.
	file := filepath.Join(l.root, "..", "whose.html")
	l.rewind("ui", "--export-html", file)
	ended := l.openFile(file)
	l.click(".row.k-prompt", "above it")
	l.until(`document.querySelector(".right .patch .in.other, .right .patch .in.maybe")?.textContent.includes("another line above")`)
	l.until(`![...document.querySelectorAll(".right .patch .in.other")].some((e) => e.textContent.includes("by the agent"))`)
	l.picture("shared-whose")
	ended()
}
