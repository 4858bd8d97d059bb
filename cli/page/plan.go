package page

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/manifest"
)

// action is what a plan is wanted of.
type action struct {
	Verb      string   `json:"verb"`      // restore, revert, undo, redo
	ID        string   `json:"id"`        // of the row, for restore and revert
	Half      string   `json:"half"`      // of a restore: both, code, talk
	Paths     []string `json:"paths"`     // of a restore or a revert: these alone, with what is below them; empty: all
	Without   []string `json:"without"`   // or all but these, what is below them, and the directories around them
	Call      bool     `json:"call"`      // of a revert: the row's tool call alone, not its turn
	Conflicts string   `json:"conflicts"` // of a revert: keep ("" too), undo, markers
	Session   string   `json:"session"`   // of a revert without a row: whose last turns
	Turns     int      `json:"turns"`     // how many of them, from 1
}

// planView is a plan as the page shows it.
type planView struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"`
	Facts     []string       `json:"facts"`
	Notes     []string       `json:"notes"`
	Files     []planFileView `json:"files"`
	Question  string         `json:"question"` // "" where there is nothing to do
	Changed   string         `json:"changed,omitempty"`
	Conflicts int            `json:"conflicts,omitempty"` // of a revert: places on which others built
	Others    []string       `json:"others"`              // other sessions whose work goes too
	Instead   *action        `json:"instead"`             // what keeps it; null where there is no such way, or none is wanted
	Alone     []aloneView    `json:"alone,omitempty"`     // where it is unclear whose work is meant: what takes one session's back
	Target    string         `json:"target,omitempty"`    // the checkpoint whose files come: what differs from now is what it would change
}

// aloneView takes the work of one session back, and keeps the rest.
type aloneView struct {
	Who    string `json:"who"`
	Action action `json:"action"`
}

type planFileView struct {
	app.PathView
	Action    string `json:"action"`              // delete, replace, mode, create
	Directory bool   `json:"directory,omitempty"` // that is created or deleted: it is not counted
}

func (s *space) Plan(ctx context.Context, body json.RawMessage) (any, error) {
	a, err := planBody(body)
	if err != nil {
		return nil, told(err)
	}
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.known(ctx, a.ID); err != nil {
		return nil, told(err)
	}
	if a.Verb == "revert" {
		v, err := s.revertPlan(ctx, a)
		return v, told(err)
	}
	verb, ok := map[string]screen.Verb{"restore": screen.Restore, "undo": screen.Undo, "redo": screen.Redo}[a.Verb]
	half, known := map[string]screen.Half{"both": screen.Both, "": screen.Both, "code": screen.Code, "talk": screen.Conversation}[a.Half]
	if !ok || !known {
		return nil, told(app.Usagef("there is no such plan: %s %s", a.Verb, a.Half))
	}
	ask := screen.Ask{What: screen.AskPlan, Verb: verb, ID: a.ID, Half: half}
	if len(a.Paths)+len(a.Without) > 0 {
		ask.Half = screen.Code
	}
	if len(a.Without) > 0 {
		whole, err := s.MakePlan(ctx, ask)
		if err != nil {
			return nil, told(err)
		}
		s.Mu.Lock()
		delete(s.Plans, whole.Token) // it is not shown
		s.Mu.Unlock()
		paths := make([]string, len(whole.Files))
		for i, f := range whole.Files {
			paths[i] = f.Raw
		}
		if a.Paths, err = without(paths, a.Without); err != nil {
			return nil, told(err)
		}
		if len(a.Paths) == 0 {
			return nothingLeft("Nothing to restore"), nil
		}
	}
	ask.Paths = strings.Join(a.Paths, "\x00")
	p, err := s.MakePlan(ctx, ask)
	if err != nil {
		return nil, told(err)
	}
	return s.viewPlan(p), nil
}

