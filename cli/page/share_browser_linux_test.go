package page

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openFile opens a page that is a file; ended fails where it reported an error or a violation, or asked anybody for something.
func (l *pageLab) openFile(file string) (ended func()) {
	l.t.Helper()
	l.ok(l.Go("about:blank")) // what the page before it asks ends
	l.until(`location.href === "about:blank"`)
	before := len(l.Asked())
	origin, _, _ := strings.Cut(l.url, "/p/")
	l.ok(l.Go("file://" + file))
	l.until(`document.querySelectorAll(".row").length >= 3`)
	return func() {
		l.t.Helper()
		if logged := l.Logged(); len(logged) > 0 {
			l.t.Errorf("the page reported %q", logged)
		}
		for _, url := range l.Asked()[before:] {
			late := strings.HasPrefix(url, origin+"/") // of the page that was served before it, whose address a file does not know
			if url != "file://"+file && !strings.HasPrefix(url, "blob:") && !late {
				l.t.Errorf("the page asked %s", url)
			}
		}
	}
}

// A session as a file is the page without a server: talk, diffs, film, search and keys, and nothing that does anything.
func TestSharedPage(t *testing.T) {
	l := newPageLab(t)
	file := filepath.Join(l.root, "..", "shared.html")
	l.rewind("ui", "--export-html", file)
	ended := l.openFile(file)
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right .patch .in")?.textContent.includes("a - b")`)
	l.until(`document.querySelector(".right .by")?.textContent.includes("Write")`)
	l.until(`document.querySelector(".talk").textContent.includes("add a test") && !document.querySelector(".talk img")`)
	l.until(`document.querySelector(".talk").textContent.includes("Done 2") && !document.querySelector(".talk").textContent.includes("Done 3")`)
	l.until(`document.querySelector(".right .patch .in [class^=c-]")`)
	l.until(`document.querySelector("header").textContent.includes("exported from proj at")`)
	l.picture("shared")
	var buttons []string
	l.ok(l.Eval(`[...document.querySelectorAll("button, nav a")].map((b) => b.textContent)`, &buttons))
	for _, b := range buttons {
		for _, no := range []string{"Restore", "Undo", "Revert", "Compare", "operations", "health"} {
			if strings.Contains(b, no) {
				t.Errorf("a button that does something: %s", b)
			}
		}
	}
	l.press("k")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("README") && document.querySelector(".talk").textContent.includes("Done 3")`)
	for _, key := range []string{"r", "v", "u", "d", "o", "Enter", " "} {
		l.press(key)
	}
	l.until(`!document.querySelector("dialog") && !document.querySelector("[role=alert]") && document.querySelector(".right .patch")`)
	l.press("m")
	l.until(`document.querySelector(".film .files")`)
	l.press("ArrowRight")
	l.picture("shared-film")
	l.press("Escape")
	l.until(`document.querySelector(".timeline")`)
	l.press("/")
	l.until(`document.activeElement.type === "search"`)
	l.ok(l.Type("a - b"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	l.click(".place .lines button", "calc.go")
	l.until(`document.querySelectorAll(".versions li").length === 1 && document.querySelector(".patch .in")?.textContent.includes("a - b")`)
	l.picture("shared-file")
	l.press("Escape", "/")
	l.ok(l.Eval(`document.activeElement.select()`, nil))
	l.ok(l.Type("Done 2"))
	l.press("Enter")
	l.until(`document.querySelector(".place .said[role=status]")?.textContent === "1 message"`)
	l.ok(l.Eval(`document.querySelector(".place table.said button").click()`, nil))
	l.until(`document.querySelector(".talk .flash")?.textContent.includes("Done 2") && document.querySelector(".row.chosen").textContent.includes("make Add faster")`)
	ended()
}

// What a row's answer brings after another row was chosen is not shown under that other row: a file unpacks its parts
// while the page is in use already.
func TestSharedPageAnswersLate(t *testing.T) {
	l := newPageLab(t)
	file := filepath.Join(l.root, "..", "late.html")
	l.rewind("ui", "--export-html", file)
	l.ok(l.Send("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `{
		const json = Response.prototype.json;
		const held = [];
		let index = true; // the first, without which there is no row
		globalThis.unpackAll = () => held.forEach((answer) => answer());
		Response.prototype.json = function () {
			if (!index) return new Promise((answer) => held.push(() => answer(json.call(this))));
			index = false;
			return json.call(this);
		};
	}`}, nil))
	ended := l.openFile(file)
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("make Add faster")`)
	l.ok(l.Eval(`unpackAll()`, nil))
	l.until(`document.querySelector(".talk")?.textContent.includes("Done 2")`)
	var talk string
	l.ok(l.Eval(`new Promise((done) => setTimeout(() => done(document.querySelector(".talk").textContent), 100))`, &talk))
	if strings.Contains(talk, "Done 3") {
		t.Errorf("the conversation of another row: %s", talk)
	}
	ended()
}

