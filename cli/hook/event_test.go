package hook

import (
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/manifest"
)

// What an agent's event says to package hook: its moment, and what is known of a tool call.
func TestHookEvent(t *testing.T) {
	edit := hookio.Tool{Name: "Edit", Class: hookio.Edit, Files: []string{"/p/a.go"}, ChangedChars: 7}
	write, cut := edit, edit
	write.WholeFile, cut.Truncated = true, true
	shell := func(command string) hookio.Tool {
		return hookio.Tool{Name: "Bash", Class: hookio.Shell, Command: command, Files: []string{"/p/a.go"}}
	}
	cutShell := shell("ls")
	cutShell.Truncated = true
	other := func(class hookio.Class) hookio.Tool {
		return hookio.Tool{Name: "x", Class: class, Files: []string{"/p/a.go"}}
	}
	for _, c := range []struct {
		name        string
		kind        hookio.EventKind
		tool        hookio.Tool
		want        manifest.CheckpointKind
		moment      string
		files       bool
		edit        *hook.Edit
		destructive bool
	}{
		{"a session's start", hookio.SessionStart, hookio.Tool{}, manifest.SessionStart, settings.SessionStart, false, nil, false},
		{"a prompt", hookio.Prompt, hookio.Tool{}, manifest.Prompt, settings.Prompt, false, nil, false},
		{"a stop", hookio.Stop, hookio.Tool{}, manifest.Stop, settings.Stop, false, nil, false},
		{"a subagent's stop", hookio.SubagentStop, hookio.Tool{}, manifest.Stop, settings.SubagentStop, false, nil, false},
		{"a session's end", hookio.SessionEnd, hookio.Tool{}, manifest.SessionEnd, settings.SessionEnd, false, nil, false},
		{"a compaction", hookio.PreCompact, hookio.Tool{}, "", "", false, nil, false},
		{"a notification", hookio.Notification, hookio.Tool{}, "", "", false, nil, false},
		{"nothing", hookio.Ignored, hookio.Tool{}, "", "", false, nil, false},
		{"an edit", hookio.PreTool, edit, manifest.PreTool, settings.PreEdit, true, &hook.Edit{Chars: 7}, false},
		{"a whole file", hookio.PreTool, write, manifest.PreTool, settings.PreEdit, true, &hook.Edit{Chars: 7, Whole: true}, false},
		{"an edit of which a part is known", hookio.PreTool, cut, manifest.PreTool, settings.PreEdit, true, nil, false},
		{"a tool of an MCP server", hookio.PreTool, other(hookio.MCP), manifest.PreTool, settings.PreEdit, true, nil, false},
		{"an unknown tool", hookio.PreTool, other(hookio.OtherTool), manifest.PreTool, settings.PreEdit, true, nil, false},
		{"reading", hookio.PreTool, other(hookio.Read), manifest.PreTool, "", true, nil, false},
		{"a subagent's start", hookio.PreTool, other(hookio.Subagent), manifest.PreTool, "", true, nil, false},
		{"a shell command", hookio.PreTool, shell("make"), manifest.PreTool, settings.PreShell, false, nil, false},
		{"a destructive one", hookio.PreTool, shell("cd x && git checkout ."), manifest.PreTool, settings.PreShell, false, nil, true},
		{"one of which a part is known", hookio.PreTool, cutShell, manifest.PreTool, settings.PreShell, false, nil, true},
		{"after a shell command", hookio.PostTool, shell("rm -rf x"), manifest.PostTool, settings.PostShell, false, nil, false},
		{"after an edit", hookio.PostTool, edit, manifest.PostTool, "", false, nil, false},
	} {
		env := account.Env{Getenv: func(string) string { return "" }}
		got := eventOf(&hookio.Event{Kind: c.kind, Tool: c.tool, Prompt: "p"}, env, time.Time{})
		if got.Kind != c.want || got.Moment != c.moment || (got.Files != nil) != c.files || got.Destructive != c.destructive {
			t.Errorf("%s: %+v", c.name, got)
		}
		if (got.Edit == nil) != (c.edit == nil) || c.edit != nil && *got.Edit != *c.edit {
			t.Errorf("%s: %+v", c.name, got.Edit)
		}
		if (got.By.Prompt != "") != (c.kind == hookio.Prompt) {
			t.Errorf("%s: the prompt %q", c.name, got.By.Prompt)
		}
	}
}
