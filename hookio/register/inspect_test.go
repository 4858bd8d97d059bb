package register

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/hookio"
)

func TestInspect(t *testing.T) {
	registered, err := registerClaude([]byte("{\n  \"model\": \"opus\"\n}\n"), testProgram)
	if err != nil {
		t.Fatal(err)
	}
	with := func(old, new string) []byte { return []byte(strings.Replace(string(registered), old, new, 1)) }
	user := func(b []byte) []SettingsFile { return []SettingsFile{{Path: "/h/.claude/settings.json", Content: b}} }
	for _, c := range []struct {
		name  string
		files []SettingsFile
		want  []string // code, event
	}{
		{"all well", user(registered), nil},
		{"missing", user(nil), []string{"not-registered"}},
		{"no JSON", user([]byte("{")), []string{"not-json", "not-registered"}},
		{"disabled", user(with(`"model": "opus"`, `"disableAllHooks": true`)), []string{"hooks-disabled"}},
		{"not disabled", user(with(`"model": "opus"`, `"disableAllHooks": false`)), nil},
		{"managed only", append(user(registered), SettingsFile{Path: "/etc/m.json", Content: []byte(`{"allowManagedHooksOnly": true}`)}), []string{"managed-hooks-only"}},
		{"unknown event", user(with(`"SessionEnd"`, `"FutureEvent"`)), []string{"unknown-event FutureEvent", "event-missing SessionEnd"}},
		{"a tool missing", user(with("NotebookEdit|Bash", "NotebookEdit")), []string{"event-missing PreToolUse"}},
		{"more tools", user(with("PowerShell", "PowerShell|Read")), nil},
		{"all tools", user(with("Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell", "*")), nil},
		{"older tool", append(user(registered), SettingsFile{Path: "/p/.claude/settings.json", Content: []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"smart-checkpoint.sh stop"}]}]}}`)}), []string{"older-tool Stop"}},
		{"twice, the same", append(user(registered), SettingsFile{Path: "/p/.claude/settings.json", Content: registered}), nil},
		{"twice, different", append(user(registered), SettingsFile{Path: "/p/.claude/settings.json", Content: []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/rewind hook claude"}]}]}}`)}), []string{"registered-twice Stop"}},
		{"plugin too", user(with(`"model": "opus"`, `"enabledPlugins": {"rewind@rewind": true}`)), []string{"registered-twice"}},
		{"plugin off", user(with(`"model": "opus"`, `"enabledPlugins": {"rewind@rewind": false}`)), nil},
		{"plugin alone", user([]byte(`{"enabledPlugins": {"rewind@rewind": true}}`)), nil},
		{"wrong shape", user([]byte(`{"hooks": [1]}`)), []string{"wrong-shape hooks", "not-registered"}},
		{"wrong shape of an event", user(with(`"model": "opus"`, `"x": 1`)), nil},
	} {
		_, findings := claude.Inspect(c.files)
		var got []string
		for _, f := range findings {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", f.Code, f.Event)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	found, _ := claude.Inspect(user(registered))
	if len(found) != len(claude.hooks) || found[0].Command != testLine || found[0].File != "/h/.claude/settings.json" {
		t.Errorf("%v", found)
	}
}

func TestInspectPluginFile(t *testing.T) {
	var hooks string
	for _, f := range Plugin("1.0.0", "/usr/bin/rewind") {
		if f.Path == "hooks/hooks.json" {
			hooks = f.Content
		}
	}
	files := []SettingsFile{{Path: "/x/hooks/hooks.json", Content: []byte(hooks), Plugin: true}}
	if found, findings := claude.Inspect(files); len(found) != len(claude.hooks) || len(findings) != 0 {
		t.Errorf("the plugin alone: %v, %v", found, findings)
	}
	registered, _ := registerClaude(nil, testProgram)
	_, findings := claude.Inspect(append(files, SettingsFile{Path: "/s.json", Content: registered}))
	if len(findings) != 1 || findings[0].Code != RegisteredTwice {
		t.Errorf("both: %v", findings)
	}
}

func TestInspectDroid(t *testing.T) {
	_, settings, err := registerDroid(nil, nil, "/usr/bin/rewind")
	if err != nil {
		t.Fatal(err)
	}
	files := func(hooks string) []SettingsFile {
		return []SettingsFile{{Path: "/h/.factory/hooks.json", Content: []byte(hooks), TopLevel: true}, {Path: "/h/.factory/settings.json", Content: settings}}
	}
	for hooks, want := range map[string][]string{
		"":                             nil,
		`{"Notification":[]}`:          nil,
		`{"Stop":[]}`:                  {"shadowed Stop"},
		`{"hooks":{"Stop":[]}}`:        {"wrapped "},
		`{"CwdChanged":[]}`:            {"unknown-event CwdChanged"},
		`{"$schema":"x","Stop":"say"}`: {"wrong-shape Stop", "shadowed Stop"},
	} {
		_, findings := droid.Inspect(files(hooks))
		var got []string
		for _, f := range findings {
			got = append(got, fmt.Sprintf("%s %s", f.Code, f.Event))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", hooks, got, want)
		}
	}
}

func TestFolderTrusted(t *testing.T) {
	file := []byte(`{"numStartups": 5, "projects": {"/p": {"allowedTools": [], "hasTrustDialogAccepted": true}, "/q": {"hasTrustDialogAccepted": false}, "/r": {}, "/": 3}, "x": {"projects": 1}}`)
	for dir, want := range map[string][2]bool{"/p": {true, true}, "/p/sub": {true, true}, "/pp": {false, false}, "/q": {false, true}, "/r": {false, false}, "/z": {false, false}} {
		trusted, known := hookio.FolderTrusted(file, dir)
		if trusted != want[0] || known != want[1] {
			t.Errorf("%s: %v, %v", dir, trusted, known)
		}
	}
	if trusted, known := hookio.FolderTrusted([]byte(`{"projects": [`), "/p"); trusted || known {
		t.Error("a broken file says something")
	}
}
