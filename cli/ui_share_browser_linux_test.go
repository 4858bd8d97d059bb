package cli

import (
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
	l.ok(l.Go("file://" + file))
	l.until(`document.querySelectorAll(".row").length >= 3`)
	return func() {
		l.t.Helper()
		if logged := l.Logged(); len(logged) > 0 {
			l.t.Errorf("the page reported %q", logged)
		}
		for _, url := range l.Asked()[before:] {
			if url != "file://"+file && !strings.HasPrefix(url, "blob:") {
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
	l.until(`document.querySelector(".right .patch .in [class^=c-]")`)
	l.until(`document.querySelector("header").textContent.includes("exported from proj at")`)
	l.picture("shared")
	var buttons []string
	l.ok(l.Eval(`[...document.querySelectorAll("button, nav a")].map((b) => b.textContent)`, &buttons))
	for _, b := range buttons {
		for _, no := range []string{"Restore", "Undo", "Take back", "Compare", "operations", "health"} {
			if strings.Contains(b, no) {
				t.Errorf("a button that does something: %s", b)
			}
		}
	}
	l.press("k")
	l.until(`document.querySelector(".row.chosen")?.textContent.includes("README")`)
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
	l.until(`document.querySelector(".place [role=status]")?.textContent === "1 line"`)
	l.click(".place button", "calc.go")
	l.until(`document.querySelectorAll(".versions li").length === 1 && document.querySelector(".patch .in")?.textContent.includes("a - b")`)
	l.picture("shared-file")
	ended()
}
