package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// plannedRevert is a revert that was shown.
type plannedRevert struct{ options revert.Options }

// revertPlan makes the plan of taking back the turn of a row, or its one call, and keeping the rest.
func (s *space) revertPlan(ctx context.Context, a action) (*planView, error) {
	conflicts := work.ConflictChoice(a.Conflicts)
	if conflicts == "" {
		conflicts = work.KeepBlock // the page says what stays; nothing of it is lost
	}
	if !slices.Contains(work.ConflictChoices(), conflicts) {
		return nil, app.Usagef("there is no such way: %s", app.Quote(a.Conflicts))
	}
	o := revert.Options{Conflicts: conflicts, Paths: picker.LiteralPaths(strings.Join(a.Paths, "\x00"))}
	if a.Session != "" {
		session, err := conversation.ChooseSession(ctx, s.P, a.Session)
		if err != nil {
			return nil, err
		}
		o.Work = work.Named{Session: session, Prompt: max(a.Turns, 1), Since: true}
		o.Args = "--session " + app.ShellQuote(a.Session) + " --since prompt~" + strconv.Itoa(o.Work.Prompt)
		return s.planRevertWithout(ctx, o, a.Without)
	}
	r, err := s.Row(a.ID)
	if err != nil {
		return nil, err
	}
	l, err := s.Checkpoint(a.ID)
	if err != nil {
		return nil, err
	}
	o.Work, o.Args = work.Named{Checkpoint: l}, l.ID.String()[:app.ShortID]
	if a.Call {
		o.Work = work.Named{Call: l.ToolUseID}
		o.Args = "--tool " + app.ShellQuote(l.ToolUseID)
	}
	v, err := s.planRevertWithout(ctx, o, a.Without)
	if err != nil || v.Question != "" {
		return v, err
	}
	facts, err := s.OthersInRow(ctx, r)
	v.Facts = append(v.Facts, facts...)
	return v, err
}

// planRevertWithout is planRevert, of all but some paths.
func (s *space) planRevertWithout(ctx context.Context, o revert.Options, left []string) (*planView, error) {
	if len(left) == 0 {
		return s.planRevert(ctx, o)
	}
	o.Paths, o.DryRun = nil, true
	r, err := revert.Revert(ctx, s.P, o)
	if err != nil {
		return nil, err
	}
	paths, err := without(slices.Concat(r.Delete, r.Replace, r.Mode, r.Create), left)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		v := nothingLeft("Nothing to revert")
		return &v, nil
	}
	o.Paths = picker.LiteralPaths(strings.Join(paths, "\x00"))
	return s.planRevert(ctx, o)
}

func (s *space) planRevert(ctx context.Context, o revert.Options) (*planView, error) {
	o.DryRun, o.Expect = true, nil
	r, err := revert.Revert(ctx, s.P, o)
	if err != nil {
		return nil, err
	}
	o.DryRun, o.Expect = false, &r.Expected
	if s.reverts == nil {
		s.reverts = map[string]plannedRevert{}
	}
	s.shownReverts++ // an id is never used again: another page may still show the plan that had it
	id := fmt.Sprint("revert-", s.shownReverts)
	s.reverts[id] = plannedRevert{o}
	delete(s.reverts, fmt.Sprint("revert-", s.shownReverts-picker.KeptPlans))
	v := &planView{Conflicts: len(r.Conflicts), ID: id, Title: "Nothing to revert", Facts: []string{}, Notes: []string{}, Others: []string{}}
	if report.Changed(r.Restored) {
		v.Facts = append(v.Facts, "Files: "+report.RestoredLine(r.Restored))
	}
	v.Facts = append(v.Facts, report.RevertFacts(s.C, r, false)...)
	if text := report.GitFact(r.Restored, true); text != "" {
		v.Facts = append(v.Facts, text)
	}
	if len(r.Turns) > 0 {
		v.Title = "Revert " + report.TurnsText(r.Turns, false)
	}
	v.Files = planFiles(picker.PlannedFiles(r.Restored))
	if !report.Changed(r.Restored) {
		work := "this turn"
		switch {
		case o.Work.Call != "":
			work = "this call"
		case o.Work.Session != nil && !o.Work.Since:
			work = "this session"
		}
		v.Title = strings.TrimSuffix(report.NothingReverted(r, work), ".")
	}
	if len(v.Files) > 0 {
		v.Question = v.Title + "?"
		v.Notes = append(v.Notes, "A safety checkpoint is taken first. Undo it with u here, or with rewind undo. The conversation stays.")
	}
	return v, nil
}

// applyRevert carries out a plan.
func (s *space) applyRevert(ctx context.Context, p plannedRevert) (done, changed any, err error) {
	r, err := revert.Revert(ctx, s.P, p.options)
	var moved *restore.PlanChangedError
	if errors.As(err, &moved) {
		now, err := s.planRevert(ctx, p.options)
		if err != nil {
			return nil, nil, err
		}
		now.Changed = "nothing was done: " + moved.Error() + "; this is the plan now."
		return nil, now, nil
	}
	if err != nil {
		return nil, nil, err
	}
	clear(s.reverts)
	said := "Reverted: " + report.RestoredLine(r.Restored) + report.KeptText(r)
	if text := report.GitFact(r.Restored, false); text != "" {
		said += " " + text
	}
	return map[string]any{"said": said, "back": "undo"}, nil, nil
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
