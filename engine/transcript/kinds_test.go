package transcript

import (
	"strings"
	"testing"
)

// What the client says of a row counts more than what its text looks like, and
// its own messages are no prompts.
func TestWhoSpoke(t *testing.T) {
	row := func(more, text string) string {
		return `{"type":"user","uuid":"u","parentUuid":null` + more + `,"message":{"role":"user","content":` + js(text) + "}}\n"
	}
	for _, c := range []struct {
		more, text string
		want       bool
	}{
		{"", "fix it", true},
		{`,"origin":{"kind":"human"},"promptSource":"typed"`, "fix it", true},
		{`,"origin":{"kind":"task-notification","subkind":"scheduled-trigger"}`, "fix it", false},
		{`,"origin":{"kind":"peer","name":"x"}`, "fix it", false},
		{`,"origin":{"kind":"auto-continuation"}`, "go on", false},
		{`,"origin":{"kind":"unclassified"}`, "fix it", true},
		{`,"origin":{"kind":"something new"}`, "fix it", true},
		{`,"origin":null`, "fix it", true},
		{`,"promptSource":"system"`, "fix it", false},
		{`,"promptSource":"typed"`, "<task-notification> is a tag: explain it", true},
		{"", "<task-notification> is a tag: explain it", false},
		{"", "<task-notification>\n<task-id>1</task-id>", false},
		{"", "<tick>", false},
		{"", "<tickets> are not shown", true},
		{"", `<channel source="x">hello</channel>`, false},
		{"", "<channel> is not shown", true},
		{"", `<teammate-message teammate_id="a">x</teammate-message>`, false},
		{"", "<background-task-output>x", false},
		{"", "<div> is not centred", true},
		{`,"origin":{"kind":"human"}`, "<bash-input>ls</bash-input>", false},
	} {
		x, err := Read(Claude, strings.NewReader(row(c.more, c.text)))
		if err != nil || x.Lines[0].Prompt != c.want {
			t.Errorf("%s %q: a prompt: %v (%v)", c.more, c.text, !c.want, err)
		}
		if got := Typed(Claude, c.text); c.more == "" && got != c.want {
			t.Errorf("%q: typed: %v", c.text, got)
		}
	}
	for _, more := range []string{`,"isUserVisible":false`, `,"hiddenFromUserViews":true`, `,"visibility":"llm_only"`} {
		line := `{"type":"message","id":"u","message":{"role":"user","content":[{"type":"text","text":"x"}]` + more + "}}\n"
		if x, err := Read(Droid, strings.NewReader(line)); err != nil || x.Lines[0].Prompt {
			t.Errorf("droid %s: %v", more, err)
		}
	}
	if !Typed("codex", "<task-notification>") {
		t.Error("of an agent that is not understood every text can be typed")
	}
}
