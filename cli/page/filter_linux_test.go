package page

import "testing"

// The filter has the picker's rule: a row has it as it was typed, or each of its words begins a word of the row. The rule of
// names is said before one is refused.
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
