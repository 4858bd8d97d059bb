package picker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Source answers what the picker asks, from the project, one question at a time.
type Source struct {
	C    *app.Call
	P    *project.Project
	Busy chan struct{} // one place: who has it works with the project

	Mu      sync.Mutex
	Rows    map[string]*timeline.Row // by the ids that screen has
	Keep    bool                     // rows stay known when others are read: several pages look
	Present *timeline.Present
	Plans   map[int]*shownPlan
	planned int
	Done    []doneRestore // what was done, in order
	Watch   *TreeWatch    // notes looks at the tree; nil: it is not watched

	shownHunks map[string]shownHunk // by the ids that screen has
}

func NewSource(c *app.Call, p *project.Project) *Source {
	return &Source{C: c, P: p, Busy: make(chan struct{}, 1), Rows: map[string]*timeline.Row{}, Plans: map[int]*shownPlan{}, shownHunks: map[string]shownHunk{}}
}

// LogAt is the place of the log's end: another word whenever something was recorded.
func (s *Source) LogAt() (string, error) {
	at, err := s.P.Store.Last()
	return fmt.Sprintf("%d-%x", at.Seq, at.Sum), err
}

// answer is the picker's screen.Source.
func (s *Source) answer(ctx context.Context, a screen.Ask) (out screen.Answer) {
	select {
	case s.Busy <- struct{}{}:
		defer func() { <-s.Busy }()
	case <-ctx.Done():
		return screen.Answer{Err: "called off"}
	}
	var err error
	switch a.What {
	case screen.AskRows:
		out.Rows, err = s.Load(ctx, a, firstRows)
	case screen.AskAll:
		out.Rows, err = s.Load(ctx, a, 0)
	case screen.AskLook:
		out.Look, err = s.look(ctx, a)
	case screen.AskPlan:
		out.Plan, err = s.MakePlan(ctx, a)
	case screen.AskDo:
		out.Said, out.Plan, err = s.Do(ctx, a)
	case screen.AskPin:
		out.Said, err = s.Pin(ctx, a.ID)
	case screen.AskName:
		out.Said, err = s.Name(ctx, a.ID, a.Text)
	case screen.AskLog:
		out.Log, err = s.log(ctx)
	case screen.AskSearch:
		out.Found, err = s.find(ctx, a.Text)
	case screen.AskHunks:
		out.Hunks, err = s.hunks(ctx, a)
	case screen.AskNotes:
		out.Notes = s.notes(ctx, a.Paths)
	}
	if err != nil {
		f := app.Explain(err)
		if edited := (*restore.ChangedSinceError)(nil); errors.As(err, &edited) {
			f.Hint = "f shows them as they are now"
		}
		out.Err = app.Escape(f.Message)
		if f.Hint != "" && a.What != screen.AskLook {
			out.Err += " (" + app.Escape(f.Hint) + ")"
		}
	}
	return out
}

// StaleError: what was asked about is not there.
type StaleError struct {
	What, Name string
	Known      bool // it was
}

func (e *StaleError) Error() string {
	if e.Known {
		return "that " + e.What + " is gone"
	}
	return "there is no such " + e.What + ": " + app.Quote(e.Name)
}

func (e *StaleError) Explain(f *app.Failure) { f.Code = app.ExitNotFound }

// Row is a row that was shown, by the picker's id of it.
func (s *Source) Row(id string) (*timeline.Row, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r, known := s.Rows[id]
	if r == nil {
		return nil, &StaleError{What: "row", Name: id, Known: known}
	}
	return r, nil
}

// Checkpoint is the checkpoint of a row that was shown.
func (s *Source) Checkpoint(id string) (*project.Listed, error) {
	r, err := s.Row(id)
	if err == nil && r.Checkpoint == nil {
		err = &StaleError{What: "checkpoint", Name: id}
	}
	if err != nil {
		return nil, err
	}
	return r.Checkpoint, nil
}

func (s *Source) Pin(ctx context.Context, id string) (string, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return "", err
	}
	if err := maintain.Pin(ctx, s.P, l.Checkpoint, !l.Pinned); err != nil {
		return "", err
	}
	if l.Pinned {
		return "unpinned " + PickedName(l), nil
	}
	return "pinned " + PickedName(l) + ": gc keeps it", nil
}

func (s *Source) Name(ctx context.Context, id, name string) (string, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return "", err
	}
	if err := maintain.Rename(ctx, s.P, l.Checkpoint, name); err != nil {
		return "", err
	}
	if name == "" {
		return "removed the name of " + PickedName(l), nil
	}
	return "named " + PickedName(l) + " " + app.Escape(name), nil
}

// report prints what was done, once the terminal is as it was. Error: of the last that was done in part.
func (s *Source) report() (err error) {
	for _, d := range s.Done {
		var rerr error
		if d.reverted != nil {
			rerr = report.ReportReverted(s.C, d.reverted, &report.RevertFlags{}, false, true)
		} else {
			rerr = report.ReportRestored(s.C, d.Done, d.verb)
		}
		if rerr != nil {
			err = rerr
		}
	}
	return err
}

// talk is the conversation up to the end of a row's turn, and the number of the line where that turn begins.
func (s *Source) talk(ctx context.Context, r *timeline.Row) ([]screen.Line, int) {
	l := TalkOf(ctx, s.P, r)
	if l == nil || l.Transcript == nil {
		return nil, 0
	}
	said, err := conversation.Said(ctx, s.P, l.Checkpoint, 80)
	if err != nil {
		return []screen.Line{screen.Text(screen.Dim, app.Escape(app.Explain(err).Message))}, 0
	}
	if r.Kind == timeline.Prompt && r.Checkpoint != nil {
		for i := len(said) - 1; i > 0; i-- {
			if said[i].Person && samePromptText(said[i].Text, r.Checkpoint.Prompt) {
				before := talkLines(said[:i])
				return append(append(before, nil), talkLines(said[i:])...), len(before) + 1
			}
		}
	}
	return talkLines(said), 0
}

// samePromptText compares a prompt of a transcript with that of a checkpoint, which can be cut.
func samePromptText(said, prompt string) bool {
	said, prompt = strings.TrimSpace(said), strings.TrimSpace(prompt)
	return prompt != "" && (said == prompt || len(prompt) > 100 && strings.HasPrefix(said, strings.TrimSuffix(prompt, "…")))
}

const (
	TalkPage  = 60
	nextTalk  = 200      // records after a turn, in which its conversation is looked for
	MostSince = 400      // messages that no checkpoint has
	MaxSaid   = 20 << 10 // bytes of one text
)

// TalkOf is the checkpoint whose conversation a row shows: of what a prompt or a call did, the state after it,
// which has what was said meanwhile.
func TalkOf(ctx context.Context, p *project.Project, r *timeline.Row) *project.Listed {
	l := r.Checkpoint
	if l == nil {
		return r.Target
	}
	if r.Side != timeline.Did || r.To == nil || r.To.ID == (manifest.CheckpointID{}) {
		return l
	}
	if after, err := app.Resolve(ctx, p, r.To.ID.String()); err == nil && after.ID != l.ID && after.Transcript != nil && after.Session == l.Session {
		return &after
	}
	// An end that changed no file has none, or none of its own: what the session has next holds it.
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Before: r.To.Seq + nextTalk, Session: l.Session}) {
			if err != nil || c.Seq <= max(l.Seq, r.To.Seq) {
				return err
			}
			if c.Transcript != nil {
				found := project.Listed{Checkpoint: c}
				l = &found
			}
		}
		return nil
	})
	if err != nil {
		return r.Checkpoint // it is gone; the messages before it are still there
	}
	return l
}
