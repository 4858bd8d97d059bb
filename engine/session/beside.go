package session

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// Beside is the session that a person's command runs beside, as Choose finds it; nil where there is none. Where an
// agent's hook exported all three variables into the shell, they are trusted without reading anything, and How is empty. If
// only two are there, Choose decides, since two can name another session. Errors: *UnclearError where one is named that is not known, or several
// can be meant.
func Beside(ctx context.Context, p *project.Project) (*Chosen, error) {
	exported := &Chosen{Info: Info{
		Agent: p.Env.Variable("REWIND_AGENT"),
		ID:    p.Env.Variable("REWIND_SESSION_ID"),
		Path:  p.Env.Variable("REWIND_TRANSCRIPT_PATH"),
	}}
	if p.Env.Asked == "" && exported.Agent != "" && exported.ID != "" && exported.Path != "" {
		return exported, nil
	}
	if p.Env.Asked == "" && exported.ID == "" && exported.Path == "" && !mayBeAtWork(p) {
		return nil, nil
	}
	s, err := Choose(ctx, p, p.Env.Asked)
	if err == nil && s.Agent != "" {
		return s, nil
	}
	var unknown *UnclearError
	switch {
	case errors.As(err, &unknown) && p.Env.Asked == "" && exported.Agent != "" && exported.ID != "":
		return exported, nil // of an agent that keeps no transcripts, or that no hook reported
	case errors.As(err, &unknown) && unknown.Named == "" && len(unknown.Choices) == 0:
		return nil, nil
	}
	return nil, err
}

// mayBeAtWork reports whether a session can be at work in the project: a hook reported one, or an
// agent wrote to its transcript lately. A save where no agent is at work does not look into the log.
func mayBeAtWork(p *project.Project) bool {
	if account.Exists(filepath.Join(p.StoreDir(), account.SessionName)) {
		return true
	}
	since := p.Env.Time().Add(-activeFor)
	for _, agent := range transcript.Agents() {
		found, err := transcript.Find(agent, AgentHome(p), p.Root())
		if err != nil || len(found) > 0 && found[0].ModTime.After(since) { // the newest is the first
			return true
		}
	}
	return false
}
