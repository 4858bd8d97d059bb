package page

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// action is what a plan is wanted of.
type action struct {
	Verb      string     `json:"verb"`            // restore, revert, undo, redo
	ID        string     `json:"id"`              // of the row, for restore and revert
	Half      string     `json:"half"`            // of a restore: both, code, talk
	Git       bool       `json:"git"`             // of a restore of all files: what git has lost since returns, too
	Paths     []string   `json:"paths"`           // of a restore or a revert: these alone, with what is below them; empty: all
	Without   []string   `json:"without"`         // or all but these, what is below them, and the directories around them
	Hunks     *someHunks `json:"hunks,omitempty"` // of a restore: these parts of one file alone
	Call      bool       `json:"call"`            // of a revert: the row's tool call alone, not its turn
	Conflicts string     `json:"conflicts"`       // of a revert: keep ("" too), undo, markers
	Session   string     `json:"session"`         // of a revert without a row: whose last turns
	Turns     int        `json:"turns"`           // how many of them, from 1
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
	Undoes    []string       `json:"undoes,omitempty"`    // prompts of the session itself that go
	Talk      string         `json:"talk,omitempty"`      // what becomes of the conversation, in a word or two
	Session   string         `json:"session,omitempty"`   // whose conversation that is
	Others    []otherView    `json:"others"`              // whose other work goes too
	Instead   *action        `json:"instead"`             // what keeps it; null where there is no such way, or none is wanted
	Alone     []aloneView    `json:"alone,omitempty"`     // where it is unclear whose work is meant: what takes one session's back
	Git       bool           `json:"git,omitempty"`       // what git has lost since can return, too
	Target    string         `json:"target,omitempty"`    // the checkpoint whose files come: what differs from now is what it would change
}

// otherView is what goes of another session, of the person's own or of a project below.
type otherView struct {
	Text    string   `json:"text"`
	Session string   `json:"session,omitempty"`
	Turns   []string `json:"turns,omitempty"` // each with its files
}

// aloneView takes the work of one session back, and keeps the rest.
type aloneView struct {
	Who    string `json:"who"`
	Action action `json:"action"`
}

type planFileView struct {
	app.PathView
	Action    string        `json:"action"`              // delete, replace, mode, create
	Directory bool          `json:"directory,omitempty"` // that is created or deleted: it is not counted
	Lines     *fileDiffView `json:"lines,omitempty"`     // of a revert: what it would change in the file
}

func (s *space) Plan(ctx context.Context, body json.RawMessage) (any, error) {
	a, err := planBody(body)
	if err != nil {
		return nil, explained(err)
	}
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.Know(ctx, a.ID); err != nil {
		return nil, explained(err)
	}
	v, err := s.planOf(ctx, a)
	return v, explained(err)
}

// planOf makes the plan of an action. Of all but some paths, it is made of all of them first, and then of those that are left.
func (s *space) planOf(ctx context.Context, a action) (planView, error) {
	plans, title := s.restoring, "Nothing to restore"
	if a.Verb == "revert" {
		plans, title = s.reverting, "Nothing to revert"
	}
	p, err := plans(ctx, a)
	if err != nil {
		return planView{}, err
	}
	if len(a.Without) > 0 {
		leaves, err := pathspec.Select(pathspec.Literal(a.Without))
		if err != nil {
			return planView{}, err
		}
		for _, f := range p.Files {
			if !leaves.Below(f.Path) { // it is neither left out, nor below or around what is
				a.Paths = append(a.Paths, f.Path)
			}
		}
		if len(a.Paths) == 0 {
			p = &plan.Plan{Title: title, Facts: []plan.Fact{{Text: "All that differs is left out."}}}
		} else if p, err = plans(ctx, a); err != nil {
			return planView{}, err
		}
	}
	v := viewPlan(p)
	if a.Verb != "revert" || a.Session != "" || p.Question != "" {
		return v, nil
	}
	r, err := s.Row(a.ID)
	if err != nil {
		return v, err
	}
	facts, err := s.OthersInRow(ctx, r)
	v.Facts = append(v.Facts, facts...)
	return v, err
}

