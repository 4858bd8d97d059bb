package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The story of the README: a test broke. Its line is searched for, which leads to the prompt that wrote it; what
// that did is seen, it alone is taken back, what came after it stays, and that is undone. The README's two
// pictures are made here: docs/CONTRIBUTING.md says how.
func TestPageTakesBackATurn(t *testing.T) {
	l := newPageLabOf(t, []pageTurn{
		{"add a test for Add", "calc_test.go", "package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(2, 3); got != 5 {\n\t\tt.Errorf(\"2 + 3 = %d\", got)\n\t}\n}\n", "There is a test now, and it passes."},
		{"a command that adds its arguments", "main.go", "package main\n\nfunc main() { println(Add(1, 2)) }\n", "main.go adds its two arguments."},
		{"make Add faster", "calc.go", "package calc\n\n// Add is as fast as it gets.\nfunc Add(a, b int) int { return a - b }\n", "Add needs one instruction now."},
		{"write a README", "README.md", "# calc\n\nAdds two numbers.\n", "README.md says what calc is for."},
		{"and a licence", "LICENSE", "Do what you want with it.\n", "It is there."},
	})
	l.rewind("rename", "last", "release-1")
	l.press("/")
	l.ok(l.Type("return a - b"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	l.click(".place .lines td button", "make Add faster")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("make Add faster") && document.querySelector(".right .patch .in [class^=c-]")`)
	l.until(`document.querySelector(".right .by")?.textContent.includes("Write") && document.querySelector(".talk .here")`)
	l.ok(l.Size(1280, 520))
	l.until(`!document.getAnimations().length`)
	l.picture("ui")
	l.click(".right button", "Revert this turn…")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Revert 1 path"`)
	l.until(`document.querySelector("dialog h2").textContent.startsWith("Revert ") && document.querySelector("dialog details summary").textContent === "replace 1"`)
	l.click("dialog .go", "Revert")
	l.until(`document.querySelector(".done")`)
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("not taken back: %s", got)
	}
	if got := l.read("README.md"); !strings.HasPrefix(got, "# calc\n") {
		t.Errorf("README.md: %q", got)
	}
	l.click("header button", "Undo…")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.click("dialog .go", "Undo")
	l.until(`[...document.querySelectorAll(".done")].some((e) => e.textContent.includes("Undone"))`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("not undone: %s", got)
	}
	l.click(".done button", "dismiss")
	l.ok(l.Media(map[string]string{"prefers-color-scheme": "dark"}))
	l.press("m")
	l.until(`document.querySelector(".film .screen[aria-busy=false] .patch")`)
	l.press("ArrowRight")
	l.until(`document.querySelector(".film .screen[aria-busy=false] .patch .in [class^=c-]") && document.querySelector(".film .file").textContent.includes("calc_test.go")`)
	l.picture("ui-dark") // still 520 high
	l.clean()
}

// What is saved while the page is open is in it, and a plan that is no longer right is not done.
func TestPageIsLive(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".live.on")`)
	l.until(`document.querySelector(".legend")`) // all rows are known
	// Two saves: the first is of nobody's session, which the graph has no line for yet.
	for _, save := range []string{"outside", "from outside"} {
		l.ok(l.Eval(`performance.clearResourceTimings()`, nil))
		l.write("new.txt", save+"\n")
		l.rewind("save", save)
		l.until(`document.querySelector(".left .timeline").textContent.includes(` + "`" + save + "`" + `)`)
		var asked []string
		l.ok(l.Eval(`performance.getEntriesByType("resource").filter((e) => e.name.includes("/timeline")).map((e) => new URL(e.name).search)`, &asked))
		for _, q := range asked {
			if !strings.Contains(q, "list=") || save == "from outside" && strings.Contains(q, "columns") {
				t.Errorf("after a save, rows that are known were asked for: %s", q)
			}
		}
		if len(asked) == 0 {
			t.Error("nothing was asked after a save")
		}
	}
	l.click(".row", "make Add faster")
	l.click(".right button", "Restore…")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.write("new.txt", "newer\n")
	l.click("dialog .go", "Restore")
	l.until(`document.querySelector("dialog .warn")?.textContent.includes("nothing was done")`)
	if got := l.read("new.txt"); got != "newer\n" {
		t.Errorf("new.txt: %q", got)
	}
	l.press("Escape")
	l.until(`!document.querySelector("dialog[open]")`)
	for _, place := range []string{"film", "operations", "health", "keys"} {
		l.click("nav a", place)
		l.until(`document.querySelector(".place h2") && !document.querySelector(".place .wait")`)
		l.picture(place)
	}
	l.press("Escape", "/")
	l.ok(l.Type("a - b"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	l.click(".place .lines button", "calc.go")
	l.until(`document.querySelectorAll(".versions li").length === 2`)
	kept := t.TempDir()
	l.ok(l.Send("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": kept}, nil))
	l.ok(l.Eval(`document.querySelectorAll(".versions li button")[1].click()`, nil))
	l.until(`document.querySelector(".versions [aria-pressed=true]") === document.querySelectorAll(".versions li button")[1]`)
	l.click(".version button", "Download")
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if data, _ := os.ReadFile(filepath.Join(kept, "calc.go")); string(data) == "package calc\n\nfunc Add(a, b int) int { return a + b }\n" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("calc.go as it was is not kept: %q", data)
		}
	}
	l.picture("file")
	var logged []string
	for _, line := range l.Logged() {
		if !strings.Contains(line, "409") { // the plan that had changed
			logged = append(logged, line)
		}
	}
	if len(logged) > 0 {
		t.Errorf("the page reported %q", logged)
	}
}

// A page without the right to change anything does not offer it.
func TestPageReadOnly(t *testing.T) {
	l := newPageLab(t, "--read-only")
	l.until(`location.pathname.startsWith("/p/") && !location.href.includes("#")`) // the one-time code stands nowhere
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right .patch")`)
	var n int
	l.ok(l.Eval(`[...document.querySelectorAll("button")].filter((b) => /Restore|Undo/.test(b.textContent)).length`, &n))
	if n != 0 {
		t.Errorf("%d buttons that change something", n)
	}
	var header string
	l.ok(l.Eval(`document.querySelector("header").textContent`, &header))
	if !strings.Contains(header, "read-only") {
		t.Errorf("nothing says that it is read-only: %q", header)
	}
	l.clean()
	for _, size := range [][2]int{{400, 800}, {2560, 1440}} {
		l.ok(l.Size(size[0], size[1]))
		for _, scheme := range []string{"light", "dark"} {
			l.ok(l.Media(map[string]string{"prefers-color-scheme": scheme}))
			time.Sleep(50 * time.Millisecond)
			l.picture(fmt.Sprintf("size-%d-%s", size[0], scheme))
			var wide int
			l.ok(l.Eval(`document.documentElement.scrollWidth - innerWidth`, &wide))
			if wide > 0 {
				t.Errorf("%d wide: the page is %d px wider", size[0], wide)
			}
		}
	}
}

