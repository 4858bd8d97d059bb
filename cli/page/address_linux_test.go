package page

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row has an address: it is kept by a reload, by Back and by another tab, whichever way the row was chosen, and
// rewind ui opens it. A row that is folded away has one, too.
func TestPageAddress(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."}, pageTurn{prompt: "only think", said: "I thought."})
	for _, name := range []string{"mine1.txt", "mine2.txt"} {
		l.write(name, "mine\n")
	}
	l.play(pageTurn{"write a README", "README.md", "# calc\n", "Done."})
	l.rewind("save", "-q")
	l.serve()
	l.look()
	chosen := func(text string) {
		t.Helper()
		l.until(`document.querySelector(".row.chosen")?.textContent.includes("` + text + `")`)
	}
	chosen("write a README") // not at an empty now, and not at what changed nothing
	l.until(`document.querySelector(".right .patch") && document.querySelector(".talk .here")`)
	l.until(`/^\/p\/[0-9a-f]{32}$/.test(location.pathname) && !location.hash`)
	l.until(`document.querySelector(".row.chosen .whom")?.textContent === "claude 5ba1" && document.querySelector(".facts-line").textContent.includes("claude, session 5ba1c0de")`)

	l.click(".row", "add a test")
	l.until(`/\/c\/[k-z]{16}$/.test(location.pathname)`)
	var first, second string
	l.ok(l.Eval(`location.pathname`, &first))
	l.click(".row", "5ba1only think") // its prompt, not its end
	l.until(`/\/c\/[k-z]{16}$/.test(location.pathname) && location.pathname !== "` + first + `"`)
	l.ok(l.Eval(`location.pathname`, &second))

	// What a person did after a turn is in the row of its end.
	l.press("k")
	l.until(`document.querySelector(".row.chosen").textContent.includes("↳") && document.querySelector(".row.chosen").textContent.includes("then+2")`)
	l.until(`[...document.querySelectorAll(".right .file")].some((e) => e.textContent.includes("mine1.txt"))`)
	l.press("j")
	l.until(`location.pathname === "` + second + `"`)
	l.until(`document.querySelector(".talk .here")?.textContent.includes("only think") && document.querySelector(".talk").textContent.includes("I thought.")`)
	l.picture("then")

	l.ok(l.Eval("history.back()", nil))
	chosen("add a test")
	l.press("k") // by keys, the address follows and Back does not stop at each row
	chosen("only think")
	l.until(`location.pathname === "` + second + `"`)
	l.reload()
	chosen("only think")
	l.until(`document.querySelectorAll(".row").length > 3 && location.pathname === "` + second + `"`)
	l.picture("address")

	// By a link: to the row, and what leads to it from elsewhere.
	l.ok(l.Eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (window.copied = text) } })`, nil))
	l.click(".right button", "Copy link")
	l.until(`window.copied?.endsWith("` + second + `") && document.querySelector(".right").textContent.includes("Copied")`)
	l.click(".right button", "rewind show")
	l.until(`window.copied === "rewind show ` + second[len(second)-16:len(second)-8] + `"`)
	l.click(".right button", "Copy the session's resume command")
	l.until(`/^cd \S+ && claude --resume ` + pageSession + `$/.test(window.copied)`)
	host := l.url[:strings.Index(l.url, "/p/")]
	l.ok(l.Open(host + first))
	chosen("add a test")
	// A line has an address, by its number; a reload shows it.
	l.until(`document.querySelector(".right[aria-busy=false] .patch .in")`)
	l.ok(l.Eval(`[...document.querySelectorAll(".right .patch .in .no")].find((e) => e.textContent).click()`, nil))
	l.until(`location.pathname === "` + first + `" && location.search === "?path=calc_test.go&line=1"`)
	l.reload()
	l.until(`document.querySelector(".right .patch tr.flash")?.textContent.includes("package calc") && location.search === "?path=calc_test.go&line=1"`)
	l.click(".right button", "Compare with now")
	l.until(`location.pathname === "` + first + `" && location.search === "?with=now"`)
	l.reload()
	l.until(`document.querySelector(".right [aria-pressed=true]") && document.querySelector(".right .what")?.textContent.includes("to now") && location.search === "?with=now"`)
	l.press("Escape")
	l.until(`!document.querySelector(".right [aria-pressed=true]") && location.pathname === "` + first + `" && !location.search`)

	// The end of the first turn adds nothing to its row, and has an address all the same.
	var list struct{ Checkpoints []struct{ ID, Kind string } }
	if err := json.Unmarshal([]byte(l.rewind("list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	folded := ""
	for _, c := range list.Checkpoints {
		if c.Kind == "stop" {
			folded = c.ID
		}
	}
	if url := l.joined(folded); !strings.Contains(url, "/c/"+folded+"#code=") {
		t.Errorf("rewind ui %s opens %s", folded, url)
	}
	l.ok(l.Go(host + "/p/" + first[3:35] + "/c/" + folded))
	l.until(`document.querySelector(".row.chosen .why")?.textContent === "stop" && document.querySelector(".left").textContent.includes("Hide rows without changes")`)
	l.ok(l.Go(host + "/p/" + first[3:35] + "/c/kkkkkkkkkkkkkkkk"))
	// The page reports a checkpoint that is not there for as long as the address names it, and chooses no other.
	const gone = `document.querySelector(".right .warn")?.textContent.includes('no checkpoint "kkkkkkkk') && !document.querySelector(".row.chosen, .right .go") && location.pathname.endsWith("/c/kkkkkkkkkkkkkkkk") && !document.querySelector(".left").textContent.includes("Hide rows without changes")`
	l.until(gone)
	l.write("mine3.txt", "mine\n")
	l.until(`document.querySelector(".row")?.textContent.includes("+1")`)
	l.until(gone)
	l.picture("gone")
	l.press("j")
	l.until(`document.querySelector(".row.chosen") && !document.querySelector(".right .warn") && !location.pathname.endsWith("/c/kkkkkkkkkkkkkkkk")`)
	l.ok(l.Go(host + "/p/" + first[3:35] + "/c/nosuch"))
	l.until(`document.querySelector(".right .warn")?.textContent.includes('no checkpoint "nosuch"') && !document.querySelector(".row.chosen")`)
	l.click(".right button", "Show the newest row")
	l.until(`document.querySelector(".row.chosen") && document.querySelector(".right .go")`)
	l.clean()
}

// joined is the address that rewind ui gives for a checkpoint, of the page that is served already.
func (l *pageLab) joined(args ...string) string {
	l.t.Helper()
	var v PageView
	if err := json.Unmarshal([]byte(l.rewind(append([]string{"ui", "--no-open", "--json"}, args...)...)), &v); err != nil || !v.Joined {
		l.t.Fatal(v, err)
	}
	return v.URL
}

// A file that no diff shows is found by its path: one that is gone, too. The columns have the widths that a person gave
// them. After a jump, the focus is at the new place.
func TestPageFilesAndWidths(t *testing.T) {
	l := newTurnsLab(t)
	l.write("old name.txt", "old\n")
	l.rewind("save", "-q")
	l.ok(os.Remove(filepath.Join(l.root, "old name.txt")))
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	l.serve()
	l.look()
	l.until(`document.querySelector(".live.on")`)
	focused := func(selector string) {
		t.Helper()
		l.until(`document.activeElement.matches("` + selector + `")`)
	}
	l.press("f")
	l.until(`document.querySelectorAll(".tree li").length === 3`)
	focused("main.place")
	l.ok(l.Eval(`document.querySelector(".path-filter").focus()`, nil))
	l.ok(l.Type("NAME old"))
	l.until(`document.querySelectorAll(".path-list li").length === 1 && document.querySelector(".path-list li").textContent === "old name.txt deleted"`)
	l.picture("files")
	l.click(".path-list button", "old name")
	l.until(`document.querySelectorAll(".versions li").length === 2`)
	l.click(".versions button", "created")
	l.click(".version button", "Show in the timeline")
	l.until(`document.querySelector(".row.chosen")`)
	focused(".timeline")
	l.press("/")
	l.ok(l.Type("alc_te"))
	l.press("Enter")
	l.until(`document.querySelector(".place .path-list")?.textContent === "calc_test.go"`)
	focused("main.place")
	l.press("Escape")
	focused(".timeline")
	l.click(".row.k-prompt", "add a test")
	l.press("r")
	l.until(`document.querySelector("dialog[open]")`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)
	focused(".timeline")

	l.ok(l.Eval(`document.querySelector(".split").focus()`, nil))
	var before, after float64
	wide := `document.querySelector(".left").getBoundingClientRect().width`
	l.ok(l.Eval(wide, &before))
	l.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
	l.ok(l.Eval(wide, &after))
	if after < before+150 {
		t.Errorf("the timeline is %v wide, and was %v", after, before)
	}
	l.until(`!document.querySelector(".timeline.narrow") && document.querySelector(".row").getBoundingClientRect().height === 28`)
	l.picture("wide")
	l.reload()
	var again float64
	l.ok(l.Eval(wide, &again))
	if again != after {
		t.Errorf("after a reload the timeline is %v wide, not %v", again, after)
	}
	l.ok(l.Eval(`document.querySelector(".split").focus()`, nil))
	l.press("Enter")
	l.until(wide + ` < ` + "500" + ` && document.querySelector(".timeline.narrow")`)
	l.clean()
}

// A picture is shown as it was before and after. A file that only has the name of a picture gets a message.
func TestPagePictures(t *testing.T) {
	l := newTurnsLab(t)
	l.write("logo.png", drawn(t, color.RGBA{255, 0, 0, 255}, 40))
	l.rewind("save", "-q")
	l.play(pageTurn{"make the logo green", "logo.png", drawn(t, color.RGBA{0, 128, 0, 255}, 60), "Done."}, pageTurn{"a false one", "no.png", "\x00<script>alert(1)</script>", "Done."})
	l.serve()
	l.look()
	l.until(`document.querySelector(".pictures figure")?.textContent.includes("no picture that this browser can show") && document.querySelectorAll(".pictures figure").length === 1`)
	l.click(".row", "make the logo green")
	l.until(`[...document.querySelectorAll(".pictures figcaption")].map((e) => e.textContent).join() === "before 40 × 40,after 60 × 60"`)
	l.picture("pictures")

	// As it is in the comparison, where what is there now was saved, and among the versions of the file.
	l.click(".row", "first checkpoint")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("first checkpoint")`)
	l.press("c")
	l.until(`[...document.querySelectorAll(".compare .file")].find((e) => e.textContent.includes("logo.png"))?.textContent.includes("after 60 × 60")`)
	l.ok(l.Eval(`history.pushState(null, "", location.pathname + "?at=file&path=logo.png"); dispatchEvent(new PopStateEvent("popstate"))`, nil))
	l.until(`[...document.querySelectorAll(".version .pictures figcaption")].map((e) => e.textContent).join() === "before 40 × 40,after 60 × 60"`)
	l.click(".versions button", "created")
	l.until(`[...document.querySelectorAll(".version .pictures figcaption")].map((e) => e.textContent).join() === "after 40 × 40"`)
	l.clean()
}