// restoring plans a restore, an undo or a redo.
func (s *space) restoring(ctx context.Context, a action) (*plan.Plan, error) {
	half, ok := map[string]conversation.Half{"both": conversation.Both, "": conversation.Both, "code": conversation.CodeOnly, "talk": conversation.ConversationOnly}[a.Half]
	if len(a.Paths)+len(a.Without) > 0 {
		half = conversation.CodeOnly
	}
	switch {
	case ok && a.Verb == "undo":
		return s.plans.Undo(ctx)
	case ok && a.Verb == "redo":
		return s.plans.Redo(ctx)
	case !ok || a.Verb != "restore":
		return nil, app.Usagef("there is no such plan: %s %s", a.Verb, a.Half)
	}
	l, err := s.Checkpoint(a.ID)
	if err != nil {
		return nil, err
	}
	if a.Hunks != nil {
		parts, err := s.partsOf(ctx, l.Checkpoint, a.Hunks)
		if err != nil {
			return nil, err
		}
		return s.plans.Restore(ctx, l, conversation.CodeOnly, nil, parts, false)
	}
	return s.plans.Restore(ctx, l, half, a.Paths, nil, a.Git)
}

// reverting plans to take back the turn of a row, or its one call, or the last turns of a session, and to keep the rest.
func (s *space) reverting(ctx context.Context, a action) (*plan.Plan, error) {
	o := revert.Options{Lines: picker.MostPatched, Conflicts: cmp.Or(work.ConflictChoice(a.Conflicts), work.KeepBlock), Paths: pathspec.Literal(a.Paths)} // the page says what stays; nothing of it is lost
	if !slices.Contains(work.ConflictChoices(), o.Conflicts) {
		return nil, app.Usagef("there is no such way: %s", app.Quote(a.Conflicts))
	}
	if a.Session != "" {
		session, err := session.Choose(ctx, s.P, a.Session)
		if err != nil {
			return nil, err
		}
		o.Work = work.Named{Session: session, Prompt: max(a.Turns, 1), Since: true}
		o.Args = "--session " + app.ShellQuote(a.Session) + " --since prompt~" + strconv.Itoa(o.Work.Prompt)
		return s.plans.Revert(ctx, o)
	}
	l, err := s.Checkpoint(a.ID)
	if err == nil && l.Of != "" {
		err = &project.PulledError{Log: l.Of}
	}
	if err != nil {
		return nil, err
	}
	o.Work, o.Args = work.Named{Checkpoint: l}, l.ID.String()[:app.ShortID]
	if a.Call {
		o.Work = work.Named{Call: l.ToolUseID, Session: &session.Chosen{Info: session.Info{ID: l.Session}}}
		o.Args = "--tool " + app.ShellQuote(l.ToolUseID)
	}
	return s.plans.Revert(ctx, o)
}

