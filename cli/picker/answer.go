package picker

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// picking is one showing of the picker: it answers what the screen asks, one question at a time.
type picking struct {
	*Source
	plans *plan.Plans
	done  []*plan.Done         // in order
	hunks map[string]shownHunk // by the ids that screen has
	read  string               // where the log ended when the rows were read
}

func newPicking(c *app.Call, p *project.Project) *picking {
	return &picking{Source: NewSource(c, p), plans: plan.New(c, p), hunks: map[string]shownHunk{}}
}

// counts are questions whose answers name checkpoints by their numbers.
var counts = map[screen.What]bool{screen.AskPlan: true, screen.AskLog: true, screen.AskAttempts: true, screen.AskSearch: true, screen.AskBlame: true, screen.AskInfo: true}

// answer is the picker's screen.Source.
func (s *picking) answer(ctx context.Context, a screen.Ask) (out screen.Answer) {
	var err error
	if a.What != screen.AskShare { // another process does that
		release, err := s.Take(ctx)
		if err != nil {
			return screen.Answer{Err: "called off"}
		}
		defer release()
	}
	switch a.What {
	case screen.AskShare:
		out.Summary, err = s.share(ctx, a.ID, a.Text)
	case screen.AskRows:
		out.Rows, err = s.load(ctx, a, firstRows)
	case screen.AskAll:
		out.Rows, err = s.load(ctx, a, 0)
	case screen.AskLook:
		out.Look, err = s.lookAt(ctx, a)
	case screen.AskPlan:
		out.Plan, err = s.plan(ctx, a)
	case screen.AskDo:
		out.Summary, out.Plan, err = s.do(ctx, a.Plan)
	case screen.AskPin:
		out.Summary, err = s.Pin(ctx, a.ID, nil)
	case screen.AskName:
		out.Summary, err = s.Name(ctx, a.ID, a.Text)
	case screen.AskLog:
		out.Log, err = s.log(ctx)
	case screen.AskAttempts:
		out.Log, out.Tried, err = s.attempts(ctx, a.ID)
	case screen.AskPage:
		out.Summary, err = s.openPage(ctx, a.ID)
	case screen.AskSearch:
		out.Found, err = s.find(ctx, a.Text)
	case screen.AskFiles:
		out.Found, err = s.files(ctx)
	case screen.AskBlame:
		out.Found, err = s.blame(ctx, a.Text, a.ID)
	case screen.AskInfo:
		out.Log, err = s.info(ctx)
	case screen.AskHunks:
		out.Hunks, err = s.hunksIn(ctx, a)
	case screen.AskNotes:
		out.Notes = s.notes(ctx, a.Paths)
	}
	if counts[a.What] {
		if at, lerr := s.LogAt(); lerr == nil && at != s.read {
			out.Stale = true
		}
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

// report prints what was done and not taken back again, once the terminal is as it was. Error: of the last that was done in part.
func (s *picking) report() (err error) {
	for _, d := range notTakenBack(s.done) {
		if rerr := d.Report(s.C); rerr != nil {
			err = rerr
		}
	}
	return err
}

// notTakenBack leaves out what was taken back, and what took it back.
func notTakenBack(all []*plan.Done) (left []*plan.Done) {
	for _, d := range all {
		if n := len(left); n > 0 && d.TakesBack(left[n-1]) {
			left = left[:n-1]
		} else {
			left = append(left, d)
		}
	}
	return left
}
