package page

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a person wrote during an agent's turn is first seen at the end of the turn, which is no row of the list. Space names the
// row of the turn.
func TestUISpaceNamesTheTurn(t *testing.T) {
	l := newLab(t)
	hook := func(event, prompt string) {
		data, err := json.Marshal(map[string]any{"hook_event_name": event, "session_id": "5ba1c0de-0000-4000-8000-000000000001", "cwd": l.env.Dir, "prompt_id": "p " + prompt, "prompt": prompt,
			"tool_name": "Write", "tool_use_id": "toolu_1", "tool_input": map[string]any{"file_path": filepath.Join(l.env.Dir, "small.txt"), "content": "small\n"}})
		if err != nil {
			t.Fatal(err)
		}
		l.hook("claude", data)
	}
	l.write(filepath.Join(l.env.Dir, "a.txt"), "one\n")
	l.run(l.env, "save", "at first")
	hook("UserPromptSubmit", "say what it is")
	hook("PreToolUse", "say what it is")
	l.write(filepath.Join(l.env.Dir, "small.txt"), "small\n")
	hook("PostToolUse", "say what it is")
	l.write(filepath.Join(l.env.Dir, "big.txt"), strings.Repeat("a word of mine\n", 9000))
	hook("Stop", "say what it is")
	hook("UserPromptSubmit", "think")
	hook("Stop", "think")
	place := l.logIn(l.ui(l.env).URL)
	var of usageView
	l.get("/api/v1"+place+"/usage", &of)
	i := slices.IndexFunc(of.Rows, func(g grownView) bool { return g.File.Path == "big.txt" })
	if i < 0 || of.Rows[i].By == nil || of.Rows[i].By.N != "3" || of.Rows[i].By.Why != "you, during" || of.Rows[i].By.Text != `"say what it is"` {
		t.Fatalf("%+v by %+v", of.Rows, of.Rows[max(i, 0)].By)
	}
	if rows := l.rows(place); !slices.ContainsFunc(rows, func(r rowView) bool { return r.ID == of.Rows[i].By.ID }) {
		t.Errorf("%+v is no row of the page: %+v", of.Rows[i].By, rows)
	}
}