// without gives the paths of a plan that are neither left out, nor below or around one that is.
func without(paths, left []string) ([]string, error) {
	leaves, err := pathspec.Select(picker.LiteralPaths(strings.Join(left, "\x00")))
	return slices.DeleteFunc(paths, leaves.Below), err
}

// nothingLeft is the plan of nothing: all that there was to do is left out.
func nothingLeft(title string) planView {
	return planView{Title: title, Facts: []string{"All that differs is left out."}, Notes: []string{}, Files: []planFileView{}, Others: []string{}}
}

func (s *space) viewPlan(p *screen.Plan) planView {
	v := planView{ID: strconv.Itoa(p.Token), Facts: []string{}, Notes: []string{}, Files: []planFileView{}, Others: []string{}, Question: p.Question}
	for i, line := range p.Facts {
		text := lineText(line)
		switch {
		case i == 0:
			v.Title = text
		case text != "" && line[0].Style == screen.Yellow:
			v.Others = append(v.Others, text)
		case text != "":
			v.Facts = append(v.Facts, text)
		}
	}
	s.Mu.Lock()
	if made := s.Plans[p.Token]; made != nil {
		if made.Instead != nil {
			v.Instead = &action{Verb: "revert", Session: made.Instead.Session, Turns: made.Instead.Turns}
		}
		for _, o := range made.Alone {
			v.Alone = append(v.Alone, aloneView{strings.TrimSpace(o.Agent + " " + report.ShortSession(o.Session)), action{Verb: "revert", Session: o.Alone.Session, Turns: o.Alone.Turns}})
		}
		if made.Target != (manifest.CheckpointID{}) {
			v.Target = made.Target.String()
		}
	}
	s.Mu.Unlock()
	for _, line := range p.Notes {
		v.Notes = append(v.Notes, lineText(line))
	}
	v.Files = planFiles(p.Files)
	return v
}

// planFiles are the paths of a plan, as the page takes them.
func planFiles(files []screen.File) []planFileView {
	out := []planFileView{}
	for _, f := range files {
		out = append(out, planFileView{app.ViewPath(f.Raw), f.Status, f.Directory})
	}
	return out
}

func lineText(l screen.Line) string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return strings.TrimSpace(b.String())
}

func (s *space) Apply(ctx context.Context, plan string) (done, changed any, err error) {
	release, err := s.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if p, ok := s.reverts[plan]; ok {
		done, changed, err = s.applyRevert(context.WithoutCancel(ctx), p)
		return done, changed, told(err)
	}
	token, err := strconv.Atoi(plan)
	if err != nil {
		n, nerr := strconv.Atoi(strings.TrimPrefix(plan, "revert-"))
		return nil, nil, told(&picker.StaleError{What: "plan", Name: plan, Known: nerr == nil && n > 0 && n <= s.shownReverts})
	}
	back := "undo"
	s.Mu.Lock()
	if p := s.Plans[token]; p != nil && p.Back == "U" {
		back = "redo"
	}
	s.Mu.Unlock()
	// A page that goes away meanwhile does not end what it asked for.
	said, now, err := s.Do(context.WithoutCancel(ctx), screen.Ask{What: screen.AskDo, Plan: token})
	switch {
	case err != nil:
		return nil, nil, told(err)
	case now != nil:
		v := s.viewPlan(now)
		v.Changed = said
		return nil, v, nil
	}
	v := map[string]any{"back": back}
	said = strings.TrimSuffix(said, ", q leaves") + "."
	s.Mu.Lock()
	if n := len(s.Done); n > 0 {
		r := s.Done[n-1].Done
		if text := report.GitFact(r, false); text != "" {
			said += " " + text
		}
		if m := r.Conversation; m != nil && m.Resume != "" && !m.Removed {
			said += " The conversation is a fork; open it with: "
			v["resume"] = s.C.Out.Opens(m)
		}
		if r.Safety != nil {
			v["safety"] = r.Safety.ID.String() // what was there
		}
	}
	s.Mu.Unlock()
	v["said"] = said
	return v, nil, nil
}
