package page

import (
	"path/filepath"
	"testing"
)

// The chart has the bytes of a row that is left out at the row that shows its turn, and no time twice below it.
func TestPageChartHasAllThatWasStored(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	big := make([]byte, 3<<20)
	for i, at := uint32(1), 0; at < len(big); at++ { // no two of its bytes compress
		i = i*1664525 + 1013904223
		big[at] = byte(i >> 24)
	}
	event := func(name string, more map[string]any) {
		more["hook_event_name"], more["transcript_path"], more["prompt_id"] = name, l.transcript(), "big"
		l.hook(more)
	}
	event("UserPromptSubmit", map[string]any{"prompt": "make the big file"})
	l.write("big.bin", string(big))
	event("Stop", map[string]any{})
	l.play(pageTurn{"write a README", "README.md", "# calc\n", "Done."})
	l.serve()
	l.look()
	l.until(`/^up to 3.\d MiB stored/.test(document.querySelector(".most")?.textContent) && document.querySelector(".legend")`)
	l.until(`(() => { const shown = [...document.querySelectorAll(".ends span")].map((e) => e.textContent).filter(Boolean); return shown.length && new Set(shown).size === shown.length; })()`)
	l.press("Escape")
	l.click("button", "without changes") // they are shown: each row has its own
	l.until(`document.querySelectorAll(".row.k-stop").length === 3 && /^up to 3.\d MiB stored/.test(document.querySelector(".most").textContent)`)
	l.clean()
}

// What a call changed is in the row of its prompt, too: below the line of the chart it is counted once.
func TestPageChartCountsAPathOnce(t *testing.T) {
	l := newTurnsLab(t)
	for _, key := range []string{"antiSpam.enabled", "significance.enabled"} { // the second call has a row of its own
		l.rewind("config", key, "false")
	}
	event := func(name string, more map[string]any) {
		more["hook_event_name"], more["transcript_path"], more["prompt_id"] = name, l.transcript(), "two"
		l.hook(more)
	}
	event("UserPromptSubmit", map[string]any{"prompt": "write two files"})
	for _, file := range []string{"one.go", "two.go"} {
		call := func() map[string]any {
			return map[string]any{"tool_name": "Write", "tool_use_id": "toolu_" + file, "tool_input": map[string]any{"file_path": filepath.Join(l.root, file), "content": "package calc\n"}}
		}
		event("PreToolUse", call())
		l.write(file, "package calc\n")
		event("PostToolUse", call())
	}
	event("Stop", map[string]any{})
	l.serve()
	l.look()
	l.until(`document.querySelectorAll(".row.k-tool").length > 0 && document.querySelector(".legend")`)
	l.until(`document.querySelector(".chart .churn").getAttribute("d").match(/M/g).length === 2`) // the first checkpoint, and the turn
	l.clean()
}