// What a person did between two turns is a version of its own. After a restore of both halves, the command that opens the
// conversation can be copied; the state before the restore has a name that says what was restored.
func TestPageRestoresBoth(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	l.write("calc_test.go", "package calc\n\n// mine\n")
	l.play(pageTurn{"extend the test", "calc_test.go", "package calc\n\n// mine\n\n// agent\n", "Done."}, pageTurn{"write a README", "README.md", "# calc\n", "Done."})
	l.serve()
	l.look()
	l.click(".row.k-prompt", "extend")
	l.until(`document.querySelector(".right .patch")?.textContent.includes("// agent")`)
	l.click(".right .file-links button", "versions")
	l.until(`[...document.querySelectorAll(".versions li .by")].map((e) => e.textContent).join().includes("by you")`)
	l.press("Escape")
	l.click(".row.k-prompt", "extend")
	l.click(".right button", "Restore…")
	l.click("dialog .go:not([disabled])", "Restore")
	l.ok(l.Eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => (window.copied = text) } })`, nil))
	l.click(".done button", "Copy the command")
	l.until(`/^cd \S+ && claude --resume [0-9a-f-]{36}$/.test(window.copied)`)
	l.click("button.link", "without changes")
	l.click(".row.k-safety", "before restore")
	l.press("r")
	l.until(`document.querySelector("dialog h2")?.textContent.startsWith('Restore to the state before the restore to 4 "extend the test"')`)
	l.clean()
}

// drawn is a picture, as PNG.
func drawn(t *testing.T, c color.Color, size int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, size, size))
	for i := range size {
		m.Set(i, i, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
