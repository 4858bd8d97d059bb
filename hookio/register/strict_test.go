package register

import (
	"strings"
	"testing"
)

// Claude Code reads nothing but JSON of the right types: what it ignores is found, with the line.
func TestClaudeReads(t *testing.T) {
	const hook = `[{"hooks": [{"type": "command", "command": "/b/rewind hook claude", "timeout": 10}]}]`
	for text, want := range map[string]string{
		`{"hooks": {"Stop": ` + hook + `}}`:                                                                                "",
		"{\"permissions\": {\"allow\": [\"Bash\"]}, \"hooks\": {\"Stop\": " + hook + "}}\n":                                "",
		"{\n  // mine\n\"hooks\": {\"Stop\": " + hook + "}}":                                                               "ignored line 2 has a comment",
		"{/* mine */\"hooks\": {\"Stop\": " + hook + "}}":                                                                  "ignored line 1 has a comment",
		"{\"hooks\": {\"Stop\": " + hook + "\n,\n}}":                                                                       "ignored line 2 has a comma",
		"\ufeff{\"hooks\": {\"Stop\": " + hook + "}}":                                                                      "older-ignores line 1 has a byte order mark",
		"{\n\"permissions\": {\"allow\": \"Bash\"}, \"hooks\": {\"Stop\": " + hook + "}}":                                  "ignored line 2 has permissions.allow",
		"{\n\"permissions\": [], \"hooks\": {\"Stop\": " + hook + "}}":                                                     `ignored line 2 has "permissions"`,
		"{\"hooks\":\n{\"Stop\": " + strings.Replace(hook, "10", "0", 1) + "}}":                                            "ignored line 2 has a timeout",
		"{\"hooks\": {\"Stop\": " + hook + ",\n\"SessionEnd\": [{\"hooks\":[{\"command\":\"true\",\"timeout\":\"5\"}]}]}}": "older-ignores line 2 has a timeout",
		"{\"hooks\": {\"Stop\": " + hook + ",\n\"SessionEnd\": [{\"command\":\"true\"}]}}":                                 "older-ignores line 2 has an entry of SessionEnd",
		"{ // the agent does without it\n\"model\": \"opus\"}":                                                             "",
	} {
		_, findings := claude.Inspect([]SettingsFile{{Path: "s.json", Content: []byte(text), Ours: true}})
		var got []string
		for _, f := range findings {
			if f.Code == Ignored || f.Code == OlderIgnores {
				got = append(got, string(f.Code)+" "+f.Detail)
			}
		}
		if len(got) > 1 || !strings.HasPrefix(strings.Join(got, ""), want) || want == "" && got != nil {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if before := claude.Running(whereReads(text)); strings.HasPrefix(want, "ignored") && len(before) > 0 {
			t.Errorf("%q: %d hooks run", text, len(before))
		}
	}
}

// whereReads is an account whose settings file has a content.
func whereReads(text string) Where {
	return Where{Home: "/h", Getenv: func(string) string { return "" }, Read: func(file string) ([]byte, error) {
		if strings.HasSuffix(file, "/.claude/settings.json") {
			return []byte(text), nil
		}
		return nil, nil
	}}
}

// Gemini CLI notes the hooks that a person disables by their lines.
func TestGeminiDisabled(t *testing.T) {
	text, err := gemini.Edit([]SettingsFile{{Ours: true}}, 0, &Program{Path: "/b/rewind"})
	if err != nil {
		t.Fatal(err)
	}
	for disabled, want := range map[string]int{`"other"`: 0, `"other", ` + quoted(gemini.CommandLine("/b/rewind")).literal: 1} {
		content := strings.Replace(string(text), "{", `{"hooksConfig": {"disabled": [`+disabled+`]},`, 1)
		_, findings := gemini.Inspect([]SettingsFile{{Path: "s.json", Content: []byte(content), Ours: true}})
		if len(findings) != want || want > 0 && (findings[0].Code != AgentsOwn || findings[0].File != "s.json") {
			t.Errorf("%s: %v", disabled, findings)
		}
	}
}
