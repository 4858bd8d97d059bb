package cli_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// turn lets an agent's session do a turn: a prompt, a write of a file if there is one, an answer.
func (x *tmuxScreen) turn(n int, prompt, file, content, answer string) {
	x.t.Helper()
	const session = "5ba1c0de-0000-4000-8000-000000000001"
	transcript := filepath.Join(x.dir, "..", "home", ".claude", "projects", "p", session+".jsonl")
	if err := os.MkdirAll(filepath.Dir(transcript), 0o755); err != nil {
		x.t.Fatal(err)
	}
	hook := func(event string, more map[string]any) {
		e := map[string]any{"hook_event_name": event, "session_id": session, "transcript_path": transcript, "cwd": x.dir, "prompt_id": fmt.Sprint("prompt-", n), "source": "startup"}
		for k, v := range more {
			e[k] = v
		}
		data, err := json.Marshal(e)
		if err != nil {
			x.t.Fatal(err)
		}
		cmd := exec.Command("rewind", "hook", "claude")
		cmd.Dir, cmd.Env, cmd.Stdin = x.dir, x.env, strings.NewReader(string(data))
		if out, err := cmd.CombinedOutput(); err != nil {
			x.t.Fatalf("%s: %v: %s", event, err, out)
		}
	}
	last := ""
	if n > 1 {
		last = fmt.Sprintf("e%d-answer", n-1)
	}
	say := func(id, role string, content any) {
		e := map[string]any{"parentUuid": nil, "type": role, "uuid": id, "sessionId": session, "promptId": fmt.Sprint("prompt-", n), "cwd": x.dir,
			"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": map[string]any{"role": role, "id": "m-" + id, "content": content}}
		if last != "" {
			e["parentUuid"] = last
		}
		line, err := json.Marshal(e)
		if err != nil {
			x.t.Fatal(err)
		}
		f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			x.t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(append(line, '\n')); err != nil {
			x.t.Fatal(err)
		}
		last = id
	}
	if n == 1 {
		hook("SessionStart", nil)
	}
	hook("UserPromptSubmit", map[string]any{"prompt": prompt})
	say(fmt.Sprintf("e%d-prompt", n), "user", prompt)
	if file != "" {
		call := map[string]any{"tool_name": "Write", "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": map[string]any{"file_path": filepath.Join(x.dir, file), "content": content}}
		say(fmt.Sprintf("e%d-call", n), "assistant", []any{map[string]any{"type": "tool_use", "id": call["tool_use_id"], "name": "Write", "input": call["tool_input"]}})
		hook("PreToolUse", call)
		x.write(file, content)
		hook("PostToolUse", call)
		say(fmt.Sprintf("e%d-result", n), "user", []any{map[string]any{"type": "tool_result", "tool_use_id": call["tool_use_id"], "content": "written"}})
	}
	say(fmt.Sprintf("e%d-answer", n), "assistant", []any{map[string]any{"type": "text", "text": answer}})
	hook("Stop", nil)
}

