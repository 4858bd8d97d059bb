package transcript

import (
	"errors"
	"strings"
	"testing"
)

func TestClaudePrompts(t *testing.T) {
	user := func(body string) string { return `{"type":"user","uuid":"u","parentUuid":null,` + body + `}` }
	text := func(s string) string { return user(`"message":{"role":"user","content":` + js(s) + `}`) }
	for _, c := range []struct {
		name, line, want string // want "": no prompt
	}{
		{"string", text(" fix it \nplease"), "fix it \nplease"},
		{"array", user(`"message":{"role":"user","content":[{"type":"text","text":"fix"}]}`), "fix"},
		{"text key first", user(`"message":{"content":[{"text":"fix","type":"text"}],"role":"user"}`), "fix"},
		{"text and image", user(`"message":{"role":"user","content":[{"type":"image","source":{"data":"aGk="}},{"type":"text","text":"see"}]}`), "see"},
		{"reminder block before", user(`"message":{"role":"user","content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"fix"}]}`), "fix"},
		{"tool result", user(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`), ""},
		{"tool result and text", user(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]}`), ""},
		{"toolUseResult", user(`"toolUseResult":{"a":1},"message":{"role":"user","content":"x"}`), ""},
		{"toolUseResult null", user(`"toolUseResult":null,"message":{"role":"user","content":"x"}`), "x"},
		{"sourceToolAssistantUUID", user(`"sourceToolAssistantUUID":"a","message":{"role":"user","content":"x"}`), ""},
		{"meta", user(`"isMeta":true,"message":{"role":"user","content":"x"}`), ""},
		{"meta false", user(`"isMeta":false,"message":{"role":"user","content":"x"}`), "x"},
		{"sidechain", user(`"isSidechain":true,"message":{"role":"user","content":"x"}`), ""},
		{"summary", user(`"isCompactSummary":true,"message":{"role":"user","content":"x"}`), ""},
		{"summary text", text("This session is being continued from a previous conversation that"), ""},
		{"interrupted", text("[Request interrupted by user for tool use]"), ""},
		{"reminder", text("<system-reminder>x</system-reminder>"), ""},
		{"stdout", text("  <local-command-stdout>x</local-command-stdout>"), ""},
		{"notification", text("<task-notification>x"), ""},
		{"shell mode", text("<bash-input>ls</bash-input>"), ""},
		{"empty", text(" \n"), ""},
		{"no content", user(`"message":{"role":"user"}`), ""},
		{"no message", user(`"x":1`), ""},
		{"number", user(`"message":{"role":"user","content":7}`), ""},
		{"queued", `{"type":"attachment","uuid":"u","parentUuid":null,"attachment":{"type":"queued_command","prompt":"x","commandMode":"prompt","origin":{"kind":"human"}}}`, ""},
		{"built-in command", text("<command-name>/clear</command-name>\n<command-message>clear</command-message>"), ""},
		{"command with a turn", user(`"turnPosition":{"turnIndex":1},"message":{"role":"user","content":"<command-message>foo</command-message>\n<command-name>/foo</command-name>\n<command-args>a b</command-args>"}`), "/foo a b"},
		{"escaped key", `{"type":"user","\u0075uid":"u","message":{"role":"user","content":"x"}}`, "x"},
		{"command in the text", text("explain <command-name>"), "explain <command-name>"},
	} {
		x, err := Read(Claude, strings.NewReader(c.line+"\n"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		l := x.Lines[0]
		if l.Text != c.want || l.Prompt != (c.want != "") || l.ID != "u" {
			t.Errorf("%s: prompt %v %q, want %q", c.name, l.Prompt, l.Text, c.want)
		}
	}
}

func TestDroidPrompts(t *testing.T) {
	msg := func(body string) string { return `{"type":"message","id":"u","message":{` + body + `}}` }
	for _, c := range []struct{ name, line, want string }{
		{"text", msg(`"role":"user","content":[{"type":"text","text":"do X"}],"interactionMode":"auto"`), "do X"},
		{"hook", msg(`"role":"user","content":[{"type":"text","text":"x"}],"hookEventName":"Stop"`), ""},
		{"context", msg(`"role":"user","content":[{"type":"text","text":"x"}],"visibility":"llm_only"`), ""},
		{"result", msg(`"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]`), ""},
		{"reminder", msg(`"role":"user","content":[{"type":"text","text":"<system-reminder>x"}]`), ""},
		{"assistant", msg(`"role":"assistant","content":[{"type":"text","text":"x"}]`), ""},
		{"assistant, role last", msg(`"content":[{"type":"text","text":"x"}],"role":"assistant"`), ""},
		{"image", msg(`"role":"user","content":[{"type":"image"},{"type":"text","text":"see"}]`), "see"},
	} {
		x := mustRead(t, Droid, []byte(c.line+"\n"))
		if l := x.Lines[0]; l.Text != c.want || l.Prompt != (c.want != "") {
			t.Errorf("%s: prompt %v %q, want %q", c.name, l.Prompt, l.Text, c.want)
		}
	}
}

// A slash command is a prompt if what it stands for follows it.
func TestSlashCommands(t *testing.T) {
	command := `{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"<command-name>/x</command-name>"}}`
	next := func(parent, more, text string) string {
		return `{"type":"user","uuid":"b","parentUuid":"` + parent + `"` + more + `,"message":{"role":"user","content":` + js(text) + `}}`
	}
	for name, c := range map[string]struct {
		line string
		want bool
	}{
		"its text":             {next("a", `,"isMeta":true`, "do x"), true},
		"a caveat":             {next("a", `,"isMeta":true`, "Caveat: The messages below"), false},
		"output":               {next("a", `,"isMeta":true`, "<local-command-stdout>done"), false},
		"no meta row":          {next("a", "", "hello"), false},
		"another's":            {next("z", `,"isMeta":true`, "do x"), false},
		"metadata, then text":  {`{"type":"mode"}` + "\n" + next("a", `,"isMeta":true`, "do x"), true},
		"an attachment before": {`{"type":"attachment","uuid":"t","parentUuid":"a"}` + "\n" + next("t", `,"isMeta":true`, "do x"), false},
	} {
		x := mustRead(t, Claude, []byte(command+"\n"+c.line+"\n"))
		if l := x.Lines[0]; l.Prompt != c.want || (l.Text == "/x") != c.want {
			t.Errorf("%s: prompt %v %q", name, l.Prompt, l.Text)
		}
	}
}

func TestLabel(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo":    "one",
		"  one \r\nx": "one",
		"a<system-reminder>x\ny</system-reminder>b\nc":      "ab",
		"<system-reminder>x</system-reminder>\n\nfix it\nx": "fix it",
		"a<system-reminder>never closed":                    "a",
		"":                                                  "",
	} {
		if got := (&Line{Text: text}).Label(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestBeforeTool(t *testing.T) {
	for _, m := range makers() {
		t.Run(m.version, func(t *testing.T) {
			m.say("one")
			before := m.reply("hello")
			if m.agent == Droid {
				before = m.leaf
			}
			ids := m.calls(3, 1, 0, 2)
			m.reply("done")
			x := mustRead(t, m.agent, m.buf.Bytes())
			for _, id := range ids {
				if cut, err := x.BeforeTool(id); err != nil || cut != before {
					t.Errorf("before %s: %s %v, want %s", id, cut, err, before)
				}
			}
			if _, err := x.BeforeTool("none"); !errors.As(err, new(*NoEventError)) {
				t.Errorf("unknown call: %v", err)
			}
		})
	}
}

func TestBeforePromptID(t *testing.T) {
	m := newMaker(Claude, "2.1.329")
	m.say("one")
	first := m.prompt
	end := m.reply("a")
	m.say("two")
	second := m.prompt
	m.calls(1, 0)
	m.reply("b")
	gone := m.say("three")
	third := m.prompt
	m.reply("c")
	m.rewind(gone)
	m.say("four")
	m.reply("d")
	x := mustRead(t, Claude, m.buf.Bytes())
	leaf := x.Leaf()
	if cut, err := x.BeforePromptID(leaf, second); err != nil || cut != end {
		t.Errorf("second: %s %v, want %s", cut, err, end)
	}
	if cut, err := x.BeforePromptID(leaf, third); err != nil || cut != m.parents[gone] {
		t.Errorf("on an abandoned branch: %s %v", cut, err)
	}
	if _, err := x.BeforePromptID(leaf, first); !errors.As(err, new(*NothingBeforeError)) {
		t.Errorf("first: %v", err)
	}
	for _, id := range []string{"", "zz"} {
		if _, err := x.BeforePromptID(leaf, id); !errors.As(err, new(*NoEventError)) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// What a client notes behind an answer is no message, so the conversation ends at the same place with it and without it.
func TestSameMessages(t *testing.T) {
	x, err := Read(Claude, strings.NewReader(`{"type":"user","uuid":"p","parentUuid":null,"message":{"role":"user","content":"fix it"}}
{"type":"assistant","uuid":"a","parentUuid":"p","message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}
{"type":"system","subtype":"stop_hook_summary","uuid":"s","parentUuid":"a"}
{"type":"user","uuid":"q","parentUuid":"s","message":{"role":"user","content":"and that"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"a", "a", true}, {"a", "s", true}, {"s", "a", true}, {"p", "a", false}, {"s", "q", false}, {"a", "gone", false}} {
		if x.SameMessages(c.a, c.b) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
