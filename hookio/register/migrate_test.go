package register

import (
	"slices"
	"strings"
	"testing"
)

// What an earlier version registered lacks the end of edits: that is found, registering again adds it, and
// taking out gives the file from before.
func TestRegistrationFromBefore(t *testing.T) {
	for name, shells := range map[string]string{
		"claude": "Bash|PowerShell", "droid": "Execute", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "cursor": "",
	} {
		now := testClients()[name]
		before := *now
		before.hooks = slices.Clone(now.hooks)
		for i, h := range before.hooks {
			if strings.HasPrefix(h.event, "PostToolUse") || h.event == "AfterTool" {
				before.hooks[i].matcher = shells
			}
		}
		before.hooks = slices.DeleteFunc(before.hooks, func(h registration) bool { return h.event == "afterFileEdit" })
		program := &Program{Path: testProgram}
		const mine = "{\n\t// mine\n\t\"x\": 1\n}\n"
		files := []SettingsFile{{Path: "/h/settings.json", Content: []byte(mine), Ours: true}}
		edit := func(c *Client, program *Program) {
			t.Helper()
			b, err := c.Edit(files, 0, program)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			files[0].Content = b
		}
		missing := func() (out []string) {
			_, findings := now.Inspect(files)
			for _, f := range findings {
				if f.Code == EventMissing {
					out = append(out, f.Event)
				}
			}
			return out
		}
		edit(now, program)
		fresh := string(files[0].Content)
		edit(now, nil)
		edit(&before, program)
		if got := missing(); len(got) != 1 {
			t.Errorf("%s: missing of what was registered before: %q", name, got)
		}
		edit(now, program)
		if got := missing(); got != nil || string(files[0].Content) != fresh {
			t.Errorf("%s: brought up to date, %q are missing:\n%s\nwant\n%s", name, got, files[0].Content, fresh)
		}
		edit(now, nil)
		if string(files[0].Content) != mine {
			t.Errorf("%s: taken out, it is\n%s", name, files[0].Content)
		}
	}
}
