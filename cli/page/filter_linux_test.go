package page

import "testing"

// The filter has the picker's rule: a row has it as it was typed, or each of its words begins a word of the row. The rule of
// names is shown before one is refused.
func TestPageFilterRule(t *testing.T) {
	l := newTurnsLab(t)
	for _, name := range []string{"prompt number 25", "prompt number 325", "prompt number 250", "25 things without number", "unnumbered 25"} {
		l.write("a.txt", name+"\n")
		l.rewind("save", name)
	}
	l.serve()
	l.look()
	for filter, want := range map[string]string{"number 25": "25 things without number,prompt number 25,prompt number 250", "umber 3": "prompt number 325", "Prompt 2": "prompt number 25,prompt number 250"} {
		l.press("/")
		l.ok(l.Type(filter))
		l.until(`[...document.querySelectorAll(".row .text")].map((e) => e.textContent).sort().join() === "` + want + `"`)
		l.press("Escape")
	}
	l.press("j", "n")
	l.until(`document.querySelector("dialog[open] input") === document.activeElement && document.querySelector("#name-rule")`)
	l.ok(l.Type("before cleanup"))
	l.until(`document.querySelector("#name-rule.wrong") && !document.querySelector("dialog").textContent.includes("then goes there")`)
	l.picture("name")
	l.press("Escape")
	l.clean()
}

// In a wide window the list of files stays beside the one that is shown, which is the README at first; a narrow one has one
// at a time.
func TestPageFileBesideList(t *testing.T) {
	l := newTurnsLab(t)
	l.write("README.md", "# calc\n")
	l.write("deep/er/x.txt", "x\n")
	l.rewind("save", "-q")
	l.serve()
	l.look()
	l.ok(l.Size(1440, 900))
	l.click("nav a", "files")
	l.until(`document.querySelector(".beside-list .tree [aria-current]")?.textContent === "README.md" && document.querySelector(".versions")`)
	l.ok(l.Eval(`history.pushState(null, "", location.pathname + "?at=file&path=deep/er/x.txt"); dispatchEvent(new PopStateEvent("popstate"))`, nil))
	l.until(`document.querySelector(".tree .tree [aria-current]")?.textContent === "x.txt" && document.querySelector("[aria-label=File] h2").textContent === "deep/er/x.txt"`)
	l.click(".tree button", "README.md")
	l.until(`location.search === "?at=file&path=README.md" && document.querySelector("[aria-label=File] h2").textContent === "README.md" && document.querySelector(".tree .tree")`)
	l.ok(l.Size(1024, 768))
	l.until(`!document.querySelector(".tree") && document.querySelector(".versions")`)
	l.click("nav a", "files")
	l.until(`document.querySelector(".tree") && !document.querySelector(".versions")`)
	l.clean()
}
