package cli

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/hookio/register"
)

// agentFiles is one agent of this account and the files in which it reads hooks.
type agentFiles struct {
	*register.Client
	where register.Where
	title string
	files []register.SettingsFile // contents are not read yet
}

// agentsOf lists the agents whose hooks rewind registers, those left out whose
// directories are not known. root may be "".
func agentsOf(env account.Env, root string) []agentFiles {
	var out []agentFiles
	where := register.Where{Home: env.Home, Root: root, Getenv: env.Getenv}
	for _, c := range register.Clients() {
		if files := c.Files(where); files != nil {
			out = append(out, agentFiles{Client: c, where: where, title: c.Agent.Title(), files: files})
		}
	}
	return out
}

// registrable are the names that --agent takes.
func registrable() []string {
	var out []string
	for _, c := range register.Clients() {
		out = append(out, string(c.Agent))
	}
	return out
}

// present reports whether the agent was ever used on this account.
func (a *agentFiles) present() bool { return a.Present(a.where) }

// read gives the files with their contents, nil for those that are missing.
func (a *agentFiles) read() ([]register.SettingsFile, error) {
	var files []register.SettingsFile
	for _, f := range a.files {
		var err error
		if f.Content, err = register.ReadFile(f.Path); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// inspect says what of ours is in the files.
func (a *agentFiles) inspect() (found []register.FoundEntry, findings []register.Finding, err error) {
	all, err := a.read()
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
	if hasCode(findings, register.NotRegistered) && a.Packaged(a.where) != "" {
		findings = slices.DeleteFunc(findings, func(f register.Finding) bool { return f.Code == register.NotRegistered })
	}
	return found, findings, nil
}

// agentState says whether an agent calls rewind.
type agentState string

const (
	agentRegistered agentState = "registered"
	agentIncomplete agentState = "incomplete"     // of the hooks some are missing, or do not run
	agentUnread     agentState = "unreadable"     // its settings cannot be read
	agentUnknowing  agentState = "not-registered" // it is used here, and does not call rewind
	agentNotFound   agentState = "not-found"      // it was never used on this account
)

// state is the agent's state in the project.
func (a *agentFiles) state() agentState {
	found, findings, err := a.inspect()
	switch plugin := len(found) == 0 && !hasCode(findings, register.NotRegistered); {
	case err != nil:
		return agentUnread
	case len(found) == 0 && !a.present():
		return agentNotFound
	case len(found) == 0 && !plugin:
		return agentUnknowing
	}
	for _, f := range append(findings, a.Check(a.where, found)...) {
		if severity, _, _ := describeFinding(a, f); severity == severe {
			return agentIncomplete
		}
	}
	return agentRegistered
}

// calls reports whether the agent has hooks of ours, all of them or not.
func (s agentState) calls() bool { return s == agentRegistered || s == agentIncomplete }