// Another project is chosen in the page, and the way back leads back; a tab in the background is connected no more, and
// is again when it is seen.
func TestPageProjects(t *testing.T) {
	l := newPageLab(t)
	other := *l
	other.root = filepath.Join(filepath.Dir(l.root), "other")
	other.env.Dir = other.root
	if err := os.Mkdir(other.root, 0o755); err != nil {
		t.Fatal(err)
	}
	other.write("only here.txt", "x\n")
	other.rewind("init")
	other.rewind("save", "of the other")
	l.until(`!location.hash`) // else the one-time code is tried once more
	l.reload()
	l.until(`document.querySelectorAll("header select[aria-label=Project] option").length === 2 && document.querySelector(".live.on")`)
	l.ok(l.Eval(`(() => { const s = document.querySelector("header select[aria-label=Project]"); s.selectedIndex = 1; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	l.until(`document.querySelector(".left")?.textContent.includes("of the other") && document.title.includes("other · rewind") && !document.querySelector(".left").textContent.includes("faster")`)
	l.until(`document.querySelector(".left .empty")?.textContent.includes("The next prompt to one takes a checkpoint")`) // the next step, where there was no session yet
	l.picture("projects")
	l.ok(l.Eval("history.back()", nil))
	l.until(`document.querySelector(".left")?.textContent.includes("make Add faster") && document.querySelector(".live.on")`)
	hide := func(hidden bool) {
		l.ok(l.Eval(fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %v, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`, hidden), nil))
	}
	hide(true)
	l.until(`!document.querySelector(".live.on") && !document.querySelector(".warn")`)
	l.rewind("save", "while nobody looked")
	hide(false)
	l.until(`document.querySelector(".live.on") && document.querySelector(".left").textContent.includes("while nobody looked")`)
	l.clean()
}

// A restore that would take another session's work says whose, and leads to what keeps it.
func TestPageOthersWork(t *testing.T) {
	l := newPageLab(t)
	l.other().play(pageTurn{"a file <b>beside</b>", "other.go", "package calc\n", "Done."})
	l.until(`document.querySelector(".left").textContent.includes("beside")`)
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right[aria-busy=false] h2")?.textContent.includes("make Add faster")`)
	var tones, lanes []string // each session has a colour of its own, in its rows as in the graph
	l.ok(l.Eval(`[...new Set([...document.querySelectorAll(".row .hue")].map((e) => getComputedStyle(e).backgroundColor))].sort()`, &tones))
	l.ok(l.Eval(`[...new Set([...document.querySelectorAll("path.lane")].map((e) => getComputedStyle(e).stroke))].sort()`, &lanes))
	if len(tones) != 2 || !slices.Equal(tones, lanes) {
		t.Errorf("two sessions have the colours %q, and %q in the graph", tones, lanes)
	}
	l.click(".row.chosen .plans span", "Restore…") // at the row itself
	l.until(`/1 path of another session, claude 0dd5e551:.*a file <b>beside<.b>": other.go/s.test(document.querySelector("dialog[open] .others")?.textContent)`)
	l.picture("others")
	l.click("dialog .others button", "Keep it: revert only this session's last 2 turns…")
	l.until(`document.querySelector("dialog[open] .go:not([disabled])")?.textContent === "Revert 2 paths" && !document.querySelector("dialog .others")`)
	l.picture("others-kept")
	l.click("dialog .go", "Revert")
	l.until(`document.querySelector(".done")`)
	if got := l.read("other.go"); got != "package calc\n" {
		t.Errorf("the other session's file: %q", got)
	}
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("not taken back: %s", got)
	}

	// To a moment of the person's own it is unclear who is meant: one session's work can go alone.
	l.press("u")
	l.click("dialog[open] .go:not([disabled])", "Undo")
	l.until(`!document.querySelector("dialog")`)
	l.click(".row", "first checkpoint")
	l.press("r")
	l.until(`document.querySelectorAll("dialog[open] .others button").length === 2`)
	l.picture("others-unclear")
	l.click("dialog .others button", "Revert only claude 0dd5e551: its last turn…")
	l.until(`document.querySelector("dialog[open] .go:not([disabled])")?.textContent === "Revert 1 path"`)
	l.clean()
}
