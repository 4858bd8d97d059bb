package session

import (
	"cmp"
	"context"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// gathered is what the log says of sessions.
type gathered struct {
	list  []*member // a roster has the one with the newest sign of life first
	all   map[sessionKey]*member
	since time.Time // what is later in the log is lately
	wall  time.Time // the same by the clock, which transcripts go by

	checkpoints bool                 // members get the list of theirs
	forks       []string             // transcripts that restores made: they can lie elsewhere than the project's
	undone      []manifest.Operation // of undo and redo, lately
}

// sessionKey names a session of any agent.
type sessionKey struct{ agent, id string }

// get is the member with the name; a new one if there is none.
func (g *gathered) get(agent, id string) *member {
	k := sessionKey{agent, id}
	s := g.all[k]
	if s == nil {
		s = &member{Info: Info{Agent: agent, ID: id}}
		g.all[k] = s
		g.list = append(g.list, s)
	}
	return s
}

// sign notes a sign of life, which is lately if it is after a moment.
func (s *member) sign(t, after time.Time) {
	s.Seen = later(s.Seen, t)
	s.active = s.active || t.After(after)
}

// gather reads the log: its checkpoints since the moment, or all with the zero
// time, the sessions that hooks reported, and the operations.
func (g *gathered) gather(ctx context.Context, p *project.Project) error {
	g.all = map[sessionKey]*member{}
	return p.Query(ctx, func(db *manifest.DB) error {
		if err := g.saved(db, p.Env.Time()); err != nil {
			return err
		}
		for rec, err := range db.Sessions() {
			if err != nil {
				return err
			}
			s := g.get(rec.Agent, rec.ID)
			s.Path, s.Parent, s.Source, s.Told = cmp.Or(rec.TranscriptPath, s.Path), rec.Parent, rec.Source, true
			s.opened, s.source = rec.Time, rec.Source
			s.sign(rec.Time, g.wall)
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Fork != "" {
				g.forks = append(g.forks, op.Fork)
			}
			back := op.Kind == manifest.OpUndo || op.Kind == manifest.OpUndoRestore || op.Kind == manifest.OpRedoRestore
			if back && (op.Fork != "" || op.TranscriptBackup != "") && !g.wall.IsZero() && op.Time.After(g.wall) {
				g.undone = append(g.undone, op)
			}
		}
		return nil
	})
}

// saved goes through the checkpoints, the newest first, as far as they are lately.
func (g *gathered) saved(db *manifest.DB, now time.Time) error {
	for c, err := range db.Checkpoints(manifest.Query{}) {
		if err != nil {
			return err
		}
		if !g.lately(c.Time, now) {
			break
		}
		if c.Session == "" {
			continue
		}
		s := g.get(c.Agent, c.Session)
		if s.newest.IsZero() {
			s.newest = c.Time
		}
		if s.Path == "" && c.Transcript != nil {
			s.Path = c.Transcript.Path
		}
		if g.checkpoints {
			s.Checkpoints = append(s.Checkpoints, project.Listed{Checkpoint: c, N: db.Position(c.Seq)})
		}
		s.sign(c.Time, g.since)
	}
	return nil
}

// lately reports whether a checkpoint is to be read. One from after now, by a
// clock that was set back since, moves the moment in the log forward.
func (g *gathered) lately(t, now time.Time) bool {
	if g.wall.IsZero() {
		return true
	}
	if moved := t.Add(-now.Sub(g.wall)); g.since.Equal(g.wall) && moved.After(g.since) {
		g.since = moved
	}
	return t.After(g.since)
}
