package session

import (
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// roster lists the sessions that there are. No transcript is opened for it, so that a choice among thousands opens a few.
type roster struct {
	list  []*member // readRoster puts the one with the newest sign of life first
	all   map[sessionKey]*member
	byID  map[string]*member
	since time.Time // a checkpoint after this moment of the log is recent
	wall  time.Time // the same moment by the clock, for transcripts and what hooks noted

	checkpoints bool                 // members get the list of their checkpoints
	forks       []string             // transcripts that restores made; they can lie outside the project's directory
	undone      []manifest.Operation // recent undos and redos
}

// sessionKey names a session of any agent.
type sessionKey struct{ agent, id string }

// member is one session of a roster.
type member struct {
	Info
	looked   bool // its transcript was read
	reported bool // by a hook
	active   bool // it has a recent sign of life
	recent   bool // it has a recent prompt
	forked   bool // a restore made it, wherever it lies

	newest   time.Time               // of its checkpoints, by the log
	worked   time.Time               // of those at a tool call or a turn's end
	first    time.Time               // its oldest own prompt
	opened   time.Time               // as a hook reported it
	reopened time.Time               // the last time, as a hook reported it
	made     time.Time               // undo or redo went to it
	redone   bool                    // that was a redo
	ended    time.Time               // as a hook reported it
	prompts  []transcript.PromptLine // in its transcript, those of its origin too
	fromFile bool                    // only the transcript knows of its prompts
}

// look reads both ends of the session's transcript, once.
func (s *member) look() {
	if s.looked {
		return
	}
	s.looked = true
	if s.Path == "" || !transcript.Supported(transcript.Agent(s.Agent)) {
		return
	}
	d, err := transcript.Describe(transcript.Agent(s.Agent), s.Path)
	if err != nil {
		s.OnDisk = false
		return
	}
	s.describe(d)
	s.prompts = d.Prompts
}

// readRoster gathers the sessions that the log knows, and those whose transcripts
// lie in the agents' directories. Of the log it reads the checkpoints since a
// moment, or all with the zero time. If the clock was set back, the moment is counted from the newest checkpoint.
func readRoster(ctx context.Context, p *project.Project, since time.Time) (*roster, error) {
	r := &roster{since: since, wall: since, byID: map[string]*member{}}
	if err := r.gather(ctx, p); err != nil {
		return nil, err
	}
	if err := r.find(p); err != nil {
		return nil, err
	}
	if err := r.goTo(ctx, p); err != nil {
		return nil, err
	}
	for _, o := range p.Openings() {
		if s := r.all[sessionKey{o.Agent, o.Session}]; s != nil {
			s.reopened = o.Time
			s.sign(o.Time, r.wall)
		}
	}
	for _, e := range p.Endings() {
		if s := r.all[sessionKey{e.Agent, e.Session}]; s != nil {
			s.ended = e.Time
		}
	}
	slices.SortStableFunc(r.list, func(a, b *member) int { return b.Seen.Compare(a.Seen) })
	for _, s := range slices.Backward(r.list) {
		r.byID[s.ID] = s // ids are unique but for a hostile agent's
	}
	return r, nil
}

// find adds the transcripts in the agents' directories and those that restores made.
func (r *roster) find(p *project.Project) error {
	for _, agent := range transcript.Agents() {
		found, err := transcript.Find(agent, AgentHome(p), p.Root())
		if err != nil {
			return err
		}
		for _, f := range found {
			s := r.get(string(agent), f.ID)
			s.Path, s.Size, s.OnDisk = f.File, f.Size, true
			if f.Size > 0 {
				s.sign(f.ModTime, r.wall)
			}
		}
	}
	for _, file := range r.forks {
		if f, err := transcript.Lookup(transcript.AgentOf(file), file); err == nil {
			s := r.get(string(f.Agent), f.ID)
			s.Path, s.Size, s.OnDisk, s.forked = f.File, f.Size, true, true
			s.sign(f.ModTime, r.wall)
		}
	}
	return nil
}

// goTo notes the sessions that undo and redo named as the ones to open. If such a session was not opened yet, the one that
// it was made from is noted as well.
func (r *roster) goTo(ctx context.Context, p *project.Project) error {
	if len(r.undone) == 0 {
		return nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	for _, op := range r.undone {
		line, err := p.Moved(op)
		if err != nil || line == nil || line.Next == "" {
			continue // the choice goes by what else is known
		}
		seen := map[string]bool{}
		for id := line.Next; id != "" && !seen[id]; {
			seen[id] = true
			s := r.all[sessionKey{line.Agent, id}]
			if s == nil {
				break
			}
			if op.Time.After(s.made) {
				s.made, s.redone = op.Time, op.Kind == manifest.OpRedoRestore || op.Verb == "redo"
			}
			s.sign(op.Time, r.wall)
			prompt := func(prompt transcript.PromptLine) bool { return !prompt.Copy }
			if s.look(); s.recorded() || slices.ContainsFunc(s.prompts, prompt) {
				break // it was opened, or has a message
			}
			id = s.Parent
		}
	}
	return nil
}

// recorded reports whether the log has the session: a hook reported it, or a checkpoint names it.
func (s *member) recorded() bool { return s.reported || !s.newest.IsZero() }

// began is when the session was opened last, or undo or redo went to it; zero if that is not known.
func (s *member) began() time.Time { return later(s.reopened, s.made) }

// mark is when the person was in the session last: had a message in it, or opened it.
func (s *member) mark() time.Time {
	if s.LastPrompt.IsZero() {
		return later(s.opened, s.began())
	}
	return later(s.LastPrompt, s.began())
}

// over reports whether the session ended, and has had no message since and was not opened again.
func (s *member) over() bool {
	return !s.ended.IsZero() && !s.ended.Before(s.LastPrompt) && !s.ended.Before(s.reopened)
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
