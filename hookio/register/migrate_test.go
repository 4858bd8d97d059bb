package register

import (
	"slices"
	"strings"
	"testing"
)

// earlier is a client as it was registered before edits had an end.
func earlier(now *Client, shells string) Client {
	before := *now
	before.hooks = slices.Clone(now.hooks)
	for i, h := range before.hooks {
		if strings.HasPrefix(h.event, "PostToolUse") || h.event == "AfterTool" {
			before.hooks[i].matcher = shells
		}
	}
	before.hooks = slices.DeleteFunc(before.hooks, func(h registration) bool { return h.event == "afterFileEdit" })
	return before
}

// What an earlier version registered lacks the end of edits: that is found, registering again adds it, and
// taking out gives the file from before.
func TestRegistrationFromBefore(t *testing.T) {
	for name, shells := range map[string]string{
		"claude": "Bash|PowerShell", "droid": "Execute", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "cursor": "",
	} {
		now := testClients()[name]
		before := earlier(now, shells)
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

// What an earlier version registered is completed to what this one registers, where it stands as it was written and
// runs the same program; all else stays as it is.
func TestComplete(t *testing.T) {
	program := Program{Path: testProgram}
	for name, shells := range map[string]string{"claude": "Bash|PowerShell", "droid": "Execute", "gemini": "run_shell_command", "qwen": "run_shell_command", "cursor": ""} {
		now := testClients()[name]
		if real := ClientOf(now.Agent); real != nil {
			now.grown = real.grown
		}
		before := earlier(now, shells)
		const mine = "{\n\t// mine\n\t\"x\": 1\n}\n"
		edit := func(c *Client, content string, program *Program) string {
			t.Helper()
			b, err := c.Edit([]SettingsFile{{Path: "/h/settings.json", Content: []byte(content), Ours: true}}, 0, program)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return string(b)
		}
		complete := func(content string, ours bool, from int) string {
			t.Helper()
			c, err := now.Complete([]SettingsFile{{Path: "/h/settings.json", Content: []byte(content), Ours: ours}}, 0, program, from)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if c == nil {
				return content
			}
			if len(c.Added) != 1 {
				t.Errorf("%s: added %q", name, c.Added)
			}
			return string(c.Content)
		}
		old, fresh := edit(&before, mine, &program), edit(now, mine, &program)
		got := complete(old, true, 0)
		if name != "cursor" && got != fresh {
			t.Errorf("%s: completed, it is\n%s\nwant\n%s", name, got, fresh)
		}
		_, findings := now.Inspect([]SettingsFile{{Path: "/h/settings.json", Content: []byte(got), Ours: true}})
		for _, f := range findings {
			if f.Code == EventMissing || f.Code == RegisteredTwice {
				t.Errorf("%s: completed, it has %v", name, f)
			}
		}
		if out := edit(now, got, nil); out != mine {
			t.Errorf("%s: taken out, it is\n%s", name, out)
		}
		for what, as := range map[string]string{
			"complete": fresh, "of another program": edit(&before, mine, &Program{Path: "/other/rewind"}), "without hooks": mine, "empty": "",
			"with a line of another program": strings.Replace(old, testProgram, "/other/rewind", 1),
		} {
			if got := complete(as, true, 0); got != as {
				t.Errorf("%s: one %s was changed to\n%s", name, what, got)
			}
		}
		if got := complete(old, true, Generation); got != old {
			t.Errorf("%s: it was changed once more", name)
		}
		if got := complete(old, false, 0); got != old {
			t.Errorf("%s: a file where nothing is registered was changed", name)
		}
		if shells == "" {
			continue
		}
		// The person has taken the event out, or wants other tools; what is beside it stays.
		trimmed := strings.ReplaceAll(old, `"matcher": "`+shells+`"`, `"matcher": "Mine"`)
		if trimmed == old || complete(trimmed, true, 0) != trimmed {
			t.Errorf("%s: what a person wrote was changed", name)
		}
		loud := strings.ReplaceAll(old, `"type": "command"`, `"type": "command", "async": false /* mine */`)
		if got := complete(loud, true, 0); loud != old && (strings.Count(got, "/* mine */") != strings.Count(loud, "/* mine */") || got == loud) {
			t.Errorf("%s: what stands beside a matcher was changed:\n%s", name, got)
		}
	}
	if _, err := ClientOf("claude").Complete([]SettingsFile{{Content: []byte("{"), Ours: true}}, 0, program, 0); err == nil {
		t.Error("a file that is no JSON was understood")
	}
}
