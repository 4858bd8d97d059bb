package session

import (
	"os"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// NoteProcess remembers which process of its agent a session runs in. A hook of that session calls it.
func NoteProcess(p *project.Project, agent, session string) {
	if session == "" {
		return
	}
	if process := transcript.AgentAbove(transcript.Agent(agent), os.Getppid()); process != "" {
		p.NoteProcess(project.SessionProcess{Agent: agent, Session: session, Process: process})
	}
}

// above is the session of the agent that this process was started by, for agents whose
// shells do not have the session in a variable. "" if no process above it is an agent.
func above(p *project.Project) string {
	above := map[string]string{}
	for _, s := range slices.Backward(p.Processes()) {
		process, ok := above[s.Agent]
		if !ok {
			process = transcript.AgentAbove(transcript.Agent(s.Agent), os.Getppid())
			above[s.Agent] = process
		}
		if process != "" && process == s.Process {
			return s.Session
		}
	}
	return ""
}
