package hookio

import "strings"

// Copilot is GitHub Copilot CLI. Events that are registered in camel case have
// payloads in camel case, with the tool's input as JSON in a string.
const Copilot Agent = "copilot"

var copilot = adapter{
	agent: Copilot, title: "GitHub Copilot CLI",
	transcript:       func(file string) bool { return strings.Contains(file, "/.copilot/session-state/") },
	variable:         "COPILOT_CLI",
	foreign:          true,
	projectVariables: []string{"COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"},
	events: []eventName{
		{"userpromptsubmitted", Prompt, NoTool},
		{"agentstop", Stop, NoTool},
	},
	members: []memberName{
		{"hookEventName", "hook_event_name"},
		{"sessionId", "session_id"},
		{"transcriptPath", "transcript_path"},
		{"initialPrompt", "initial_prompt"},
		{"toolName", "tool_name"},
		{"toolUseId", "tool_use_id"},
		{"toolInput", "tool_input"},
		{"toolArgs", "tool_input"},
		{"toolResult", "tool_result"},
		{"tool_args", "tool_input"},
	},
	tools: toolNames{
		edit: []string{"create", "strreplaceeditor"},
		read: []string{"view"},
	},
	settle: func(d *payloadDecoder) {
		copilotTranscript(d)
		// The hook for prompts also comes where a command in the background has ended.
		if e := &d.event; e.Kind == Prompt && strings.HasPrefix(e.Prompt, "<system_notification>") {
			e.Kind = Ignored
		}
	},
	// By exit code 2 a call would be denied too, but the reason be lost.
	refuse: func(reason string) Response {
		return Response{Stdout: encode(map[string]any{
			"permissionDecision": "deny", "permissionDecisionReason": reason,
			"hookSpecificOutput": map[string]any{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason},
		})}
	},
}

// copilotTranscript derives the path of the transcript, which only some events name: it
// follows from the session.
func copilotTranscript(d *payloadDecoder) {
	e := &d.event
	if e.TranscriptPath != "" || !isUUID(e.SessionID) {
		return
	}
	dir := d.getenv("COPILOT_HOME")
	if home := d.getenv("HOME"); dir == "" && home != "" {
		dir = strings.TrimSuffix(home, "/") + "/.copilot"
	}
	if isAbs(dir) {
		e.TranscriptPath = strings.TrimSuffix(dir, "/") + "/session-state/" + e.SessionID + "/events.jsonl"
	}
}
