package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// pickSource answers what the picker asks, from the project, one question at a time.
type pickSource struct {
	c    *call
	p    *project.Project
	busy chan struct{} // one place: who has it works with the project

	mu      sync.Mutex
	rows    map[string]*timeline.Row // by the ids that screen has
	keep    bool                     // rows stay known when others are read: several pages look
	present *timeline.Present
	plans   map[int]*pickedPlan
	planned int
	done    []doneRestore // what was done, in order
	watch   *treeWatch    // notes looks at the tree; nil: nobody watches it

	shownHunks map[string]shownHunk // by the ids that screen has
}

func newPickSource(c *call, p *project.Project) *pickSource {
	return &pickSource{c: c, p: p, busy: make(chan struct{}, 1), rows: map[string]*timeline.Row{}, plans: map[int]*pickedPlan{}, shownHunks: map[string]shownHunk{}}
}

// logAt is the place of the log's end: another word whenever something was recorded.
func (s *pickSource) logAt() (string, error) {
	at, err := s.p.Store.Last()
	return fmt.Sprintf("%d-%x", at.Seq, at.Sum), err
}

// answer is the picker's screen.Source.
func (s *pickSource) answer(ctx context.Context, a screen.Ask) (out screen.Answer) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return screen.Answer{Err: "called off"}
	}
	var err error
	switch a.What {
	case screen.AskRows:
		out.Rows, err = s.load(ctx, a, firstRows)
	case screen.AskAll:
		out.Rows, err = s.load(ctx, a, 0)
	case screen.AskLook:
		out.Look, err = s.look(ctx, a)
	case screen.AskPlan:
		out.Plan, err = s.plan(ctx, a)
	case screen.AskDo:
		out.Said, out.Plan, err = s.do(ctx, a)
	case screen.AskPin:
		out.Said, err = s.pin(ctx, a.ID)
	case screen.AskName:
		out.Said, err = s.name(ctx, a.ID, a.Text)
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
		f := explain(err)
		if edited := (*restore.ChangedSinceError)(nil); errors.As(err, &edited) {
			f.hint = "f shows them as they are now"
		}
		out.Err = escape(f.message)
		if f.hint != "" && a.What != screen.AskLook {
			out.Err += " (" + escape(f.hint) + ")"
		}
	}
	return out
}

// staleError: what was asked about is not there.
type staleError struct {
	what, name string
	known      bool // it was
}

func (e *staleError) Error() string {
	if e.known {
		return "that " + e.what + " is gone"
	}
	return "there is no such " + e.what + ": " + quote(e.name)
}

// row is a row that was shown, by the picker's id of it.
func (s *pickSource) row(id string) (*timeline.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, known := s.rows[id]
	if r == nil {
		return nil, &staleError{what: "row", name: id, known: known}
	}
	return r, nil
}

// checkpoint is the checkpoint of a row that was shown.
func (s *pickSource) checkpoint(id string) (*project.Listed, error) {
	r, err := s.row(id)
	if err == nil && r.Checkpoint == nil {
		err = &staleError{what: "checkpoint", name: id}
	}
	if err != nil {
		return nil, err
	}
	return r.Checkpoint, nil
}

func (s *pickSource) pin(ctx context.Context, id string) (string, error) {
	l, err := s.checkpoint(id)
	if err != nil {
		return "", err
	}
	if err := maintain.Pin(ctx, s.p, l.Checkpoint, !l.Pinned); err != nil {
		return "", err
	}
	if l.Pinned {
		return "unpinned " + pickedName(l), nil
	}
	return "pinned " + pickedName(l) + ": gc keeps it", nil
}

func (s *pickSource) name(ctx context.Context, id, name string) (string, error) {
	l, err := s.checkpoint(id)
	if err != nil {
		return "", err
	}
	if err := maintain.Rename(ctx, s.p, l.Checkpoint, name); err != nil {
		return "", err
	}
	if name == "" {
		return "removed the name of " + pickedName(l), nil
	}
	return "named " + pickedName(l) + " " + escape(name), nil
}

// report prints what was done, once the terminal is as it was. Error: of the last that was done in part.
func (s *pickSource) report() (err error) {
	for _, d := range s.done {
		var rerr error
		if d.reverted != nil {
			rerr = s.c.reportReverted(d.reverted, &revertFlags{}, false, true)
		} else {
			rerr = reportRestored(s.c, d.done, d.verb)
		}
		if rerr != nil {
			err = rerr
		}
	}
	return err
}

// talk is what was said up to the end of a row's turn, and the line with which that turn begins.
func (s *pickSource) talk(ctx context.Context, r *timeline.Row) ([]screen.Line, int) {
	l := talkOf(ctx, s.p, r)
	if l == nil || l.Transcript == nil {
		return nil, 0
	}
	said, err := conversation.Said(ctx, s.p, l.Checkpoint, 80)
	if err != nil {
		return []screen.Line{screen.Text(screen.Dim, escape(explain(err).message))}, 0
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
