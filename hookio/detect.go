package hookio

import (
	"slices"
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
			if eventNamed(Generic, a).kind == Ignored {
				named = Generic
				continue
			}
		}
		if action == "" && eventNamed(Generic, a).kind != Ignored {
			action = a
		}
	}
	return named, action
}

// Misnamed is the first word of those that Args reads if it names neither an agent nor an event,
// "" otherwise.
func Misnamed(args []string) string {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			continue
		}
		if _, ok := agentNamed(a); i == 0 && !ok && eventNamed(Generic, a).kind == Ignored {
			return a
		}
		break
	}
	return ""
}

func agentNamed(s string) (Agent, bool) {
	s = strings.ToLower(s)
	for _, a := range adapters {
		if string(a.agent) == s || slices.Contains(a.aliases, s) {
			return a.agent, true
		}
	}
	return "", false
}

// detect says which agent is calling. What counts most comes first:
//
//  1. the shape of its transcript's path;
//  2. the variable of an agent that also runs what was registered with others;
//  3. the name in the registered command;
//  4. the other agents' variables, which a client that was started from another
//     one's shell inherits.
//
// Within each, the order is that of the table.
func detect(transcriptPath string, named Agent, getenv func(string) string) Agent {
	if file := strings.ReplaceAll(transcriptPath, `\`, "/"); file != "" {
		for _, a := range adapters {
			if a.transcript != nil && a.transcript(file) {
				return a.agent
			}
		}
	}
	for _, a := range adapters {
		if a.foreign && getenv(a.variable) != "" {
			return a.agent
		}
	}
	if named != "" {
		return named
	}
	for _, a := range adapters {
		if a.variable != "" && getenv(a.variable) != "" {
			return a.agent
		}
	}
	return Generic
}

// What says which directory an event is about, beside an agent's variables and its workspace: see Root.
const (
	ExportedRoot = "REWIND_PROJECT_ROOT"
	WorkingDir   = "cwd"
)

// Root is the directory that an event is about, before any walking up, and
// what said so: $REWIND_PROJECT_ROOT where it was exported for this session,
// else the project variable of the detected agent, else the workspace or working
// directory in the payload. "" means that
// nothing said it: then it is the process's own working directory. Agents set their variables for
// the whole process; the working directory follows a cd.
func Root(e *Event, getenv func(string) string) (dir, by string) {
	// Another session's is left from the shell that this agent was started from.
	if v := getenv(ExportedRoot); isAbs(v) && getenv("REWIND_SESSION_ID") == e.SessionID {
		return v, ExportedRoot
	}
	for _, name := range e.Agent.adapter().projectVariables {
		if v := getenv(name); isAbs(v) {
			return v, name
		}
	}
	if isAbs(e.Workspace) {
		return e.Workspace, "workspace_roots"
	}
	if isAbs(e.Cwd) {
		return e.Cwd, WorkingDir
	}
	return "", ""
}
