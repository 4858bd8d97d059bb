package session

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// activeFor is how long after its last sign of life a session counts as active.
const activeFor = time.Hour

// maxDescribed bounds how many transcripts that no hook reported are read
// for a choice, the newest first: with more sessions at work than that, the person has to name one.
const maxDescribed = 64

// Chosen is the session that a command works on.
type Chosen struct {
	Info
	How      string // how it was found, for the person
	ByItself bool   // neither a person nor the environment named it
}

// Choose finds the session that a command means: the one that is named
// (see Named), else that
// of REWIND_SESSION_ID, else that of REWIND_TRANSCRIPT_PATH, else that of the
// agent whose shell the command runs in, else the only one at work. A session without prompts is never meant, nor one
// that belongs to a project below this one; of a session and its forks
// the one that went on last is; one that ended makes way for the next. Errors:
// *UnclearError.
func Choose(ctx context.Context, p *project.Project, named string) (*Chosen, error) {
	if named != "" {
		return namedSession(ctx, p, named, byPerson)
	}
	file := p.Env.Variable("REWIND_TRANSCRIPT_PATH")
	if id := p.Env.Variable("REWIND_SESSION_ID"); id != "" {
		s, err := namedSession(ctx, p, id, "REWIND_SESSION_ID")
		if err == nil || file == "" {
			return s, err
		}
	}
	if file != "" {
		return sessionOfFile(ctx, p, file)
	}
	if id := sessionAbove(p); id != "" {
		if s, err := namedSession(ctx, p, id, "that of the agent in whose shell this runs"); err == nil {
			return s, nil
		}
	}
	return sessionAtWork(ctx, p, "")
}

// sessionOfFile is the session of a transcript.
func sessionOfFile(ctx context.Context, p *project.Project, named string) (*Chosen, error) {
	file := transcriptNamed(p, named)
	r, err := readRoster(ctx, p, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, s := range r.list {
		if s.Path != "" && sameFile(s.Path, file) {
			return chosen(p, r, s, "REWIND_TRANSCRIPT_PATH"), nil
		}
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || filepath.Ext(file) != ".jsonl" {
		return nil, &UnclearError{Named: named, Now: p.Env.Time()}
	}
	s := &member{Info: Info{Agent: p.Env.Variable("REWIND_AGENT"), Path: file}}
	if s.Agent == "" {
		s.Agent = string(transcript.AgentOf(file))
	}
	s.ID = transcript.SessionOf(transcript.Agent(s.Agent), file)
	return chosen(p, r, s, "REWIND_TRANSCRIPT_PATH"), nil
}

// namedSession finds a session by its id or the beginning of it.
func namedSession(ctx context.Context, p *project.Project, named, how string) (*Chosen, error) {
	// A whole id is mostly one that a hook reported: the checkpoints need not be read.
	r, err := readRoster(ctx, p, p.Env.Time())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(r.list, func(s *member) bool { return s.ID == named && s.Agent != "" }) {
		if r, err = readRoster(ctx, p, time.Time{}); err != nil {
			return nil, err
		}
	}
	var matches []*member
	for _, s := range r.list {
		if s.ID == named && s.Agent != "" { // without one it is the trace of an incomplete environment
			return chosen(p, r, s, how), nil
		}
		if len(named) >= leastOfID && strings.HasPrefix(s.ID, named) && s.Agent != "" {
			matches = append(matches, s)
		}
	}
	if len(matches) == 0 && how == byPerson {
		if s, err := sessionOfAgent(ctx, p, r, named); s != nil || err != nil {
			return s, err
		}
		if matches, err = titled(ctx, p, r, named); err != nil {
			return nil, err
		}
	}
	if len(matches) == 1 {
		return chosen(p, r, matches[0], how), nil
	}
	none := &UnclearError{Named: named, Now: p.Env.Time()}
	none.Short = len(named) < leastOfID && slices.ContainsFunc(r.list, func(s *member) bool { return s.Agent != "" && strings.HasPrefix(s.ID, named) })
	for _, s := range matches[:min(len(matches), maxDescribed)] {
		none.Choices = append(none.Choices, chosen(p, r, s, "").Info)
	}
	return nil, none
}

// chosen completes what is known of a session: its transcript is looked into,
// and those of its ancestors.
func chosen(p *project.Project, r *roster, s *member, how string) *Chosen {
	s.look()
	parents := map[string]string{s.ID: s.Parent}
	for id := s.Parent; id != ""; {
		next := ""
		if a := r.byID[id]; a != nil {
			a.look()
			next = a.Parent
		}
		if _, again := parents[id]; again {
			break
		}
		parents[id] = next
		id = next
	}
	s.Ancestors = transcript.Ancestors(parents, s.ID)
	return &Chosen{Info: s.Info, How: how}
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