// Whatever stands in names, prompts, files and conversations stays a text in a file too, and what is secret is not in it.
func TestSharedPageHostile(t *testing.T) {
	l := newPageLab(t)
	const closing = "</script></SCRIPT ><!--<script>window.pwned=1</script>--></style>]]>\u2028\u2029"
	said := nasty + closing
	event := func(name string, more map[string]any) {
		e := map[string]any{"hook_event_name": name, "transcript_path": l.transcript(), "prompt_id": "prompt-9"}
		for k, v := range more {
			e[k] = v
		}
		l.hook(e)
	}
	line := func(n int, role string, content any) string {
		parent := "e3-4"
		if n > 1 {
			parent = fmt.Sprint("h", n-1)
		}
		data, err := json.Marshal(map[string]any{"parentUuid": parent, "isSidechain": false, "type": role, "uuid": fmt.Sprint("h", n), "sessionId": pageSession, "version": "2.1.329",
			"promptId": "prompt-9", "cwd": l.root, "timestamp": "2026-11-20T20:00:00.000Z", "message": map[string]any{"role": role, "id": fmt.Sprint("i", n), "content": content}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	event("UserPromptSubmit", map[string]any{"prompt": said})
	l.say(line(1, "user", said),
		line(2, "assistant", []any{map[string]any{"type": "tool_use", "id": "toolu_9", "name": "Bash", "input": map[string]any{"command": "cat .env"}}}),
		line(3, "user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_9", "content": "PLAIN=seen-in-the-answer"}}),
		line(4, "assistant", strings.Repeat("long<b>", 150_000)), line(5, "assistant", "the last word"+said))
	for name, text := range map[string]string{
		"<img src=x onerror=window.pwned=1>.html": closing + "<!doctype html>" + nasty, "bidi\u202egpj.exe": said, "new\nline.md": said, "\xff\xfe.txt": "first\n\xff\xfe\n" + said,
		"long.js": strings.Repeat("x<b>", 1<<18), `"><b>'.sh`: closing, ".env": "PASSWORD=hunter-2-hunter\nPLAIN=x\n", "uses.go": "package calc // hunter-2-hunter\n",
	} {
		l.write(name, text)
	}
	event("Stop", nil)
	file := filepath.Join(l.root, "..", "hostile.html")
	var doc struct {
		Left int `json:"precious_left_out"`
		Cut  int
	}
	if err := json.Unmarshal([]byte(l.rewind("ui", "--export-html", file, "--json")), &doc); err != nil || doc.Left != 1 || doc.Cut == 0 {
		t.Errorf("%+v %v", doc, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// All but the page's own code is base64.
	text := strings.ToLower(string(data))
	if n, m := strings.Count(text, "<script"), strings.Count(text, "</script>"); n != m || n < 5 || strings.Contains(text, "pwned") || strings.Contains(text, "<!--") || strings.Contains(text, "http://127") {
		t.Errorf("%d scripts begin, %d end", n, m)
	}
	ended := l.openFile(file)
	harmless := strings.Replace(foreign, "/p/", "#", 1)
	l.click(".row.k-prompt", "bidi")
	l.until(`document.querySelectorAll(".right .files details").length === 7`)
	l.until(`document.querySelector(".right").textContent.includes("calc // [redacted]")`)
	var files string
	l.ok(l.Eval("document.body.textContent", &files))
	l.picture("shared-hostile-files")
	l.click(".row.k-stop", "")
	l.until(`document.querySelector(".talk")?.textContent.includes("the last word")`)
	for _, mark := range []string{"U+202E", "U+200B", "U+2028"} {
		l.until(fmt.Sprintf(`[...document.querySelectorAll(".talk .mark")].some((e) => e.textContent === %q)`, mark))
	}
	l.ok(l.Eval(`document.querySelectorAll("details").forEach((d) => (d.open = true))`, nil))
	l.picture("shared-hostile")
	var all string
	if l.ok(l.Eval("document.body.textContent", &all)); strings.Contains(files+all, "hunter-2") || strings.Contains(all, "seen-in-the-answer") || !strings.Contains(all, "[redacted]") {
		t.Error("a secret is in the page")
	}
	if !strings.Contains(all, "1 precious file was left out.") || !strings.Contains(all, "cut.") {
		t.Errorf("the page does not say what is left out: %.600s", all)
	}
	var n int
	if l.ok(l.Eval(harmless, &n)); n != 0 {
		t.Errorf("%d elements made of a text", n)
	}
	ended()
}

// What is on a page that is a file has roles, names and contrast, and fits a small screen.
func TestSharedPageAccessible(t *testing.T) {
	l := newPageLab(t)
	file := filepath.Join(l.root, "..", "shared.html")
	l.rewind("ui", "--export-html", file)
	ended := l.openFile(file)
	l.ok(l.Eval(axe(t), nil))
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right .patch .in [class^=c-]") && document.querySelector(".talk")`)
	l.accessible("shared")
	l.click("nav a", "film")
	l.until(`document.querySelector(".film .files")`)
	l.accessible("shared film")
	l.ok(l.Size(400, 800))
	l.picture("shared-400")
	var wide int
	if l.ok(l.Eval(`document.documentElement.scrollWidth - innerWidth`, &wide)); wide > 0 {
		t.Errorf("the page is %d px wider", wide)
	}
	ended()
}
