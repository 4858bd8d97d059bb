package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
)

// nasty is what others may write wherever the page shows a text.
const nasty = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1><a href=javascript:window.pwned=1>a</a> javascript:window.pwned=1 " +
	"![i](https://evil.example/a.png) [l](javascript:window.pwned=1) data:image/png;base64,iVBORw0KGgo= ]]> {{x}} ${x} &lt;b&gt; " +
	"\u202ebidi\u2066 ze\u200bro s\u00adoft \u061c\u2028\U000e0041 \x1b[31mred\x07 \u0085"

// foreign counts what the page never makes by itself.
const foreign = `document.querySelectorAll("#app :is(img, script, style, iframe, object, embed, video, audio, base, link, meta, [onerror], [onclick], [onload], [src]), ` +
	`#app a:not([href^='/p/'])").length + (window.pwned ? 1000 : 0)`

func (l *pageLab) harmless(where string) {
	l.t.Helper()
	var n int
	if l.ok(l.Eval(foreign, &n)); n != 0 {
		l.t.Errorf("%s: %d elements made of a text", where, n)
	}
}

func (l *pageLab) transcript() string {
	return filepath.Join(l.env.Home, ".claude", "projects", "p", l.session+".jsonl")
}

// say appends raw lines to the conversation.
func (l *pageLab) say(lines ...string) {
	l.t.Helper()
	f, err := os.OpenFile(l.transcript(), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = io.WriteString(f, strings.Join(lines, "\n")+"\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// Whatever stands in prompts, names, paths, files and conversations stays a text: nothing runs, nothing is asked
// for elsewhere, and what cannot be seen is marked.
func TestPageHostile(t *testing.T) {
	l := newPageLab(t)
	line := func(n int, role, content string) string {
		text, _ := json.Marshal(content)
		if strings.HasPrefix(content, "[") {
			text = []byte(content)
		}
		parent := `"e3-4"`
		if n > 1 {
			parent = fmt.Sprintf(`"h%d"`, n-1)
		}
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":"h%d","sessionId":%q,"version":"2.1.329","promptId":"prompt-9","cwd":%q,"timestamp":"2026-11-20T20:00:00.000Z","message":{"role":%q,"id":"i%d","content":%s}}`,
			parent, role, n, pageSession, l.root, role, n, text)
	}
	tool, _ := json.Marshal(nasty)
	event := func(name string, more map[string]any) {
		e := map[string]any{"hook_event_name": name, "transcript_path": l.transcript(), "prompt_id": "prompt-9"}
		for k, v := range more {
			e[k] = v
		}
		l.hook(e)
	}
	event("UserPromptSubmit", map[string]any{"prompt": nasty})
	l.say(line(1, "user", nasty),
		strings.Replace(line(2, "assistant", "lone SURROGATE end"), "SURROGATE", `\ud800`, 1),
		line(3, "assistant", `[{"type":"thinking","thinking":`+string(tool)+`},{"type":"tool_use","id":"toolu_9","name":`+string(tool)+`,"input":{"file_path":`+string(tool)+`,"<b>k</b>":`+string(tool)+`}}]`),
		line(4, "user", `[{"type":"tool_result","tool_use_id":"toolu_9","is_error":true,"content":[{"type":"text","text":`+string(tool)+`},{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj4="}},{"type":"image","source":{"type":"url","url":"https://evil.example/b.png"}}]}]`),
		line(5, "assistant", strings.Repeat("long<b>", 150_000)),
		"{\"no\xff json", line(6, "assistant", "the last word \xff\xfe"))
	event("PreToolUse", map[string]any{"tool_name": nasty, "tool_use_id": "toolu_9", "tool_input": map[string]any{"file_path": nasty}})
	files := map[string]string{
		"<img src=x onerror=window.pwned=1>.html": "<!doctype html>" + nasty,
		"bidi\u202egpj.exe":                       nasty,
		"new\nline.md":                            "![x](https://evil.example/c.png)\n" + nasty,
		"\xff\xfe.txt":                            "first\n\xff\xfe\n" + nasty,
		"\xff\xfd.txt":                            "second\n",
		"long.js":                                 strings.Repeat("x<b>", 1<<18),
		"svg.svg":                                 `<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>`,
		"marks.txt":                               strings.Repeat("\u202e", 5000),
		`"><b>'.sh`:                               "echo `<b>`\n",
	}
	for name, text := range files {
		l.write(name, text)
	}
	event("Stop", nil)
	l.rewind("save", "--name", "nasty", nasty)
	if err := os.Mkdir(filepath.Join(l.root, "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		l.write(fmt.Sprintf("many/%d<b>.txt", i), "x\n")
	}
	l.rewind("save", "many files")
	l.until(`document.querySelector(".left").textContent.includes("many files")`)

	// Every row, then every place.
	l.press("Home")
	l.until(`document.querySelector(".right")?.textContent.includes("No files differ")`) // not what was there before it was saved
	for i := 0; ; i++ {
		l.until(`document.querySelector(".right[aria-busy=false]") && !document.querySelector(".middle > .wait, .middle [aria-busy=true]")`)
		var row struct {
			Text string
			Last bool
		}
		l.ok(l.Eval(`(() => { const r = document.querySelector(".row.chosen"); return { text: r.textContent, last: r.ariaPosInSet === r.ariaSetSize }; })()`, &row))
		l.ok(l.Eval(`document.querySelectorAll("details").forEach((d) => (d.open = true))`, nil))
		l.harmless("row " + row.Text)
		if row.Last || i > 100 {
			break
		}
		l.press("j")
	}
	l.click(".row.k-prompt", "bidi")
	l.until(`document.querySelectorAll(".right .files details").length === 9`)
	l.picture("hostile-names")
	var names []string
	l.ok(l.Eval(`[...document.querySelectorAll(".right .path")].map((e) => e.textContent)`, &names))
	for _, want := range []string{`new\nline.md`, `\xFF\xFE.txt`, `\xFF\xFD.txt`, "bidiU+202Egpj.exe"} {
		if !slices.Contains(names, want) {
			t.Errorf("no file is shown as %s: %q", want, names)
		}
	}
	l.click(".row", "many files")
	l.until(`document.querySelectorAll(".right .files details").length > 100`)
	l.press("j")
	l.until(`document.querySelectorAll(".right .files details").length < 100`)
	l.click(".row", "[nasty]")
	l.picture("hostile")
	for _, mark := range []string{"U+202E", "U+200B", "U+00AD", "U+061C", "U+2028", "U+E0041", "U+001B", "U+0085"} {
		l.until(fmt.Sprintf(`[...document.querySelectorAll(".talk .mark")].some((e) => e.textContent === %q)`, mark))
	}
	l.until(`document.querySelector(".talk").textContent.includes("the last word")`)

	// A name that is no UTF-8 is that very file.
	l.press("Escape", "/")
	l.ok(l.Type("second"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
	l.harmless("search")
	l.click(".place button", ".txt")
	l.until(`document.querySelectorAll(".versions li").length === 1 && document.querySelector(".patch .in")?.textContent.includes("second")`)
	if err := os.Remove(filepath.Join(l.root, "\xff\xfd.txt")); err != nil {
		t.Fatal(err)
	}
	l.click(".place button", "Restore this version")
	l.until(`document.querySelector("dialog .go:not([disabled])")?.textContent === "Restore 1 path"`)
	l.until(`!document.querySelector("dialog .wait")`) // lines that are asked for later differ no more
	l.harmless("plan")
	l.click("dialog .go", "Restore")
	l.until(`document.querySelector(".done")`)
	if got := l.read("\xff\xfd.txt"); got != "second\n" {
		t.Errorf("restored: %q", got)
	}
	for _, place := range []string{"film", "operations", "health"} {
		l.click("nav a", place)
		l.until(`document.querySelector(".place h2") && !document.querySelector(".place .wait")`)
		l.harmless(place)
	}
	l.clean()
}

// axe is axe-core, as its makers publish it (4.14.1, axe.min.js; MPL 2.0). It is for tests, and no part of rewind.
func axe(t *testing.T) string {
	t.Helper()
	packed, err := os.ReadFile("testdata/axe/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); err != nil || got != axeSum {
		t.Fatalf("axe-core is another one: %s %v", got, err)
	}
	return string(data)
}

const axeSum = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

// accessible asks axe about what is on the screen; the dark theme differs in contrast alone.
func (l *pageLab) accessible(where string) {
	l.t.Helper()
	for scheme, rules := range map[string]string{"light": "", "dark": `, runOnly: ["color-contrast"]`} {
		l.ok(l.Media(map[string]string{"prefers-color-scheme": scheme}))
		var found []string
		l.ok(l.Eval(`axe.run(document, { resultTypes: ["violations"]`+rules+` }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary)))`, &found))
		for _, f := range found {
			l.t.Errorf("%s, %s: %s", where, scheme, f)
		}
	}
}

// What is on the page has roles, names and contrast.
func TestPageAccessible(t *testing.T) {
	l := newPageLab(t)
	l.ok(l.Eval(axe(t), nil))
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right .patch .in [class^=c-]") && document.querySelector(".talk")`)
	l.ok(l.Eval(`document.querySelectorAll("details").forEach((d) => (d.open = true))`, nil))
	l.accessible("timeline")
	l.ok(l.Media(map[string]string{"forced-colors": "active", "prefers-color-scheme": "dark"}))
	l.picture("forced")
	l.click(".right button", "Restore…")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.accessible("plan of a restore")
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	l.click(".right button", "Revert this turn…")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.accessible("plan of a revert")
	l.click("dialog .go", "Revert")
	l.until(`document.querySelector(".done")`)
	l.click(".files button", "versions")
	l.until(`document.querySelector(".versions li")`)
	l.accessible("file, and what was done")
	l.click(".version button", "All lines")
	l.until(`document.querySelector(".whole .code")`)
	l.accessible("all lines of a file")
	for _, place := range []string{"files", "compare", "attempts", "film", "operations", "space", "health", "keys"} {
		l.click("nav a", place)
		l.until(`document.querySelector(".place.at-` + place + ` h2") && !document.querySelector(".place .wait, .place [aria-busy=true]")`)
		l.accessible(place)
	}
	l.press("Escape")
	l.ok(l.Eval(`(() => { const s = document.querySelector("select[aria-label=Order]"); s.value = "session"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	l.until(`document.querySelector(".timeline .group .label")`)
	l.accessible("by session")
	l.press("/")
	l.ok(l.Type("a + b"))
	l.press("Enter")
	l.until(`document.querySelector(".place .files[role=status]")?.textContent.includes("line")`)
	l.accessible("search")
	l.clean()
}

// tabTo goes on by the tab key until a text has the focus.
func (l *pageLab) tabTo(text string) {
	l.t.Helper()
	for range 60 {
		var on string
		if l.ok(l.Eval(`document.activeElement.textContent`, &on)); strings.HasPrefix(on, text) && len(on) < 60 {
			return
		}
		l.press("Tab")
	}
	l.t.Fatalf("the tab key never comes to %q", text)
}

// From finding a row to a restore and its undo without a mouse; the focus is not lost on the way.
func TestPageByKeysAlone(t *testing.T) {
	l := newPageLab(t)
	l.press("/")
	l.ok(l.Type("faster"))
	l.until(`document.querySelectorAll(".row").length === 1`)
	l.press("ArrowDown")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("faster")`)
	l.tabTo("Restore…")
	l.press("Enter")
	l.until(`document.querySelector("dialog .go:not([disabled])") && document.querySelector("dialog").contains(document.activeElement)`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog") && document.activeElement.textContent === "Restore…"`)
	l.press("Enter")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.tabTo("Restore 2")
	l.press("Enter")
	l.until(`document.querySelector(".done") && !document.querySelector("dialog")`)
	l.until(`document.activeElement.textContent === "Restore…"`)
	if got := l.read("calc.go"); !strings.Contains(got, "a + b") {
		t.Errorf("not restored: %s", got)
	}
	l.press("u")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.tabTo("Undo 2")
	l.press("Enter")
	l.until(`[...document.querySelectorAll(".done")].some((e) => e.textContent.includes("Undone"))`)
	l.until(`document.activeElement.textContent === "Restore…"`)
	if got := l.read("calc.go"); !strings.Contains(got, "a - b") {
		t.Errorf("not undone: %s", got)
	}
	l.tabTo("Compare with now")
	l.press("Enter")
	l.until(`document.activeElement.getAttribute("aria-pressed") === "true" && document.querySelector(".right .what")?.textContent.includes("to now")`)
	l.ok(l.Eval(`document.querySelector("header input").focus()`, nil))
	l.tabTo("health")
	l.press("Enter")
	l.until(`document.querySelector(".place h2")?.textContent.includes("held") && !document.querySelector("dialog")`)
	l.press("Escape")
	l.until(`document.querySelector(".timeline")`)
	l.clean()
}

// The page says when the store is gone, and goes on when it is back; two tabs show the same.
func TestPageBadTimes(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".live.on")`)
	place, _, _ := strings.Cut(l.url, "#")
	l.ok(l.Open(place)) // asks the first tab for its token
	l.until(`document.querySelectorAll(".row").length >= 5 && document.querySelector(".live.on")`)
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right[aria-busy=false] .patch") && document.querySelector(".talk[aria-busy=false]")`) // nobody reads meanwhile
	store, away := filepath.Join(l.root, ".agent"), filepath.Join(l.root, "..", "away")
	if err := os.Rename(store, away); err != nil {
		t.Fatal(err)
	}
	l.until(`document.querySelector(".warn[role=alert]") && !document.querySelector(".live.on")`)
	l.picture("gone")
	l.click(".right button", "Restore…")
	l.until(`document.querySelector("dialog[open] .warn")`)
	l.press("Escape")
	_ = filepath.WalkDir(store, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			t.Error("looking made", path)
		}
		return nil
	})
	if err := os.Rename(away, store); err != nil {
		t.Fatal(err)
	}
	l.until(`document.querySelector(".live.on") && !document.querySelector(".warn[role=alert]")`)
	l.rewind("save", "after it was back")
	l.until(`document.querySelector(".left").textContent.includes("after it was back")`)
}

// A port that is taken is said before anything is served, and without a browser the address is printed.
func TestUIWithoutPortOrBrowser(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "proj")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	env := account.Env{Home: dir, Dir: root, Getenv: func(key string) string {
		return map[string]string{"PATH": os.Getenv("PATH"), "BROWSER": "no-such-browser"}[key]
	}}
	try := func(ctx context.Context, args ...string) (int, string, string) {
		var out, errOut bytes.Buffer
		code := commandLine(ctx, args, env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut})
		return code, out.String(), errOut.String()
	}
	ctx := context.Background()
	if code, out, errOut := try(ctx, "ui"); code != app.ExitNoProject {
		t.Errorf("not initialised: %d %s%s", code, out, errOut)
	}
	if code, _, errOut := try(ctx, "init"); code != 0 {
		t.Fatal(errOut)
	}
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	code, out, errOut := try(ctx, "ui", "--port", port)
	if code != app.ExitBusy || out != "" || errOut != "rewind: error: another program listens on port "+port+"\nrewind: hint: rewind ui takes a port that is free\n" {
		t.Errorf("port taken: %d %q %q", code, out, errOut)
	}
	for _, bad := range []string{"-1", "65536", "x"} {
		if code, out, errOut := try(ctx, "ui", "--port", bad); code != app.ExitUsage || out != "" {
			t.Errorf("--port %s: %d %q %q", bad, code, out, errOut)
		}
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	code, out, errOut = try(ctx, "ui")
	if code != 0 || !strings.HasPrefix(out, "http://127.0.0.1:") || !strings.Contains(errOut, "ssh -L ") {
		t.Errorf("no browser: %d %q %q", code, out, errOut)
	}
}
