package hookio

// Agent names a client whose hooks we serve. Each has its name in its own file.
type Agent string

// adapter is all that the hooks know of one agent: one value for each, in the
// file of its name. What is empty is as most agents have it.
//
// Adapters are read at every hook, so the compiler lays them out and nothing
// runs at start: no maps and no calls in them, and functions that do not read
// the table.
type adapter struct {
	agent   Agent    // its word after "rewind hook"
	aliases []string // further words
	title   string   // as people write it

	// transcript reports whether a path, with slashes, is that of a transcript
	// of this agent; nil where the path has no such shape. Of all signs it counts most.
	transcript func(file string) bool
	// variable is set in this agent's hooks, and in those of no agent further
	// down in the table.
	variable string
	// foreign says that the agent also runs hooks that were registered with
	// others: where variable is set, it counts more than the registered name.
	foreign bool
	// projectVariables hold the project's directory, the first one first. Only
	// those that the agent sets itself: others may be left from a client that it
	// was started from.
	projectVariables []string

	// events, tools and members are this agent's words. All are understood from
	// all; where two agents mean something else by one word, its own counts.
	events  []eventName
	tools   toolNames
	members []memberName
	// settle corrects an event that was read, with what only this agent needs:
	// calls that say nothing become Kind Ignored, what it leaves out is derived.
	settle func(d *payloadDecoder)

	// tellsFailures: of a shell command that ended with another code than 0, the agent says that it failed, with an
	// event or a member of its own. Others give the code itself, or nothing.
	tellsFailures bool

	// envFiles are the variables that name the file whose exports the agent's
	// shell reads, the first one first. envMember says that the payload can name
	// it too.
	envFiles  []string
	envMember bool
	// envLines: the agent does not run that file: it reads the lines, and takes
	// the outer quotes away.
	envLines bool
	// tellsNames: the agent tells its model the names of all variables of its
	// shell. Nothing is exported there, since nothing of ours goes into a
	// request; commands find project and session as at any other terminal.
	tellsNames bool

	// messages: the agent shows systemMessage to the person, and not to its model.
	messages bool
	// informs are the events whose answer's context the agent gives to its model, with the next request
	// and no other. Of those at which a model is asked for sure the first is enough: what is given at a
	// session's start is lost where no prompt follows.
	informs []EventKind
	// inSession: a hook can answer a prompt in place of the model, see InSession.
	inSession bool
	// opens is what a person types into the agent to go to another conversation;
	// version is the agent's own, "" where it is not known. nil, or "": nothing.
	opens func(session, version string) string
	// promptless: the agent has runs without a hook for the prompt; a session's
	// start takes its place.
	promptless bool
	// refuse answers a tool call that is to be blocked; nil: by exit code 2 and
	// the reason on stderr, as nearly all understand it.
	refuse func(reason string) Response
	// switches are commands of the agent's own program that keep hooks from running: what follows its name, in any order.
	switches []string
}

// adapters are all agents. Their order decides where several signs are there:
//
//   - The shape of a transcript's path is asked first, see detect: more
//     peculiar ones come before those that could match another's.
//   - An agent that also sets another one's variable comes before it: Qwen Code
//     sets Gemini CLI's. A variable that people set themselves, as Codex's,
//     comes behind those that only a running agent sets.
var adapters = [...]*adapter{&copilot, &droid, &qwen, &gemini, &pi, &kiro, &opencode, &cursor, &claude, &codex, &generic}

// Agents lists all, Generic last.
func Agents() []Agent {
	out := make([]Agent, len(adapters))
	for i, a := range adapters {
		out[i] = a.agent
	}
	return out
}

// adapter is the agent's own; that of Generic for what is not in the table.
func (a Agent) adapter() *adapter {
	for _, x := range adapters {
		if x.agent == a {
			return x
		}
	}
	return &generic
}

// Title is the agent's name as people write it.
func (a Agent) Title() string { return a.adapter().title }

// InSession reports whether a hook can answer the person's prompt in place of
// the agent's model, in the way of the function of that name.
func (a Agent) InSession() bool { return a.adapter().inSession }

// Promptless reports that a session's start takes the place of its prompt, since the
// agent has no hook for prompts when it runs one and ends.
func (a Agent) Promptless() bool { return a.adapter().promptless }

// Opens is what a person types into the agent to go to one of its conversations,
// "" where that cannot be. version is the agent's, as its transcript says it.
func (a Agent) Opens(session, version string) string {
	if opens := a.adapter().opens; opens != nil {
		return opens(session, version)
	}
	return ""
}