func viewPlan(p *plan.Plan) planView {
	v := planView{ID: strconv.Itoa(p.ID), Title: strings.TrimSuffix(p.Title, "."), Facts: []string{}, Notes: append([]string{}, p.Notes...), Files: []planFileView{}, Others: []otherView{}, Question: p.Question, Git: p.OffersGit}
	for _, f := range p.Facts {
		if undone, ok := strings.CutPrefix(f.Text, "  "); ok && f.Faint {
			v.Undoes = append(v.Undoes, strings.TrimPrefix(undone, "undoes: "))
			continue
		}
		v.Facts = append(v.Facts, strings.TrimSpace(f.Text))
	}
	for _, text := range p.Others {
		if turn, ok := strings.CutPrefix(text, "  "); ok && len(v.Others) > 0 {
			v.Others[len(v.Others)-1].Turns = append(v.Others[len(v.Others)-1].Turns, turn)
			continue
		}
		v.Others = append(v.Others, otherView{Text: text})
		if r := p.Restored; r != nil && len(v.Others) <= len(r.Others) { // sessions come first
			v.Others[len(v.Others)-1].Session = r.Others[len(v.Others)-1].Session
		}
	}
	room := maxPatches
	for _, f := range p.Files {
		of := planFileView{PathView: app.ViewPath(f.Path), Action: f.Action, Directory: f.Directory}
		if p.Reverted != nil {
			of.Lines = linesOf(p.Reverted, f.Path, &room)
		}
		v.Files = append(v.Files, of)
	}
	if p.Instead != nil {
		v.Instead = &action{Verb: "revert", Session: p.Instead.Session, Turns: p.Instead.Turns}
	}
	for _, o := range p.Alone {
		v.Alone = append(v.Alone, aloneView{strings.TrimSpace(o.Agent + " " + report.ShortSession(o.Session)), action{Verb: "revert", Session: o.Alone.Session, Turns: o.Alone.Turns}})
	}
	if p.Restored != nil && p.Reverted == nil && p.Question != "" {
		v.Talk, v.Session = talkOf(p.Restored.Conversation)
	}
	switch {
	case p.Reverted != nil:
		v.Conflicts = len(p.Reverted.Conflicts)
	case p.Restored != nil && p.Restored.Since == "" && p.Restored.Checkpoint.ID != (manifest.CheckpointID{}):
		v.Target = p.Restored.Checkpoint.ID.String()
	}
	return v
}

// linesOf are the lines that a revert would change in a file, nil where they are not known; room is how many bytes are left for all.
func linesOf(r *revert.Reverted, path string, room *int) *fileDiffView {
	d, ok := r.Lines[path]
	if !ok {
		return nil
	}
	v := viewFileDiff(d)
	if len(v.Patch) > min(*room, longestPatch) {
		v.Patch, v.Left = "", true
	}
	*room -= len(v.Patch)
	return &v
}

// talkOf is what becomes of a conversation, and whose it is.
func talkOf(m *conversation.Moved) (text, session string) {
	switch {
	case m == nil:
		return "stays", ""
	case m.Removed:
		return "fork is removed", m.From
	case m.InPlace:
		return "is rewritten in place", m.From
	}
	return "forks", m.From
}

func (s *space) Apply(ctx context.Context, id string) (done, changed any, err error) {
	release, err := s.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	n, err := strconv.Atoi(id)
	if err != nil {
		return nil, nil, explained(&app.StaleError{What: "plan", Name: id})
	}
	// A page that goes away meanwhile does not end what it asked for.
	did, now, why, err := s.plans.Do(context.WithoutCancel(ctx), n)
	switch {
	case err != nil:
		return nil, nil, explained(err)
	case now != nil:
		v := viewPlan(now)
		v.Changed = why
		return nil, v, nil
	}
	v := map[string]any{"back": map[string]string{"u": "undo", "U": "redo"}[did.Back]}
	summary := did.Summary + "."
	if text := report.GitFact(did.Restored, false); text != "" {
		summary += " " + text
	}
	if m := did.Restored.Conversation; m != nil && m.Resume != "" && !m.Removed {
		summary += " The conversation is a fork; open it with: "
		v["resume"] = s.C.Out.Opens(m)
	}
	if did.Restored.Safety != nil {
		v["safety"] = did.Restored.Safety.ID.String() // what was there
	}
	v["said"] = summary
	return v, nil, nil
}

// planBody reads what a plan is asked for of.
func planBody(body json.RawMessage) (a action, err error) {
	if json.Unmarshal(body, &a) != nil {
		return a, app.Usagef("the plan that is asked for cannot be read")
	}
	for _, paths := range [][]string{a.Paths, a.Without} {
		for i, path := range paths {
			paths[i] = pagePath(path)
		}
	}
	if len(a.Paths) > 0 && len(a.Without) > 0 {
		return a, app.Usagef("a plan is of some paths or without some, not both")
	}
	return a, nil
}
