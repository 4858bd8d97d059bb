package hookio

import "strings"

// Qwen is Qwen Code, which began as Gemini CLI and speaks Claude Code's payloads.
const Qwen Agent = "qwen"

var qwen = adapter{
	agent: Qwen, title: "Qwen Code",
	transcript: func(file string) bool {
		return strings.Contains(file, "/.qwen/projects/") && strings.Contains(file, "/chats/")
	},
	variable:         "QWEN_CODE_SESSION_ID",
	switches:         []string{"hooks disable"},
	projectVariables: []string{"QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR"},
	members:          []memberName{{"tool_call_id", "tool_use_id"}},
	settle: func(d *payloadDecoder) {
		// The hook for prompts comes again at each continuation after a tool's result.
		if e := &d.event; e.Kind == Prompt && d.hasPrompt && e.Prompt == "" {
			e.Kind = Ignored
		}
	},
	messages: true,
	informs:  []EventKind{Prompt},
}
