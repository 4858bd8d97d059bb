package session

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// Chosen is the session that a command works on.
type Chosen struct {
	Info
	How      string // how it was found, for the person
	ByItself bool   // neither a person nor the environment named it
}

// Choose finds the session that a command means. The first of these that there is:
//
//  1. the session that the person named (see Named);
//  2. that of REWIND_SESSION_ID, else that of REWIND_TRANSCRIPT_PATH;
//  3. that of the agent in whose shell the command runs;
//  4. the only session at work (see meant). A session without prompts is never meant, nor one that belongs to a project
//     below this one.
//
// Errors: *UnclearError.
func Choose(ctx context.Context, p *project.Project, named string) (*Chosen, error) {
	if named != "" {
		return byID(ctx, p, named, byPerson)
	}
	file := p.Env.Variable("REWIND_TRANSCRIPT_PATH")
	if id := p.Env.Variable("REWIND_SESSION_ID"); id != "" {
		s, err := byID(ctx, p, id, "REWIND_SESSION_ID")
		if err == nil || file == "" {
			return s, err
		}
	}
	if file != "" {
		return ofFile(ctx, p, file)
	}
	if id := above(p); id != "" {
		if s, err := byID(ctx, p, id, "that of the agent in whose shell this runs"); err == nil {
			return s, nil
		}
	}
	return atWork(ctx, p, "")
}

// ofFile is the session of the transcript that REWIND_TRANSCRIPT_PATH names.
func ofFile(ctx context.Context, p *project.Project, named string) (*Chosen, error) {
	file := filepath.Clean(named)
	if !filepath.IsAbs(file) && p.Env.Dir != "" {
		file = filepath.Join(p.Env.Dir, file)
	}
	r, err := readRoster(ctx, p, time.Time{})
	if err != nil {
		return nil, err
	}
	const how = "REWIND_TRANSCRIPT_PATH"
	for _, s := range r.list {
		if s.Path != "" && sameFile(s.Path, file) {
			return &Chosen{Info: r.complete(s), How: how}, nil
		}
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || filepath.Ext(file) != ".jsonl" {
		return nil, &UnclearError{Named: named, Now: p.Env.Time()}
	}
	agent := cmp.Or(p.Env.Variable("REWIND_AGENT"), string(transcript.AgentOf(file)))
	s := &member{Info: Info{Agent: agent, ID: transcript.SessionOf(transcript.Agent(agent), file), Path: file}}
	return &Chosen{Info: r.complete(s), How: how}, nil
}

// complete returns what is known of a session, after its transcript and those of its ancestors were looked into.
func (r *roster) complete(s *member) Info {
	s.look()
	s.Ancestors = nil
	seen := map[string]bool{s.ID: true}
	for id := s.Parent; id != "" && !seen[id]; {
		seen[id] = true
		s.Ancestors = append(s.Ancestors, id)
		a := r.byID[id]
		if a == nil {
			break
		}
		a.look()
		id = a.Parent
	}
	return s.Info
}

// choices completes the sessions of a list that a person has to choose from, the first ones of many.
func (r *roster) choices(list []*member) (infos []Info) {
	for _, s := range list[:min(len(list), maxDescribed)] {
		infos = append(infos, r.complete(s))
	}
	return infos
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
