package registration

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/hookio/register"
)

// AgentFiles is one agent of this account and the files in which it reads hooks.
type AgentFiles struct {
	*register.Client
	Where register.Where
	Title string
	Files []register.SettingsFile // contents are not read yet
}

// AgentsOf lists the agents whose hooks rewind registers, those left out whose
// directories are not known. root may be "".
func AgentsOf(env account.Env, root string) []AgentFiles {
	var out []AgentFiles
	where := register.Where{Home: env.Home, Root: root, Getenv: env.Getenv}
	for _, c := range register.Clients() {
		if files := c.Files(where); files != nil {
			out = append(out, AgentFiles{Client: c, Where: where, Title: c.Agent.Title(), Files: files})
		}
	}
	return out
}

// Registrable are the names that --agent takes.
func Registrable() []string {
	var out []string
	for _, c := range register.Clients() {
		out = append(out, string(c.Agent))
	}
	return out
}

// Used reports whether the agent was ever used on this account.
func (a *AgentFiles) Used() bool { return a.Present(a.Where) }

// Read gives the files with their contents, nil for those that are missing.
func (a *AgentFiles) Read() ([]register.SettingsFile, error) {
	var files []register.SettingsFile
	for _, f := range a.Files {
		var err error
		if f.Content, err = register.ReadFile(f.Path); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// Found says what of ours is in the files.
func (a *AgentFiles) Found() (found []register.FoundEntry, findings []register.Finding, err error) {
	all, err := a.Read()
	if err != nil {
		return nil, nil, err
	}
	var files []register.SettingsFile
	for _, f := range all {
		if f.Content != nil {
			files = append(files, f)
		}
	}
	found, findings = a.Inspect(files)
	if hasCode(findings, register.NotRegistered) && a.Packaged(a.Where) != "" {
		findings = slices.DeleteFunc(findings, func(f register.Finding) bool { return f.Code == register.NotRegistered })
	}
	return found, findings, nil
}

// AgentState says whether an agent calls rewind.
type AgentState string

const (
	AgentRegistered AgentState = "registered"
	AgentIncomplete AgentState = "incomplete"     // of the hooks some are missing, or do not run
	AgentUnread     AgentState = "unreadable"     // its settings cannot be read
	AgentUnknowing  AgentState = "not-registered" // it is used here, and does not call rewind
	agentNotFound   AgentState = "not-found"      // it was never used on this account
)

// State is the agent's state in the project.
func (a *AgentFiles) State() AgentState {
	found, findings, err := a.Found()
	switch plugin := len(found) == 0 && !hasCode(findings, register.NotRegistered); {
	case err != nil:
		return AgentUnread
	case len(found) == 0 && !a.Used():
		return agentNotFound
	case len(found) == 0 && !plugin:
		return AgentUnknowing
	}
	for _, f := range append(findings, a.Check(a.Where, found)...) {
		if severity, _, _ := DescribeFinding(a, f); severity == Severe {
			return AgentIncomplete
		}
	}
	return AgentRegistered
}

// Calls reports whether the agent has hooks of ours, all of them or not.
func (s AgentState) Calls() bool { return s == AgentRegistered || s == AgentIncomplete }

// RegisteredAgents are the agents that have a hook of ours.
func RegisteredAgents(env account.Env, root string) []string {
	var out []string
	for _, a := range AgentsOf(env, root) {
		if a.State().Calls() {
			out = append(out, string(a.Agent))
		}
	}
	return out
}

func hasCode(findings []register.Finding, code register.FindingCode) bool {
	for _, f := range findings {
		if f.Code == code {
			return true
		}
	}
	return false
}
