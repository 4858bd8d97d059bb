package hookio

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/hookio/shell"
)

func TestResponses(t *testing.T) {
	if r := (*Refusal)(nil).Response(Claude); !reflect.DeepEqual(r, Response{}) {
		t.Errorf("no refusal: %+v", r)
	}
	r := (&Refusal{"no\x1b[31m"}).Response(Claude)
	if r.ExitCode != 2 || len(r.Stdout) != 0 || r.Stderr != "no\ufffd[31m\n" {
		t.Errorf("%+v", r)
	}
	if got := string(Tell("not initialised").Stdout); got != `{"systemMessage":"not initialised"}`+"\n" {
		t.Errorf("%s", got)
	}
	if got := string(InSession("a\nb").Stdout); got != `{"decision":"block","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true},"reason":"a\nb"}`+"\n" {
		t.Errorf("%s", got)
	}
}

// Whatever the text, the output is one line of valid JSON, short enough, and
// nothing in it moves a terminal's cursor.
func TestResponsesAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if rapid.Bool().Draw(t, "long") {
			text = strings.Repeat(text+"é", 4000)
		}
		for key, r := range map[string]Response{"systemMessage": Tell(text), "reason": InSession(text)} {
			var v map[string]any
			if err := json.Unmarshal(r.Stdout, &v); err != nil || strings.Count(string(r.Stdout), "\n") != 1 || r.ExitCode != 0 || r.Stderr != "" {
				t.Fatalf("%v in %q", err, r.Stdout)
			}
			got := v[key].(string)
			if utf8.RuneCountInString(got) > maxOutput {
				t.Fatalf("%d characters", utf8.RuneCountInString(got))
			}
			for _, c := range got {
				if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
					t.Fatalf("%q holds %q", got, c)
				}
			}
		}
	})
}

func TestCanTell(t *testing.T) {
	for _, c := range []struct {
		agent Agent
		kind  EventKind
		want  bool
	}{{Claude, SessionStart, true}, {Droid, PreTool, true}, {Claude, SessionEnd, false}, {Claude, PreCompact, false}, {Claude, Notification, false}, {Generic, Prompt, false}, {Copilot, Prompt, false}} {
		if got := CanTell(&Event{Agent: c.agent, Kind: c.kind}); got != c.want {
			t.Errorf("%v %v: %v", c.agent, c.kind, got)
		}
	}
}

// What reaches a model, and where: nothing but that.
func TestInform(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want string // "" where it cannot be told
	}{
		{Event{Agent: Claude, Kind: Prompt, Name: "UserPromptSubmit"}, "UserPromptSubmit"},
		{Event{Agent: Claude, Kind: Prompt}, "UserPromptSubmit"},
		{Event{Agent: Claude, Kind: Prompt, AgentID: "sub"}, ""},
		{Event{Agent: Claude, Kind: SessionStart}, ""}, // the prompt comes, if anything does
		{Event{Agent: Claude, Kind: PreTool}, ""},
		{Event{Agent: Claude, Kind: Stop}, ""},
		{Event{Agent: Droid, Kind: SessionStart}, "SessionStart"},
		{Event{Agent: Droid, Kind: Prompt, Name: "UserPromptSubmit"}, "UserPromptSubmit"},
		{Event{Agent: Droid, Kind: SessionEnd}, ""},
		{Event{Agent: Codex, Kind: Prompt, Name: "UserPromptSubmit"}, "UserPromptSubmit"},
		{Event{Agent: Qwen, Kind: Prompt, Name: "UserPromptSubmit"}, "UserPromptSubmit"},
		{Event{Agent: Gemini, Kind: Prompt, Name: "BeforeAgent"}, "BeforeAgent"},
		{Event{Agent: Copilot, Kind: Prompt}, ""},
		{Event{Agent: Cursor, Kind: Prompt}, ""},
		{Event{Agent: Kiro, Kind: Prompt}, ""},
		{Event{Agent: OpenCode, Kind: Prompt}, ""},
		{Event{Agent: Pi, Kind: SessionStart}, ""}, // at a prompt in words of its own: see PiAnswer
		{Event{Agent: Generic, Kind: Prompt}, ""},
	} {
		if got := CanInform(&c.e); got != (c.want != "") {
			t.Errorf("%s at %s: %v", c.e.Agent, c.e.Kind, got)
		}
		if c.want == "" {
			continue
		}
		if got, want := string(Response{}.Inform(&c.e, "a\"b").Stdout), `{"hookSpecificOutput":{"additionalContext":"a\"b","hookEventName":"`+c.want+`"}}`+"\n"; got != want {
			t.Errorf("%s", got)
		}
	}
	e := Event{Agent: Claude, Kind: Prompt, Name: "UserPromptSubmit"}
	if got := string(Tell("to the person").Inform(&e, "to the model").Stdout); got != `{"hookSpecificOutput":{"additionalContext":"to the model","hookEventName":"UserPromptSubmit"},"systemMessage":"to the person"}`+"\n" {
		t.Errorf("%s", got)
	}
}

