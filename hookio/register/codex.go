package register

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/hookio"
)

var codex = Client{
	Agent:    hookio.Codex,
	Programs: []string{"codex"},
	Hint:     "Codex skips hooks that you have not approved: open codex, type /hooks, and approve those of rewind",
	dir:      codexDir,
	files: func(w Where, dir string) []SettingsFile {
		return oursAnd(filepath.Join(dir, "hooks.json"), w.inProject(".codex/hooks.json")...)
	},
	hooks: []registration{
		{"SessionStart", ""},
		{"UserPromptSubmit", ""},
		{"PreToolUse", "Bash|apply_patch"},
		{"PreToolUse", "mcp__.*"},
		{"PostToolUse", "Bash|apply_patch"},
		{"Stop", ""},
		{"SubagentStop", ""},
		{"SessionEnd", ""},
	},
	form: form{timeout: func(event string) string {
		if event == "SessionEnd" {
			return "3" // Codex warns at every start of a session where it is more
		}
		return Seconds
	}},
	others: codexConfigs,
	runs: func(w Where, e FoundEntry) bool {
		text, err := w.read(filepath.Join(codexDir(w), "config.toml"))
		return err == nil && codexApproved(string(text), e)
	},
	check: codexTrust,
}

func codexConfigs(w Where, dir string) []string {
	return append([]string{filepath.Join(dir, "config.toml")}, w.inProject(".codex/config.toml")...)
}

func codexDir(w Where) string { return cmp.Or(w.Getenv("CODEX_HOME"), below(w.Home, ".codex")) }

// codexTrust: Codex runs no hook before the person has approved it in /hooks. It
// notes that in its config.toml, by the hook's file, event and place:
//
//	[hooks.state."/home/you/.codex/hooks.json:pre_tool_use:0:0"]
//
// What it notes there of a hook's text is not looked at: it says by itself when
// a hook changed that was approved. Nothing is ever written there for the person.
func codexTrust(w Where, found []FoundEntry) []Finding {
	file := filepath.Join(codexDir(w), "config.toml")
	text, err := w.read(file)
	if err != nil {
		return []Finding{{Code: AgentsOwn, File: file, Detail: fmt.Sprintf("cannot find out whether Codex CLI runs the hooks: %v", err), Cure: "make the file readable"}}
	}
	for _, config := range codexConfigs(w, codexDir(w)) {
		if content, err := w.read(config); err == nil && hooksFeatureOff(string(content)) {
			return []Finding{{Code: HooksDisabled, File: config, Detail: "features.hooks"}}
		}
	}
	var missing []string
	for _, e := range found {
		if !codexApproved(string(text), e) {
			missing = append(missing, e.Event)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []Finding{{
		Code: AgentsOwn, File: file,
		Detail: fmt.Sprintf("Codex CLI skips hooks that were not approved: %s", strings.Join(missing, ", ")),
		Cure:   "codex, then /hooks, and approve those of rewind",
	}}
}

// codexApproved reports whether the person has approved a hook.
func codexApproved(toml string, e FoundEntry) bool {
	key := fmt.Sprintf("%s:%s:", e.File, snake(e.Event))
	escaped := strings.ReplaceAll(key, `\`, `\\`)
	return strings.Contains(toml, `[hooks.state."`+escaped) || strings.Contains(toml, `[hooks.state.'`+key)
}

// hooksFeatureOff reports "hooks = false" in the table [features].
func hooksFeatureOff(toml string) bool {
	table := ""
	for line := range strings.Lines(toml) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") {
			table = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		switch strings.TrimSpace(key) {
		case "hooks", "codex_hooks":
			if table == "[features]" && strings.TrimSpace(value) == "false" {
				return true
			}
		case "features.hooks":
			if table == "" && strings.TrimSpace(value) == "false" {
				return true
			}
		}
	}
	return false
}

// snake is an event's name as Codex writes it in its config.toml.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
