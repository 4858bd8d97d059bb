package register

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registered puts the hooks of a client into its files in a new home, and gives
// what stands in the first of them.
func registered(t *testing.T, c *Client) (Where, []SettingsFile, string) {
	t.Helper()
	w := Where{Home: t.TempDir(), Getenv: func(string) string { return "" }}
	files := c.Files(w)
	text := ""
	for i := range files {
		if !files[i].Ours {
			continue
		}
		out, err := c.Edit(files, i, &Program{Path: "/usr/bin/rewind", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		files[i].Content = out
		text += string(out)
	}
	return w, files, text
}

// Agents count time-outs in units of their own.
func TestTimeouts(t *testing.T) {
	for c, want := range map[*Client][]string{
		&codex:  {`"timeout": 10`, `"timeout": 3`},
		&qwen:   {`"timeout": 10000`},
		&gemini: {`"timeout": 10000`},
	} {
		_, _, text := registered(t, c)
		for _, w := range want {
			if !strings.Contains(text, w+"\n") && !strings.Contains(text, w+"}") && !strings.Contains(text, w+" ") {
				t.Errorf("%s: no %s in\n%s", c.Agent, w, text)
			}
		}
		if strings.Contains(text, `"timeout": 10000`) != (c != &codex) {
			t.Errorf("%s:\n%s", c.Agent, text)
		}
	}
}

// A timeout that was written in seconds ends each hook at once; registering again mends it.
func TestShortTimeouts(t *testing.T) {
	for _, c := range []*Client{&qwen, &gemini} {
		_, files, _ := registered(t, c)
		if _, findings := c.Inspect(files); len(findings) > 0 {
			t.Errorf("%s: %v", c.Agent, findings)
		}
		want := string(files[0].Content)
		files[0].Content = []byte(strings.ReplaceAll(want, `"timeout": 10000`, `"timeout": 10`))
		_, findings := c.Inspect(files)
		if len(findings) != 1 || findings[0].Code != AgentsOwn || findings[0].Cure == "" {
			t.Errorf("%s: %v", c.Agent, findings)
		}
		again, err := c.Edit(files, 0, &Program{Path: "/usr/bin/rewind", Version: "1"})
		if err != nil || string(again) != want {
			t.Errorf("%s: %v\n%s", c.Agent, err, again)
		}
	}
}

func TestCodexTrust(t *testing.T) {
	w, files, _ := registered(t, &codex)
	if err := os.MkdirAll(codexDir(w), 0o700); err != nil {
		t.Fatal(err)
	}
	found, _ := codex.Inspect(files)
	config := filepath.Join(codexDir(w), "config.toml")
	approved := "model = \"m\"\n"
	for _, e := range []string{"session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "stop", "subagent_stop", "session_end"} {
		approved += "\n[hooks.state.\"" + files[0].Path + ":" + e + ":0:0\"]\ntrusted_hash = \"sha256:00\"\n"
	}
	for text, want := range map[string]string{
		"":              "not approved: SessionStart, UserPromptSubmit,",
		"model = \"m\"": "not approved",
		approved:        "",
		strings.Replace(approved, "pre_tool_use", "x", 1):         "not approved: PreToolUse",
		approved + "[features]\nhooks = false # for now\n":        "features.hooks",
		approved + "[features]\nhooks = true\n[x]\nhooks = false": "",
	} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, f := range codex.Check(w, found) {
			got += f.Detail
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, err := os.Stat(config); err != nil {
		t.Error(err)
	}
}

func TestGeminiSwitch(t *testing.T) {
	_, files, text := registered(t, &gemini)
	files[0].Content = []byte(strings.Replace(text, "{", `{"hooksConfig": {"enabled": false},`, 1))
	if _, findings := gemini.Inspect(files); len(findings) != 1 || findings[0].Code != HooksDisabled {
		t.Errorf("%v", findings)
	}
}