func TestExports(t *testing.T) {
	vars := []Variable{{"REWIND_PROJECT_ROOT", "/a b/it's"}, {"REWIND_AGENT", "claude"}, {"EMPTY", ""}, {"NUL", "a\x00b"}, {"bad name", "x"}}
	want := "export REWIND_PROJECT_ROOT='/a b/it'\\''s'\nexport REWIND_AGENT='claude'\n"
	first := Exports(nil, vars)
	if string(first) != want {
		t.Errorf("%q", first)
	}
	if again := Exports(append([]byte("export OTHER=1\n"), first...), vars); again != nil {
		t.Errorf("a second time: %q", again)
	}
	if got := Exports([]byte("export REWIND_AGENT='droid'\nno line end"), vars[1:2]); string(got) != "\nexport REWIND_AGENT='claude'\n" {
		t.Errorf("%q", got)
	}
}

// A shell that sources the exports has exactly the values.
func TestExportsInAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for _, value := range []string{"/plain", "a b", "it's", "'", "''", `back\slash`, "$HOME `id` $(id) \"q\"", "two\nlines\n", "-n", "ünï 😀", "\\'", "!x", "\x1b[31m"} {
		out, err := exec.Command(sh, "-c", string(Exports(nil, []Variable{{"X", value}}))+`printf '%s.' "$X"`).Output()
		if err != nil || string(out) != value+"." {
			t.Errorf("%q came out as %q, %v", value, out, err)
		}
	}
}

func TestWithPath(t *testing.T) {
	for _, c := range []struct {
		path, dir, want string
		ok              bool
	}{{"/bin:/usr/bin", "/h/.local/bin", "/h/.local/bin:/bin:/usr/bin", true}, {"/bin:/x", "/x", "", false}, {"", "/x", "", false}, {"/bin", "/a:b", "", false}, {"/bin", "", "", false}} {
		if got, ok := withPath(c.path, c.dir); got != c.want || ok != c.ok {
			t.Errorf("WithPath(%q, %q) = %q, %v", c.path, c.dir, got, ok)
		}
	}
}

// The line is run by a shell with another PATH than the hook has, again and again.
func TestPathLine(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	line := PathLine(Claude, "/bin", "/h/it's/bin")
	for before, want := range map[string]string{"/x:/y": "/h/it's/bin:/x:/y", "/x:/h/it's/bin": "/x:/h/it's/bin", "": "/h/it's/bin"} {
		cmd := exec.Command(sh, "-c", "PATH="+shell.Quote(before)+"; "+line+"; "+line+"; echo \"$PATH\"")
		if out, err := cmd.Output(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q became %q, %v, want %q", before, out, err, want)
		}
	}
	if got := PathLine(Droid, "/bin", "/h/bin"); got != "export PATH='/h/bin:/bin'" {
		t.Error(got)
	}
	for _, none := range []string{PathLine(Droid, "/h/bin:/bin", "/h/bin"), PathLine(Claude, "/bin", "/a:b"), PathLine(Droid, "/bin", "/it's"), PathLine(Claude, "/bin", "")} {
		if none != "" {
			t.Error(none)
		}
	}
	once := Exports(nil, nil, line)
	if again := Exports(once, nil, line); string(once) != line+"\n" || again != nil {
		t.Errorf("%q, then %q", once, again)
	}
}

// Droid tells its model what variables there are.
func TestShellVariables(t *testing.T) {
	e := Event{Agent: Claude, SessionID: "s", TranscriptPath: "/t"}
	want := []Variable{{"REWIND_PROJECT_ROOT", "/p"}, {"REWIND_SESSION_ID", "s"}, {"REWIND_TRANSCRIPT_PATH", "/t"}, {"REWIND_AGENT", "claude"}}
	if got := ShellVariables(&e, "/p"); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	e.Agent = Droid
	if got := ShellVariables(&e, "/p"); got != nil {
		t.Errorf("%v", got)
	}
	if exportable(Droid, "/it's") || !exportable(Droid, "/p:/q r") || !exportable(Claude, "/it's") {
		t.Error("Droid reads only what needs no quotes inside")
	}
}

func TestEnvFile(t *testing.T) {
	for _, c := range []struct {
		e    Event
		env  func(string) string
		want string
	}{
		{Event{Agent: Claude, Kind: SessionStart}, env("CLAUDE_ENV_FILE", "/c"), "/c"},
		{Event{Agent: Claude, Kind: Prompt}, env("CLAUDE_ENV_FILE", "/c"), ""},
		{Event{Agent: Droid, Kind: SessionStart, EnvFile: "/s"}, env("CLAUDE_ENV_FILE", "/c", "DROID_ENV_FILE", "/d"), "/d"},
		{Event{Agent: Droid, Kind: SessionStart, EnvFile: "/s"}, env("CLAUDE_ENV_FILE", "/c"), "/c"},
		{Event{Agent: Droid, Kind: SessionStart, EnvFile: "/s"}, noEnv, "/s"},
		{Event{Agent: Codex, Kind: SessionStart}, env("CLAUDE_ENV_FILE", "/c"), ""},
	} {
		if got := EnvFile(&c.e, c.env); got != c.want {
			t.Errorf("%+v: %q", c.e, got)
		}
	}
}
