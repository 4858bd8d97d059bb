package page

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The page says which prompt brought the bytes of the store, who wrote each line of a file, and what came of a prompt each
// time that it was tried; and it gives a session as a page to share, without its secrets.
func TestPageSpaceLinesAttempts(t *testing.T) {
	l := newTurnsLab(t)
	l.write(".env", "TOKEN=for-nobody-else-12345\n")
	var large strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&large, "%x\n", sha256.Sum256([]byte(fmt.Sprint(i))))
	}
	l.play(
		pageTurn{"import <b>all</b> of it", "data.txt", large.String(), "Done with for-nobody-else-12345."},
		pageTurn{"say what it is", "calc.go", "// Package calc adds.\npackage calc\n\nfunc Add(a, b int) int { return a + b }\n", "Done."},
		pageTurn{"make Add faster", "calc.go", "// Package calc adds.\npackage calc\n\nfunc Add(a, b int) int { return a - b }\n", "Done."},
	)
	l.rewind("restore", "prompt~1", "--yes")
	l.play(pageTurn{"make Add right", "calc.go", "// Package calc adds.\npackage calc\n\nfunc Add(a, b int) int { return b + a }\n", "Done."})
	l.serve()
	l.look()
	l.until(`document.querySelector(".live.on")`)

	l.click("nav a", "space")
	l.until(`document.querySelector(".at-space tbody tr")?.textContent.includes("import <b>all</b> of it") && document.querySelector(".at-space tbody tr .path").textContent === "data.txt"`)
	l.until(`/KiB on disk/.test(document.querySelector(".at-space .sum")?.textContent) && document.querySelectorAll(".at-space table").length === 2`)
	l.picture("space")
	l.click(".at-space tbody tr button", "import")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("import")`)

	// The files as a tree, and of one all lines with who wrote them; an address has it.
	l.press("f")
	l.click(".tree button", "calc.go")
	l.click(".version .pair button", "All lines")
	l.until(`[...document.querySelectorAll(".whole .whose-line")].map((e) => e.textContent).join("|") === "say what it is|not known||make Add right"`)
	l.until(`document.querySelector(".whole .whose-line button").title.includes("Write")`)
	l.click(".whole .no", "4")
	l.until(`location.search.includes("whole=") && location.search.includes("line=4")`)
	l.picture("whole")
	l.ok(l.Eval(`window.old = 1; location.reload()`, nil))
	l.until(`!window.old && document.querySelector(".whole tr.flash")?.textContent.includes("b + a")`)
	l.click(".whose-line button", "say what it is")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("say what it is") && document.querySelector(".right[aria-busy=false] .patch .in")?.textContent.includes("Package calc")`)

	// A message has its restore and its revert under the pointer.
	l.click(".talk .said.here .plans button", "Revert…")
	l.until(`document.querySelector("dialog h2")?.textContent.includes("say what it is")`)
	l.press("Escape")
	l.until(`!document.querySelector("dialog")`)

	// Two attempts, and what differs between their ends.
	l.click(".row.k-prompt", "make Add right")
	l.press("a")
	l.until(`document.querySelectorAll(".attempts section").length === 2 && document.querySelector(".attempts .current h3").textContent.includes("make Add right")`)
	l.picture("attempts")
	l.click(".attempts button", "Compare with attempt 1")
	l.until(`document.querySelector(".at-compare .right[aria-busy=false] .patch .in")`)
	l.press("Escape")

	// The session as a page, which holds no secret.
	kept := t.TempDir()
	l.ok(l.Send("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": kept}, nil))
	l.click(".row.k-prompt", "import")
	l.click(".right button", "Export session")
	l.until(`document.querySelector(".done")?.textContent.includes("in your downloads")`)
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if files, _ := filepath.Glob(filepath.Join(kept, "proj-*.html")); len(files) == 1 {
			if data, _ := os.ReadFile(files[0]); strings.Contains(string(data), "</html>") {
				if strings.Contains(string(data), "for-nobody-else") {
					t.Error("the page that is shared has the secret")
				}
				break
			}
		}
		if time.Now().After(end) {
			t.Fatal("no page came")
		}
	}
	l.clean()
}

// The rows of a session stand together if that is wanted, below a head that names it. The filter, which rows are shown and
// their order are in the address: a reload and Back keep them.
func TestPageKeepsTheView(t *testing.T) {
	l := newPageLab(t)
	l.until(`document.querySelector(".legend")`)
	l.rewind("save", "by myself")
	l.until(`document.querySelector(".left").textContent.includes("by myself")`)
	l.ok(l.Eval(`(() => { const s = document.querySelector("select[aria-label=Order]"); s.value = "session"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
	l.until(`document.querySelectorAll(".timeline .group").length === 2 && document.querySelector(".timeline .group").textContent.includes("no session") && [...document.querySelectorAll(".timeline .group")][1].textContent.includes("claude 5ba1")`)
	l.until(`location.search === "?order=session"`)
	l.picture("by-session")
	l.press("/")
	l.ok(l.Type("faster"))
	l.until(`location.search === "?f=faster&order=session" && document.querySelectorAll(".row").length === 1`)
	l.press("ArrowDown")
	l.reload()
	l.until(`document.querySelector("header input").value === "faster" && document.querySelectorAll(".row").length === 1 && document.querySelector("select[aria-label=Order]").value === "session"`)
	l.click(".row", "faster")
	l.until(`location.pathname.includes("/c/") && location.search === "?f=faster&order=session"`)
	l.press("h")
	l.until(`document.querySelector(".at-health dl")`)
	l.ok(l.Eval("history.back()", nil))
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("faster") && document.querySelectorAll(".row").length === 1`)
	l.clean()
}

// Of one file, single hunks are restored: the plan has a box for each.
func TestPageRestoresAHunk(t *testing.T) {
	lines := func(first, last string) string {
		return first + "\n" + strings.Repeat("// a line\n", 30) + last + "\n"
	}
	l := newPageLabOf(t, []pageTurn{
		{"a file", "two.go", lines("package one", "// end one"), "Done."},
		{"both ends", "two.go", lines("package two", "// end two"), "Done."},
	})
	l.click(".row.k-prompt", "both ends")
	l.click(".right .file-links button", "restore…")
	l.until(`document.querySelectorAll("dialog .hunks input").length === 2 && document.querySelector("dialog .go:not([disabled])")`)
	l.ok(l.Eval(`document.querySelectorAll("dialog .hunks input")[0].click()`, nil))
	l.until(`document.querySelector("dialog h2").textContent.includes("1 of 2 hunks of two.go") && document.querySelector("dialog .go:not([disabled])")`)
	l.picture("hunk")
	l.click("dialog .go", "Restore")
	l.until(`document.querySelector(".done") && !document.querySelector("dialog")`)
	if got := l.read("two.go"); got != lines("package two", "// end one") {
		t.Errorf("not that hunk alone: %s", got)
	}
	l.clean()
}
