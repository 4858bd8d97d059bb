package session

import (
	"cmp"
	"context"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// get is the member with the name; a new one if there is none.
func (r *roster) get(agent, id string) *member {
	k := sessionKey{agent, id}
	s := r.all[k]
	if s == nil {
		s = &member{Info: Info{Agent: agent, ID: id}}
		r.all[k] = s
		r.list = append(r.list, s)
	}
	return s
}

// sign notes a sign of life, which makes the session active if it is after a moment.
func (s *member) sign(t, after time.Time) {
	s.Seen = later(s.Seen, t)
	s.active = s.active || t.After(after)
}

// gather reads the log: its checkpoints since the moment, or all with the zero
// time, the sessions that hooks reported, and the operations.
func (r *roster) gather(ctx context.Context, p *project.Project) error {
	r.all = map[sessionKey]*member{}
	return p.Query(ctx, func(db *manifest.DB) error {
		if err := r.saved(db, p.Env.Time()); err != nil {
			return err
		}
		for rec, err := range db.Sessions() {
			if err != nil {
				return err
			}
			s := r.get(rec.Agent, rec.ID)
			s.Path, s.Source, s.opened, s.reported = cmp.Or(rec.TranscriptPath, s.Path), rec.Source, rec.Time, true
			if rec.Parent != s.ID {
				s.Parent = rec.Parent
			}
			s.sign(rec.Time, r.wall)
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Fork != "" {
				r.forks = append(r.forks, op.Fork)
			}
			back := op.Kind == manifest.OpUndo || op.Kind == manifest.OpUndoRestore || op.Kind == manifest.OpRedoRestore
			if back && (op.Fork != "" || op.TranscriptBackup != "") && !r.wall.IsZero() && op.Time.After(r.wall) {
				r.undone = append(r.undone, op)
			}
		}
		return nil
	})
}

// saved goes through the checkpoints, the newest first, as far as they are recent.
func (r *roster) saved(db *manifest.DB, now time.Time) error {
	for c, err := range db.Checkpoints(manifest.Query{}) {
		if err != nil {
			return err
		}
		if !r.lately(c.Time, now) {
			break
		}
		if c.Session == "" {
			continue
		}
		s := r.get(c.Agent, c.Session)
		if s.newest.IsZero() {
			s.newest = c.Time
		}
		if k := c.Kind; s.worked.IsZero() && (k == manifest.PreTool || k == manifest.PostTool || k == manifest.Stop) {
			s.worked = c.Time
		}
		if s.Path == "" && c.Transcript != nil {
			s.Path = c.Transcript.Path
		}
		if r.checkpoints {
			s.Checkpoints = append(s.Checkpoints, project.Listed{Checkpoint: c, N: db.Position(c.Seq)})
		}
		s.sign(c.Time, r.since)
	}
	return nil
}

// lately reports whether a checkpoint is recent. If the newest one lies in the future, because the clock was set back,
// the moment from which checkpoints are recent moves forward with it.
func (r *roster) lately(t, now time.Time) bool {
	if r.wall.IsZero() {
		return true
	}
	if moved := t.Add(-now.Sub(r.wall)); r.since.Equal(r.wall) && moved.After(r.since) {
		r.since = moved
	}
	return t.After(r.since)
}
