package hookio

import (
	"testing"
	"time"
)

var (
	minimal    = Policy{Moments: []string{AtSessionStart}}
	balanced   = Policy{Moments: []string{AtSessionStart, AtPrompt, AtPreEdit, AtPreShell, AtStop}, Debounce: true, MinInterval: 30 * time.Second, Significance: true, MinChangeSize: 50, CriticalFiles: []string{"package.json", "*.config.{js,ts}", "db/**/*.sql"}}
	aggressive = Policy{Moments: []string{AtSessionStart, AtPrompt, AtPreEdit, AtPreShell, AtPostShell, AtStop, AtSubagentStop, AtSessionEnd}, Debounce: true, MinInterval: 15 * time.Second, Significance: true, MinChangeSize: 25, CriticalFiles: []string{"*"}}
)

func edit(chars int, files ...string) Event {
	return Event{Kind: PreTool, Tool: Tool{Name: "Edit", Class: Edit, Files: files, ChangedChars: chars}}
}

func shellCall(kind Kind, command string) Event {
	return Event{Kind: kind, Tool: Tool{Name: "Bash", Class: Shell, Command: command}}
}

func TestDecide(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ago := func(s int) State {
		return State{Now: now, LastCheckpoint: now.Add(-time.Duration(s) * time.Second), Root: "/p"}
	}
	fresh := State{Now: now, Root: "/p"}
	write := func(chars int) Event {
		return Event{Kind: PreTool, Tool: Tool{Name: "Write", Class: Edit, Files: []string{"/p/a.go"}, ChangedChars: chars, WholeFile: true}}
	}
	sized := func(s State, size int64) State { s.SizeOf = func(string) int64 { return size }; return s }
	restored := func(s State) State { s.AfterRestore = true; return s }
	for _, c := range []struct {
		name   string
		e      Event
		p      Policy
		s      State
		save   bool
		moment string
	}{
		{"session start, minimal", Event{Kind: SessionStart}, minimal, ago(1), true, AtSessionStart},
		{"prompt, minimal", Event{Kind: Prompt}, minimal, ago(100), false, AtPrompt},
		{"edit, minimal", edit(1000, "/p/a"), minimal, fresh, false, AtPreEdit},
		{"rm, minimal", shellCall(PreTool, "rm -rf x"), minimal, fresh, false, AtPreShell},
		{"prompt within the interval", Event{Kind: Prompt}, balanced, ago(1), true, AtPrompt},
		{"stop within the interval", Event{Kind: Stop}, balanced, ago(1), true, AtStop},
		{"edit", edit(50, "/p/a.go"), balanced, ago(30), true, AtPreEdit},
		{"edit within the interval", edit(5000, "/p/a.go"), balanced, ago(29), false, AtPreEdit},
		{"first edit of the session", edit(50, "/p/a.go"), balanced, fresh, true, AtPreEdit},
		{"small edit", edit(49, "/p/a.go"), balanced, fresh, false, AtPreEdit},
		{"small edit of a critical file", edit(1, "/p/sub/package.json"), balanced, fresh, true, AtPreEdit},
		{"small edit of a critical file by braces", edit(1, "/p/vite.config.ts"), balanced, fresh, true, AtPreEdit},
		{"small edit of a critical file by path", edit(1, "/p/db/a/b.sql"), balanced, fresh, true, AtPreEdit},
		{"small edit of a file outside that path", edit(1, "/p/x/db/a/b.sql"), balanced, fresh, false, AtPreEdit},
		{"critical file within the interval", edit(1, "/p/package.json"), balanced, ago(5), false, AtPreEdit},
		{"small edit after a restore", edit(1, "/p/a.go"), balanced, restored(ago(1)), true, AtPreEdit},
		{"shell after a restore", shellCall(PreTool, "ls"), balanced, restored(ago(1)), true, AtPreShell},
		{"clock set back", edit(50, "/p/a.go"), balanced, ago(-1000), true, AtPreEdit},
		{"short new content, file unknown", write(3), balanced, fresh, true, AtPreEdit},
		{"short new content, new file", write(3), balanced, sized(fresh, 0), false, AtPreEdit},
		{"short new content over a large file", write(3), balanced, sized(fresh, 5000), true, AtPreEdit},
		{"edit of unknown size", Event{Kind: PreTool, Tool: Tool{Name: "x", Class: OtherTool}}, balanced, fresh, true, AtPreEdit},
		{"mcp", Event{Kind: PreTool, Tool: Tool{Name: "mcp__a__b", Class: MCP}}, balanced, fresh, true, AtPreEdit},
		{"mcp within the interval", Event{Kind: PreTool, Tool: Tool{Name: "mcp__a__b", Class: MCP}}, balanced, ago(3), false, AtPreEdit},
		{"read", Event{Kind: PreTool, Tool: Tool{Name: "Read", Class: Read}}, aggressive, fresh, false, ""},
		{"subagent's start", Event{Kind: PreTool, Tool: Tool{Name: "Agent", Class: Subagent}}, aggressive, fresh, false, ""},
		{"shell", shellCall(PreTool, "make"), balanced, ago(31), true, AtPreShell},
		{"shell within the interval", shellCall(PreTool, "make"), balanced, ago(3), false, AtPreShell},
		{"destructive shell within the interval", shellCall(PreTool, "cd x && git checkout ."), balanced, ago(1), true, AtPreShell},
		{"shell cut off within the interval", Event{Kind: PreTool, Tool: Tool{Class: Shell, Command: "ls", Truncated: true}}, balanced, ago(1), true, AtPreShell},
		{"after shell, balanced", shellCall(PostTool, "make"), balanced, ago(100), false, AtPostShell},
		{"after shell, aggressive", shellCall(PostTool, "make"), aggressive, ago(15), true, AtPostShell},
		{"after shell within the interval", shellCall(PostTool, "make"), aggressive, ago(14), false, AtPostShell},
		{"after an edit", Event{Kind: PostTool, Tool: Tool{Class: Edit}}, aggressive, ago(100), false, ""},
		{"every file critical", edit(1, "/p/a.go"), aggressive, ago(15), true, AtPreEdit},
		{"subagent's stop", Event{Kind: SubagentStop}, aggressive, ago(1), true, AtSubagentStop},
		{"subagent's stop, balanced", Event{Kind: SubagentStop}, balanced, ago(1), false, AtSubagentStop},
		{"session end", Event{Kind: SessionEnd}, aggressive, ago(1), true, AtSessionEnd},
		{"notification", Event{Kind: Notification}, aggressive, ago(100), false, ""},
		{"ignored", Event{}, aggressive, ago(100), false, ""},
	} {
		if d := Decide(&c.e, c.p, c.s); d.Checkpoint != c.save || d.Moment != c.moment || d.Reason == "" {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

func TestMatchFile(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"package.json", "a/b/package.json", true}, {"*.config.{js,ts}", "x.config.ts", true}, {"*.config.{js,ts}", "x.config.tsx", false},
		{"*", ".env", true}, {".env.*", "a/.env.local", true}, {"a/*.go", "a/b.go", true}, {"a/*.go", "x/a/b.go", false}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true},
		{"**/c", "c", true}, {"{a,b}{c,d}", "bd", true}, {"{a,{b,c}}x", "cx", true}, {"{a", "{a", true}, {"{}", "{}", true}, {"[", "[", false}, {"Makefile", `C:\p\Makefile`, true}, {"/top", "top", true},
		{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "aaaaaaaaaa", false}, // too many: taken literally
	} {
		if got := MatchFile(c.pattern, c.file); got != c.want {
			t.Errorf("MatchFile(%q, %q) = %v", c.pattern, c.file, got)
		}
	}
}
