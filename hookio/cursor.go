package hookio

import "strings"

// Cursor is the editor and its command line.
const Cursor Agent = "cursor"

var cursor = adapter{
	agent: Cursor, title: "Cursor",
	transcript:       func(file string) bool { return strings.Contains(file, "/.cursor/") },
	variable:         "CURSOR_VERSION",
	foreign:          true,
	projectVariables: []string{"CURSOR_PROJECT_DIR"},
	events: []eventName{
		{"beforesubmitprompt", Prompt, NoTool},
		{"beforeshellexecution", PreTool, Shell},
		{"aftershellexecution", PostTool, Shell},
		{"beforemcpexecution", PreTool, MCP},
		{"aftermcpexecution", PostTool, MCP},
		{"afterfileedit", PostTool, Edit},
	},
	members: []memberName{
		{"conversation_id", "session_id"},
		{"generation_id", "prompt_id"},
		{"subagent_id", "agent_id"},
		{"subagent_type", "agent_type"},
	},
	tools: toolNames{
		edit:  []string{"editfile", "searchreplace", "delete", "deletefile"},
		shell: []string{"terminal", "runterminalcmd"},
	},
}
