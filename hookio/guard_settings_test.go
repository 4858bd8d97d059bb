package hookio

import (
	"strings"
	"testing"
)

// TestGuardSettings: what would take our hooks out of an agent's settings.
func TestGuardSettings(t *testing.T) {
	g := testGuarded
	g.Settings = []string{"/home/u/.claude/settings.json", "/srv/p/.claude/settings.json", "/srv/p/.claude/settings.local.json"}
	g.Hooked = func(file string) bool { return file != "/srv/p/.claude/settings.local.json" }
	shell := func(command string) *Refusal {
		return Guard(&Event{Kind: PreTool, Cwd: "/srv/p", Tool: Tool{Name: "Bash", Class: Shell, Command: command}}, g)
	}
	for _, s := range []string{
		"sed -i '/rewind/d' ~/.claude/settings.json", `sed -i 's/"hooks"/"off"/' .claude/settings.json`, "perl -pi -e 's/rewind//' .claude/settings.json",
		"rm .claude/settings.json", "rm -rf .claude", "rm -rf ~/.claude", "mv ~/.claude/settings.json /tmp", "mv .claude old", "echo '{}' > ~/.claude/settings.json", "cp /tmp/x .claude/settings.json",
		"jq 'del(.hooks)' .claude/settings.json > /tmp/x && mv /tmp/x .claude/settings.json", "echo '{}' | tee .claude/settings.json", "truncate -s 0 .claude/settings.json", "cd .claude && rm settings.json",
	} {
		r := shell(s)
		if r == nil {
			t.Errorf("%q is let through", s)
		} else if !strings.Contains(r.Reason, "settings.json") {
			t.Errorf("%q: %s", s, r.Reason)
		}
	}
	for _, s := range []string{
		"cat .claude/settings.json", "sed -i 's/dark/light/' .claude/settings.json", "echo x >> .claude/settings.json", "cp .claude/settings.json /tmp", "jq . .claude/settings.json > out", "rm .claude/settings.local.json",
		"rm -rf .claude/commands", "echo '{}' > .claude/other.json", "chmod 600 .claude/settings.json", "rm settings.json", "grep rewind .claude/settings.json",
	} {
		if r := shell(s); r != nil {
			t.Errorf("%q: %s", s, r.Reason)
		}
	}
	const line = `'/h/rewind' hook claude`
	for _, c := range []struct {
		tool, input string
		refused     bool
	}{
		{"Edit", `"old_string":"` + line + `","new_string":""`, true},
		{"Edit", `"old_string":"{","new_string":"{\"disableAllHooks\": true,"`, true},
		{"Edit", `"old_string":"` + line + `","new_string":"` + line + ` "`, false},
		{"Edit", `"old_string":"dark","new_string":"light"`, false},
		{"Write", `"content":"{}"`, true},
		{"Write", `"content":"{` + line + `}"`, false},
		{"MultiEdit", `"edits":[{"old_string":"a","new_string":"b"},{"old_string":"` + line + `","new_string":""}]`, true},
	} {
		for file, hooked := range map[string]bool{"/home/u/.claude/settings.json": true, "/srv/p/.claude/settings.local.json": false, "/srv/p/a.json": false} {
			e := Decode(strings.NewReader(`{"hook_event_name":"PreToolUse","cwd":"/srv/p","tool_name":"`+c.tool+`","tool_input":{"file_path":"`+file+`",`+c.input+`}}`), Claude, "", noEnv)
			if got := Guard(&e, g) != nil; got != (c.refused && hooked) {
				t.Errorf("%s %s in %s: refused %v", c.tool, c.input, file, got)
			}
		}
	}
}
