package hookio

import (
	"path"
	"strings"
)

// Args reads the words after "rewind hook", or all words where the program was
// called as smart-checkpoint: an agent's name and perhaps an event, or one of
// the older action names in the agent's place. named is "" where none was
// given; action is "" unless a word names an event. Unknown words mean Generic.
func Args(args []string) (named Agent, action string) {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if i == 0 {
			if agent, ok := agentNamed(a); ok {
				named = agent
				continue
			}
			if kindOf(a) == Ignored {
				named = Generic
				continue
			}
		}
		if action == "" && kindOf(a) != Ignored {
			action = a
		}
	}
	return named, action
}

func agentNamed(s string) (Agent, bool) {
	switch a := Agent(strings.ToLower(s)); a {
	case Claude, Droid, Pi, Codex, Gemini, Qwen, Copilot, Cursor, Kiro, Generic:
		return a, true
	case "claude-code":
		return Claude, true
	case "factory":
		return Droid, true
	}
	return "", false
}

// Detect says which agent is calling: by the shape of its transcript's path;
// else, because these two read other agents' hook files, by COPILOT_CLI and
// CURSOR_VERSION; else by the name in the registered command; else by the
// environment, which a client started from another one's shell inherits.
func Detect(transcriptPath string, named Agent, getenv func(string) string) Agent {
	if a := byTranscript(transcriptPath); a != "" {
		return a
	}
	switch {
	case getenv("COPILOT_CLI") != "":
		return Copilot
	case getenv("CURSOR_VERSION") != "":
		return Cursor
	case named != "":
		return named
	case getenv("FACTORY_PROJECT_DIR") != "":
		return Droid
	case getenv("QWEN_CODE_SESSION_ID") != "": // before Gemini: Qwen Code sets Gemini's variables too
		return Qwen
	case getenv("GEMINI_SESSION_ID") != "":
		return Gemini
	case getenv("CLAUDECODE") != "":
		return Claude
	case getenv("CODEX_HOME") != "":
		return Codex
	}
	return Generic
}

func byTranscript(file string) Agent {
	p := strings.ReplaceAll(file, `\`, "/")
	has := func(part string) bool { return strings.Contains(p, part) }
	base := path.Base(p)
	switch {
	case p == "":
		return ""
	case has("/.factory/sessions/"):
		return Droid
	case has("/.codex/sessions/") && strings.HasPrefix(base, "rollout-"):
		return Codex
	case has("/.gemini/tmp/") && has("/chats/"):
		return Gemini
	case has("/.qwen/projects/") && has("/chats/"):
		return Qwen
	case has("/.copilot/session-state/"):
		return Copilot
	case has("/.pi/agent/sessions/"):
		return Pi
	case has("/.cursor/"):
		return Cursor
	}
	// …/projects/<encoded directory>/<uuid>.jsonl, wherever CLAUDE_CONFIG_DIR is.
	id, isJSONL := strings.CutSuffix(base, ".jsonl")
	if isJSONL && isUUID(id) && path.Base(path.Dir(path.Dir(p))) == "projects" {
		return Claude
	}
	return ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// Root is the directory that an event is about, before any walking up, and
// what said so: $REWIND_PROJECT_ROOT where it was exported for this session, else the project variable of the detected
// agent, else the workspace or working directory in the payload. "" means that
// nothing said it: then it is the process's own working directory. A session's
// root is fixed at its first event; later ones must not ask again.
func Root(e *Event, getenv func(string) string) (dir, by string) {
	for _, name := range append([]string{"REWIND_PROJECT_ROOT"}, projectVariables(e.Agent)...) {
		if name == "REWIND_PROJECT_ROOT" && getenv("REWIND_SESSION_ID") != e.SessionID {
			continue // exported for another session, into the shell that this agent was started from
		}
		if v := getenv(name); isAbs(v) {
			return v, name
		}
	}
	if isAbs(e.Workspace) {
		return e.Workspace, "workspace_roots"
	}
	if isAbs(e.Cwd) {
		return e.Cwd, "cwd"
	}
	return "", ""
}

// projectVariables are the ones that an agent sets itself: others may be left
// from a client that it was started from.
func projectVariables(a Agent) []string {
	switch a {
	case Claude:
		return []string{"CLAUDE_PROJECT_DIR"}
	case Droid:
		return []string{"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR"}
	case Gemini:
		return []string{"GEMINI_PROJECT_DIR"}
	case Qwen:
		return []string{"QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR"}
	case Copilot:
		return []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"}
	case Cursor:
		return []string{"CURSOR_PROJECT_DIR"}
	}
	return nil
}
