package session

import (
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// roster is which sessions there are, before any transcript is looked into: a
// choice among thousands opens a few.
type roster struct {
	gathered
	byID map[string]*member
}

// member is one session of a roster.
type member struct {
	Info
	looked bool
	active bool // there was a sign of life lately
	recent bool // a prompt too
	forked bool // a restore made it, wherever it lies

	newest   time.Time // of its checkpoints, by the log
	first    time.Time // its oldest own prompt
	opened   time.Time // as a hook reported it
	reopened time.Time // the last time, as a hook reported it
	made     time.Time // undo or redo went to it
	redone   bool      // that was a redo
	ended    time.Time // as a hook reported it
	bare     bool      // it was opened later than its last message
	source   string
	prompts  []transcript.Said // in its transcript, those of its origin too
	fromFile bool              // only the transcript knows of its prompts
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
	if s.Parent == s.ID {
		s.Parent = ""
	}
}

// inside reports whether the session was started in root or below it.
func (s *member) inside(root string) bool {
	d := transcript.Session{Dir: s.Dir}
	return d.In(root)
}

// readRoster gathers the sessions that the log knows, and those whose transcripts
// lie in the agents' directories. Of the log it reads the checkpoints since a
// moment, or all with the zero time. A clock that was set back does not make the
// log's newest hour an old one.
func readRoster(ctx context.Context, p *project.Project, since time.Time) (*roster, error) {
	r := &roster{gathered: gathered{since: since, wall: since}, byID: map[string]*member{}}
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

// goTo notes the sessions that undo and redo named as the ones to open. A session that was not opened yet counts as the
// one that it was made from, as after a restore.
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
			if s.look(); s.used() {
				break
			}
			id = s.Parent
		}
	}
	return nil
}

// used reports whether the session was opened, or has a message.
func (s *member) used() bool {
	return s.Told || !s.newest.IsZero() || slices.ContainsFunc(s.prompts, func(said transcript.Said) bool { return !said.Copy })
}

// began is when the session was begun or opened last, or undo or redo went
// to it; zero where that is not known.
func (s *member) began() time.Time { return later(s.reopened, s.made) }

// mark is when the session went on last: the person spoke in it, or opened it.
func (s *member) mark() time.Time {
	if s.Said.IsZero() {
		return later(s.opened, s.began())
	}
	return later(s.Said, s.began())
}

// over reports whether the session ended, and has had no message since, nor
// was it opened again.
func (s *member) over() bool {
	return !s.ended.IsZero() && !s.ended.Before(s.Said) && !s.ended.Before(s.reopened)
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
