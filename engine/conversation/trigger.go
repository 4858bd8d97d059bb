package conversation

// Trigger is what an agent's hook knows of the moment at which a checkpoint is
// taken. Any field may be empty. Texts come from the agent unchanged.
type Trigger struct {
	Agent      string // as on the hook's command line
	Session    string // session id
	Subagent   string // id of the subagent that made the call
	PromptID   string // the agent's id of the prompt that the session works on
	Prompt     string // what the person typed, at a prompt
	Tool       string
	ToolUseID  string
	Command    string // the first line of the tool's command line, as far as it counts
	Files      string // what else it was called with: absolute files, one a line
	Transcript string // file of the main conversation; it may not exist yet
}
