package conversation

import "rewind/engine/project"

// Trigger is what an agent's hook knows of the moment at which a checkpoint is
// taken. Any field may be empty. Texts come from the agent as they are.
type Trigger struct {
	Agent      string // as on the hook's command line
	Session    string // session id
	Subagent   string // id of the subagent that made the call
	PromptID   string // the agent's id of the prompt that the session works on
	Prompt     string // what the person typed, at a prompt
	Tool       string
	ToolUseID  string
	Transcript string // file of the main conversation; it may not exist yet
}

// TriggerOf is what the environment says of the session that a command runs in:
// a hook exported it into the agent's shell at the session's start.
func TriggerOf(env project.Env) Trigger {
	t := Trigger{
		Agent:      env.Variable("REWIND_AGENT"),
		Session:    env.Variable("REWIND_SESSION_ID"),
		Transcript: env.Variable("REWIND_TRANSCRIPT_PATH"),
	}
	if t.Session == "" {
		return Trigger{}
	}
	return t
}
