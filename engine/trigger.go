package engine

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

// triggerOf is what the environment says of the session that a command runs in:
// a hook exported it into the agent's shell at the session's start.
func triggerOf(env Env) Trigger {
	t := Trigger{
		Agent:      env.getenv("REWIND_AGENT"),
		Session:    env.getenv("REWIND_SESSION_ID"),
		Transcript: env.getenv("REWIND_TRANSCRIPT_PATH"),
	}
	if t.Session == "" {
		return Trigger{}
	}
	return t
}