// Whoever opens the picker does eleven things in it, as somebody does who has never seen it: the keys are in its last line and
// behind its question mark.
func TestTmuxTasks(t *testing.T) {
	const (
		coupon = "package invoice\n\nfunc Coupon(code string) int {\n\tif code == \"legacy-2019\" {\n\t\treturn 5\n\t}\n\treturn 0\n}\n"
		add    = "package calc\n\nfunc Add(a, b int) int { return a + b }\n"
		right  = "package calc\n\nfunc Add(a, b int) int { return b + a }\n"
	)
	total := func(first, last string) string {
		return first + "\n" + strings.Repeat("// The rows of an invoice are in order.\n", 24) + last + "\n"
	}
	const sum, cents, tax, rounded = "// Total is the sum.", "// Total is the sum, in whole cents.", "const Tax = 0.19", "const Tax = 0.19 // of whole cents"
	var large strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&large, "%x\n", sha256.Sum256([]byte(fmt.Sprint(i))))
	}
	x := newTmux(t, "180", "40")
	x.write("calc.go", add)
	x.write("invoice/coupon.go", coupon)
	if err := syscall.Mkfifo(filepath.Join(x.dir, "queue"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.run("init")
	x.turn(1, "import all orders", "orders.txt", large.String(), "There are 6,000.")
	x.turn(2, "the total of an invoice", "invoice/total.go", total(sum, tax), "Total sums.")
	x.turn(3, "only think", "", "", "I thought about it.")
	x.turn(4, "drop the coupon", "invoice/coupon.go", strings.Replace(coupon, "\tif code == \"legacy-2019\" {\n\t\treturn 5\n\t}\n", "", 1), "It is gone.")
	x.turn(5, "round the total", "invoice/total.go", total(cents, rounded), "Both are in whole cents now.")
	x.turn(6, "make Add faster", "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "One instruction now.")
	x.run("restore", "prompt~1", "--yes")
	x.turn(7, "make Add right", "calc.go", right, "It adds.")
	x.keys("rewind", "Enter")
	x.shows(`@ .*now`, `conversation ─`)

	row := func(text string) { // alone, by the filter, which is left then
		x.t.Helper()
		x.keys("/")
		x.keys("-l", text)
		x.keys("Enter")
		x.shows(`> .* prompt +` + text)
		x.keys("Escape")
		x.shows(`> .* prompt +`+text, `first checkpoint`)
	}
	newest := func() {
		x.t.Helper()
		x.keys("g", "[")
		x.shows(`> .* prompt +make Add right`)
	}
	yes := func(plan, done string) {
		x.t.Helper()
		x.shows(plan, `y/n`)
		x.keys("y")
		x.shows(done)
	}
	undo := func() { x.t.Helper(); x.keys("u"); yes(`Undo the re`, `(?m)^Undone: `) }
	for _, task := range []struct {
		what string
		do   func()
	}{
		{"what changed at a prompt", func() {
			row("drop the coupon")
			x.shows(`what it did`, `M invoice/coupon\.go +-3`, `- +if code == "legacy-2019"`, `(?m)│  Write invoice/coupon\.go *$`, `(?m)│> drop the coupon *$`, `│It is gone\.`)
			row("only think") // and that another changed nothing
			x.shows(`│> only think *`, `I thought about it\.`)
			x.keys("v")
			x.shows(`Nothing to revert: this turn changed no file`, `nothing to do, nothing was changed`)
			x.keys("Escape")
		}},
		{"which prompt wrote a line", func() {
			x.keys("g", "F") // of the files as they are now
			x.keys("-l", "invoice/total.go")
			x.keys("Enter")
			x.shows(`who wrote each line`, `"round the total" +1 // Total is the sum, in whole cents\.`, `"the total of an invoice" +2 // The rows of an invoice`)
			x.keys("Enter")
			x.shows(`> .*round the total`, `- ?// Total is the sum\.`)
		}},
		{"an older version of a file", func() {
			row("round the total")
			x.keys("f")
			x.shows(`0 of 2 chosen`)
			x.keys("j", "Space")
			x.shows(`1 of 2 chosen`, `\[x\] replace +invoice/total\.go`)
			x.keys("Enter")
			yes(`replace invoice/total\.go`, `(?m)^Restored to `)
			x.has("invoice/total.go", total(sum, tax))
			undo()
			x.has("invoice/total.go", total(cents, rounded))
		}},
		{"two attempts", func() {
			newest()
			x.keys("a")
			x.shows(`Attempts since \d+ "make Add faster", the oldest first`, `> \[ \] +1 .*make Add faster`, `\[ \] +\* +2 .*make Add right`)
			x.keys("Space", "j", "Space")
			x.shows(`comparing`, `M calc\.go +\+1 -1`, `-func Add.* a - b`, `\+func Add.* b \+ a`)
			x.keys("Escape")
			x.shows(`what it did`)
			x.keys("Escape")
		}},
		{"a session to share", func() {
			newest()
			x.keys("x")
			x.shows(`the session as a page, to: session\.html`)
			x.keys("Enter")
			x.shows(`wrote session\.html, without what is known to be secret`)
			if err := os.Remove(filepath.Join(x.dir, "session.html")); err != nil {
				t.Error(err)
			}
		}},
		{"where a word vanished", func() {
			x.keys("/")
			x.keys("-l", "legacy-2019")
			x.shows(`tab searches in the files`)
			x.keys("Tab")
			x.shows(`1 line with legacy-2019`, `> invoice/coupon\.go:4 `, `enter came with .*first checkpoint.* w went with .*drop the coupon`)
			x.keys("w")
			x.shows(`> .*drop the coupon`, `- +if code == "legacy-2019"`)
		}},
		{"one turn undone", func() {
			row("drop the coupon")
			x.keys("v")
			yes(`Revert 1 turn of claude 5ba1c0de: "drop the coupon"`, `Reverted: .*u takes it back`)
			x.has("invoice/coupon.go", coupon)
			x.has("calc.go", right)
			undo()
		}},
		{"what is not captured, and what takes the space", func() {
			x.keys("i")
			x.shows(`1 path is not in the newest checkpoint`, `queue +fifo`, `KiB +\d+ prompt import all orders +orders\.txt`)
			x.keys("q")
		}},
		{"continue in the client", func() {
			newest()
			x.keys("t")
			yes(`Restore to 2 "make Add right"`, `(?m)^Restored to 2 "make Add right": the conversation\. u takes it back, q leaves and prints the command that opens the conversation`)
			undo()
		}},
		{"undo a wrong restore", func() {
			row("the total of an invoice")
			x.keys("c")
			yes(`Restore to \d+ "the total of an invoice"`, `(?m)^Restored to `)
			x.has("invoice/coupon.go", coupon)
			x.has("invoice/total.go", "")
			undo()
			x.has("invoice/total.go", total(cents, rounded))
		}},
		{"one hunk", func() {
			row("round the total")
			x.keys("f")
			x.shows(`0 of 2 chosen`)
			x.keys("j", "Right")
			x.shows(`Hunks of invoice/total\.go, as in \d+: 0 of 2 chosen`)
			x.keys("Space", "Enter")
			yes(`1 of 2 hunks of invoice/total\.go`, `(?m)^Restored to `)
			x.has("invoice/total.go", total(sum, rounded))
		}},
	} {
		ended := t.Run(task.what, func(t *testing.T) {
			x.t = t
			task.do()
		})
		x.t = t
		if !ended {
			return // the next begin where this one would have led
		}
	}
	x.keys("q")
	x.shows(`Restored the chosen parts to `, `(?m)^\$$`)
	if s := x.screen(); strings.Contains(s, "claude --resume") {
		t.Errorf("the fork was taken back, and its command is printed:\n%s", s)
	}
}

// What was not captured and is gone is named before a restore and after it, in a window in which it takes two lines.
func TestTmuxSaysWhatIsGone(t *testing.T) {
	x := newTmux(t, "80", "24")
	x.write(".rewindignore", "build/\n")
	x.write("build/result", "lost\n")
	x.write("docs/a", "d\n")
	x.run("init")
	for _, dir := range []string{"docs", "build"} {
		if err := os.RemoveAll(filepath.Join(x.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	x.keys("rewind", "Enter")
	x.shows(`> .*first checkpoint|@ .*`)
	x.keys("G", "Enter")
	x.shows(`Files: 1 to create, with 1 directory\.`, `Not captured: \d+ paths?\. To list them: rewind show [k-z]{8} --coverage`, `Not captured, and gone since: build; it does not come back\.`)
	x.keys("y")
	x.shows(`Restored to 1 .*: 1 created\.`, `gone since:\s+build; it does not come back\. u takes it back, q leaves`)
	x.keys("q")
}
