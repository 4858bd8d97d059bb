package conversation

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

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

// Beside is the session that a person's command runs beside, as ChooseSession finds it, and
// how: nil where there is none. What an agent's hook exported into its shell is taken as it
// is only if it is whole: a part of it would make another session of the same one. Errors:
// *NoSessionError where one is named that is not known, or several can be meant.
func Beside(ctx context.Context, p *project.Project) (Trigger, *ChosenSession, error) {
	t := Trigger{
		Agent:      p.Env.Variable("REWIND_AGENT"),
		Session:    p.Env.Variable("REWIND_SESSION_ID"),
		Transcript: p.Env.Variable("REWIND_TRANSCRIPT_PATH"),
	}
	if p.Env.Asked == "" && t.Agent != "" && t.Session != "" && t.Transcript != "" {
		return t, nil, nil
	}
	if p.Env.Asked == "" && t.Session == "" && t.Transcript == "" && !mayBeAtWork(p) {
		return Trigger{}, nil, nil
	}
	s, err := ChooseSession(ctx, p, p.Env.Asked)
	if err == nil && s.Agent != "" {
		return Trigger{Agent: s.Agent, Session: s.ID, Transcript: s.Path}, s, nil
	}
	var unknown *NoSessionError
	switch {
	case errors.As(err, &unknown) && p.Env.Asked == "" && t.Agent != "" && t.Session != "":
		return t, nil, nil // of an agent that keeps no transcripts, or that no hook reported
	case errors.As(err, &unknown) && unknown.Named == "" && len(unknown.Choices) == 0:
		return Trigger{}, nil, nil
	}
	return Trigger{}, nil, err
}

// mayBeAtWork reports whether a session can be at work in the project: a hook reported one, or an
// agent wrote to its transcript lately. A save where no agent is at work does not look into the log.
func mayBeAtWork(p *project.Project) bool {
	if account.Exists(filepath.Join(p.StoreDir(), account.SessionName)) {
		return true
	}
	since := p.Env.Time().Add(-activeFor)
	for _, agent := range transcript.Agents() {
		found, err := transcript.Find(agent, agentHome(p), p.Root())
		if err != nil || len(found) > 0 && found[0].ModTime.After(since) { // the newest is the first
			return true
		}
	}
	return false
}

// transcriptNamed is the file that a person names by REWIND_TRANSCRIPT_PATH.
func transcriptNamed(p *project.Project, file string) string {
	if !filepath.IsAbs(file) && p.Env.Dir != "" {
		file = filepath.Join(p.Env.Dir, file)
	}
	return filepath.Clean(file)
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
