package conversation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"rewind/engine/project"
	"rewind/engine/transcript"
	"rewind/manifest"
)

// roster is which sessions there are, before any transcript is looked into: a
// choice among thousands opens a few.
type roster struct {
	list  []*member // the one with the newest sign of life first
	byID  map[string]*member
	since time.Time // what is later in the log is lately
	wall  time.Time // the same by the clock, which transcripts go by
}

// member is one session of a roster.
type member struct {
	SessionInfo
	looked bool
	active bool // there was a sign of life lately
	recent bool // a prompt too
	forked bool // a restore made it, wherever it lies

	newest   time.Time // of its checkpoints, by the log
	first    time.Time // its oldest own prompt
	opened   time.Time // a hook told of it
	reopened time.Time // a hook told that it was opened, the last time
	made     time.Time // undo-restore went back to it
	ended    time.Time // a hook told of its end
	bare     bool      // it was opened after all that was said in it
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
	r := &roster{byID: map[string]*member{}, since: since, wall: since}
	type key = sessionKey
	all := map[key]*member{}
	get := func(agent, id string) *member {
		k := key{agent, id}
		s := all[k]
		if s == nil {
			s = &member{SessionInfo: SessionInfo{Agent: agent, ID: id}}
			all[k] = s
			r.list = append(r.list, s)
		}
		return s
	}
	seen := func(s *member, t time.Time, after time.Time) {
		if t.After(s.Seen) {
			s.Seen = t
		}
		s.active = s.active || t.After(after)
	}
	var forks []string
	var undone []manifest.Operation
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if span := p.Env.Time().Sub(since); !since.IsZero() && r.since.Equal(since) && c.Time.Add(-span).After(r.since) {
				r.since = c.Time.Add(-span)
			}
			if !since.IsZero() && !c.Time.After(r.since) {
				break
			}
			if c.Session == "" {
				continue
			}
			s := get(c.Agent, c.Session)
			if s.newest.IsZero() {
				s.newest = c.Time
			}
			if s.Path == "" && c.Transcript != nil {
				s.Path = c.Transcript.Path
			}
			seen(s, c.Time, r.since)
		}
		for rec, err := range db.Sessions() {
			if err != nil {
				return err
			}
			s := get(rec.Agent, rec.ID)
			s.Path, s.Parent, s.Source, s.Told = cmp.Or(rec.TranscriptPath, s.Path), rec.Parent, rec.Source, true
			s.opened, s.source = rec.Time, rec.Source
			seen(s, rec.Time, r.wall)
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Fork != "" {
				forks = append(forks, op.Fork)
			}
			if op.Kind == manifest.OpUndoRestore && !since.IsZero() && op.Time.After(r.wall) {
				undone = append(undone, op)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, agent := range transcript.Agents() {
		found, err := transcript.Find(agent, agentHome(p), p.Root())
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			s := get(string(agent), f.ID)
			s.Path, s.Size, s.OnDisk = f.File, f.Size, true
			if f.Size > 0 {
				seen(s, f.ModTime, r.wall)
			}
		}
	}
	for _, file := range forks { // of ours, which can lie elsewhere
		if f, err := transcript.Lookup(transcript.AgentOf(file), file); err == nil {
			s := get(string(f.Agent), f.ID)
			s.Path, s.Size, s.OnDisk, s.forked = f.File, f.Size, true, true
			seen(s, f.ModTime, r.wall)
		}
	}
	wentBackTo, err := wentBackTo(ctx, p, undone)
	if err != nil {
		return nil, err
	}
	for id, t := range wentBackTo {
		if s := all[id]; s != nil {
			s.made = t
			seen(s, t, r.wall)
		}
	}
	for _, o := range p.Openings() {
		if s := all[key{o.Agent, o.Session}]; s != nil {
			s.reopened = o.Time
			seen(s, o.Time, r.wall)
		}
	}
	for _, e := range p.Endings() {
		if s := all[key{e.Agent, e.Session}]; s != nil {
			s.ended = e.Time
		}
	}
	slices.SortStableFunc(r.list, func(a, b *member) int { return b.Seen.Compare(a.Seen) })
	for _, s := range slices.Backward(r.list) {
		r.byID[s.ID] = s // ids are unique but for a hostile agent's
	}
	return r, nil
}

// sessionKey names a session of any agent.
type sessionKey struct{ agent, id string }

// wentBackTo are the sessions that undo-restore said to open, and when.
func wentBackTo(ctx context.Context, p *project.Project, undone []manifest.Operation) (map[sessionKey]time.Time, error) {
	if len(undone) == 0 {
		return nil, nil
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	to := map[sessionKey]time.Time{}
	for _, op := range undone {
		if op.Paths.IsZero() {
			continue
		}
		list, err := p.ReadObject(op.Paths)
		if err != nil {
			continue // the choice goes by what else is known
		}
		line, err := ParseMoved(list)
		if err != nil || line == nil || line.Next == "" {
			continue
		}
		k := sessionKey{line.Agent, line.Next}
		to[k] = later(to[k], op.Time)
	}
	return to, nil
}

// began is when the session was begun or opened last, or undo-restore went back
// to it; zero where that is not known.
func (s *member) began() time.Time { return later(s.reopened, s.made) }

// mark is when the session went on last: the person spoke in it, or opened it.
func (s *member) mark() time.Time {
	if s.Said.IsZero() {
		return later(s.opened, s.began())
	}
	return later(s.Said, s.began())
}

// over reports whether the session ended, and nothing was said in it since, nor
// was it opened.
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
