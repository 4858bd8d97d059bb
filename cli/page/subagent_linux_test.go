package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// line appends a line to the transcript of the session.
func (l *pageLab) line(id, role, content string, more map[string]any) {
	l.t.Helper()
	line := map[string]any{"parentUuid": l.last, "isSidechain": false, "type": role, "uuid": id, "sessionId": l.session, "version": "2.1.329", "promptId": "prompt-sub", "cwd": l.root,
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": json.RawMessage(content)}
	for k, v := range more {
		line[k] = v
	}
	data, err := json.Marshal(line)
	if err != nil {
		l.t.Fatal(err)
	}
	f, err := os.OpenFile(l.transcript(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		l.t.Fatal(err)
	}
	l.last = id
}

// What a subagent changed leads to the call that ran it, and that call to what the subagent changed: the conversation has
// no other call of it.
func TestPageSubagent(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	l := newTurnsLab(t)
	l.play(pageTurn{"first", "a.txt", "one\n", "Done."})
	event := func(name string, more map[string]any) {
		e := map[string]any{"hook_event_name": name, "transcript_path": l.transcript(), "prompt_id": "prompt-sub"}
		for k, v := range more {
			e[k] = v
		}
		l.hook(e)
	}
	event("UserPromptSubmit", map[string]any{"prompt": "ask a subagent"})
	l.line("s1", "user", `{"role":"user","content":"ask a subagent"}`, nil)
	l.line("s2", "assistant", `{"role":"assistant","id":"ms","content":[{"type":"tool_use","id":"toolu_agent","name":"Agent","input":{"description":"Write b","prompt":"Write b.txt"}}]}`, nil)
	call := map[string]any{"tool_name": "Agent", "tool_use_id": "toolu_agent", "tool_input": map[string]any{"description": "Write b", "prompt": "Write b.txt"}}
	event("PreToolUse", call)
	event("SubagentStart", map[string]any{"agent_id": "a0b1c2d", "agent_type": "general-purpose"})
	its := map[string]any{"agent_id": "a0b1c2d", "agent_type": "general-purpose", "tool_name": "Write", "tool_use_id": "toolu_its",
		"tool_input": map[string]any{"file_path": filepath.Join(l.root, "b.txt"), "content": "two\n"}}
	event("PreToolUse", its)
	l.write("b.txt", "two\n")
	event("PostToolUse", its)
	event("SubagentStop", map[string]any{"agent_id": "a0b1c2d", "agent_type": "general-purpose"})
	event("PostToolUse", call)
	l.line("s3", "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_agent","content":"b.txt is written"}]}`, map[string]any{"toolUseResult": map[string]any{"status": "completed", "agentId": "a0b1c2d"}})
	l.line("s4", "assistant", `{"role":"assistant","id":"mt","content":[{"type":"text","text":"It is written."}]}`, nil)
	event("Stop", nil)
	l.serve()
	l.look()
	l.click(".row.k-prompt", "ask a subagent")
	l.until(`document.querySelector(".right[aria-busy=false] .file .by")?.textContent.includes("where it was said")`)
	l.click(".right .file .by button", "where it was said")
	l.until(`document.querySelector(".middle [data-call=toolu_agent].flash details[open]") && /A subagent made that change/.test(document.querySelector(".middle [role=status]").textContent)`)
	l.click(".middle [data-call=toolu_agent] button", "diff")
	l.until(`document.querySelector(".right details.flash .path")?.textContent === "b.txt"`)
	l.clean()
}

// A session has the same colour in all places, whichever of them is opened first.
func TestPageColoursOfSessions(t *testing.T) {
	l := newPageLabOf(t, []pageTurn{{"one line", "a.txt", "one\n", "Done."}, {"a file", "b.txt", "b\n", "Done."}})
	l.other().play(pageTurn{"another line", "a.txt", "one\ntwo\n", "Done."})
	at := l.url[:strings.Index(l.url, "#")]
	l.ok(l.Open(at + "?at=file&path=a.txt&whole="))
	l.until(`document.querySelectorAll(".whole .hue.hued").length === 2`)
	var there, here []string
	l.ok(l.Eval(`[...document.querySelectorAll(".whole .hue")].map((e) => e.style.getPropertyValue("--hue"))`, &there))
	l.press("Escape")
	l.until(`document.querySelector(".row .whom .hue.hued")`)
	for _, session := range []string{pageSession, otherSession} {
		var hue string
		l.ok(l.Eval(`[...document.querySelectorAll(".row .whom")].find((e) => e.title === "`+session+`").querySelector(".hue").style.getPropertyValue("--hue")`, &hue))
		here = append(here, hue)
	}
	if !slices.Equal(there, here) || here[0] == here[1] {
		t.Errorf("the lines have the colours %q, the rows %q", there, here)
	}
	l.clean()
}

// Rows that a comparison needs, and that tell nothing, leave with it.
func TestPageCompareLeavesTheRows(t *testing.T) {
	l := newPageLab(t)
	var doc struct {
		Checkpoints []struct{ ID, Kind string }
	}
	if err := json.Unmarshal([]byte(l.rewind("list", "--json")), &doc); err != nil {
		t.Fatal(err)
	}
	end := ""
	for _, c := range doc.Checkpoints {
		if c.Kind == "stop" {
			end = c.ID
		}
	}
	at := l.url[:strings.Index(l.url, "#")]
	l.ok(l.Open(at + "?at=compare&a=" + end + "&b=%40"))
	l.until(`document.querySelector(".compare .end-text")?.textContent.includes("stop")`)
	l.press("Escape")
	l.until(`/Show \d+ without changes/.test(document.querySelector(".left .bar .total")?.textContent)`)
	l.clean()
}

// What is said of an action is seen where the page is narrow and was scrolled.
func TestPageNarrowSaysWhatWasDone(t *testing.T) {
	l := newPageLab(t)
	l.ok(l.Size(390, 800))
	l.click(".row", "make Add faster")
	l.until(`document.querySelector(".right[aria-busy=false] h2")?.textContent.includes("make Add faster")`)
	l.ok(l.Eval(`document.querySelector(".right").scrollIntoView({ block: "start" })`, nil))
	l.until(`scrollY > 300`)
	l.click(".right button", "Revert this turn…")
	l.until(`document.querySelector("dialog .go:not([disabled])")`)
	l.click("dialog .go", "Revert")
	l.until(`document.querySelector(".done") && !document.querySelector("dialog")`)
	var seen bool
	l.ok(l.Eval(`(() => { const r = document.querySelector(".done").getBoundingClientRect(); return scrollY > 100 && r.top >= 0 && r.bottom <= innerHeight && document.elementFromPoint(r.left + 20, r.top + 10).closest(".done") !== null; })()`, &seen))
	l.picture("narrow-done")
	if !seen {
		t.Error("the message is not seen")
	}
	l.clean()
}
