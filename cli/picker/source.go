package picker

import (
	"context"
	"fmt"
	"sync"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Source is what the picker and the page know of a project: its rows by their ids, and what is asked about them.
type Source struct {
	C    *app.Call
	P    *project.Project
	busy chan struct{} // one place: who has it works with the project
	look func(ctx context.Context) (*timeline.Present, error)
	keep bool // rows stay known when others are read

	mu      sync.Mutex
	git     timeline.GitMemory
	rows    map[string]*timeline.Row // by id; nil: it was known, and is gone
	present *timeline.Present
}

func NewSource(c *app.Call, p *project.Project) *Source {
	return &Source{C: c, P: p, busy: make(chan struct{}, 1), rows: map[string]*timeline.Row{},
		look: func(ctx context.Context) (*timeline.Present, error) { return timeline.Look(ctx, p) }}
}

// View knows the rows of a pulled log, of which the working tree is none. No question works with both at once.
func (s *Source) View(p *project.Project) *Source {
	return &Source{C: s.C, P: p, busy: s.busy, keep: true, rows: map[string]*timeline.Row{}, look: func(context.Context) (*timeline.Present, error) { return nil, nil }}
}

// Share is for several who look at once: rows stay known when others are read. look looks at the tree.
func (s *Source) Share(look func(ctx context.Context) (*timeline.Present, error)) {
	s.keep, s.look = true, look
}

// Take waits until no other question works with the project.
func (s *Source) Take(ctx context.Context) (release func(), err error) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TryTake is Take without the wait; nil where another question works with the project.
func (s *Source) TryTake() (release func()) {
	select {
	case s.busy <- struct{}{}:
		return func() { <-s.busy }
	default:
		return nil
	}
}

// Present is the tree as it was last looked at; nil for never.
func (s *Source) Present() *timeline.Present {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

// LogAt is the place of the log's end: another word whenever something was recorded.
func (s *Source) LogAt() (string, error) {
	at, err := s.P.LogEnd()
	return fmt.Sprintf("%d-%x", at.Seq, at.Sum), err
}

// Row is a row that was shown, by the picker's id of it.
func (s *Source) Row(id string) (*timeline.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.rows[id]
	if r == nil {
		return nil, &app.StaleError{What: "row", Name: id, Known: known}
	}
	return r, nil
}

// Checkpoint is the checkpoint of a row that was shown.
func (s *Source) Checkpoint(id string) (*project.Listed, error) {
	r, err := s.Row(id)
	if err == nil && r.Checkpoint == nil {
		err = &app.StaleError{What: "checkpoint", Name: id}
	}
	if err != nil {
		return nil, err
	}
	return r.Checkpoint, nil
}

// Pin pins a checkpoint or takes its pin away; nil: the other of what it is.
func (s *Source) Pin(ctx context.Context, id string, pinned *bool) (summary string, err error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return "", err
	}
	on := !l.Pinned
	if pinned != nil {
		on = *pinned
	}
	if err := maintain.Pin(ctx, s.P, l.Checkpoint, on); err != nil {
		return "", err
	}
	if !on {
		return "unpinned " + rows.Clipped(l), nil
	}
	return "pinned " + rows.Clipped(l) + ": gc keeps it", nil
}

// Name names a checkpoint; "" takes its name away.
func (s *Source) Name(ctx context.Context, id, name string) (string, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return "", err
	}
	if err := maintain.Rename(ctx, s.P, l.Checkpoint, name); err != nil {
		return "", err
	}
	if name == "" {
		return "removed the name of " + rows.Clipped(l), nil
	}
	return "named " + rows.Clipped(l) + " " + app.Escape(name), nil
}

// Know makes sure of the checkpoints that a question names: one that was removed since it was shown is gone, and one
// that is no row of the timeline, as a file's versions name some, becomes known.
func (s *Source) Know(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if _, err := manifest.ParseCheckpointID(id); err != nil {
			continue // looking the row up returns the error
		}
		l, err := app.Resolve(ctx, s.P, id)
		s.mu.Lock()
		row, shown := s.rows[id]
		switch {
		case err == nil && row == nil:
			s.rows[id] = &timeline.Row{Checkpoint: &l, Time: l.Time}
		case err == nil && row.Checkpoint != nil && row.Checkpoint.Root != l.Root: // after rewind forget
			now := *row
			now.Checkpoint = &l
			s.rows[id] = &now
		case err != nil && shown && app.Explain(err).Code == app.ExitNotFound:
			s.rows[id] = nil
			err = &app.StaleError{What: "checkpoint", Name: id, Known: true}
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Reread forgets the rows and reads them anew.
func (s *Source) Reread(ctx context.Context) error {
	s.mu.Lock()
	clear(s.rows)
	s.mu.Unlock()
	_, _, err := s.Load(ctx, LoadOptions{Scope: screen.WithSafety, Look: true})
	return err
}

// CallRows puts into calls, by the ids of tool calls, the row before each, and into prompts, by theirs, the row of each; it
// leaves those without a row.
func (s *Source) CallRows(calls, prompts map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, row := range s.rows {
		if row == nil || row.Checkpoint == nil { // gone since
			continue
		}
		if c := row.Checkpoint; c.ToolUseID != "" && c.Kind == manifest.PreTool {
			if _, ok := calls[c.ToolUseID]; ok {
				calls[c.ToolUseID] = id
			}
		} else if _, ok := prompts[c.PromptID]; ok && c.Kind == manifest.Prompt {
			prompts[c.PromptID] = id
		}
	}
}

// BarePrompts are the checkpoints of rows that were taken at prompts of a session to which its agent gave no id.
func (s *Source) BarePrompts(agent, session string) (out []*project.Listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows {
		if row == nil || row.Checkpoint == nil {
			continue
		}
		if c := row.Checkpoint; c.Kind == manifest.Prompt && c.PromptID == "" && c.Agent == agent && c.Session == session && c.Subagent == "" {
			out = append(out, c)
		}
	}
	return out
}
