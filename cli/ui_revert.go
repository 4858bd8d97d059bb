package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/work"
)

// plannedRevert is a revert that was shown.
type plannedRevert struct{ options revert.Options }

// revertPlan makes the plan of taking back the turn of a row, or its one call, and keeping the rest.
func (s *uiSpace) revertPlan(ctx context.Context, a uiAction) (*uiPlan, error) {
	conflicts := work.ConflictChoice(a.Conflicts)
	if conflicts == "" {
		conflicts = work.KeepBlock // the page says what stays; nothing of it is lost
	}
	if !slices.Contains(work.ConflictChoices(), conflicts) {
		return nil, usagef("there is no such way: %s", quote(a.Conflicts))
	}
	o := revert.Options{Conflicts: conflicts, Paths: literalPaths(strings.Join(a.Paths, "\x00"))}
	if a.Session != "" {
		session, err := conversation.ChooseSession(ctx, s.p, a.Session)
		if err != nil {
			return nil, err
		}
		o.Work = work.Named{Session: session, Prompt: max(a.Turns, 1), Since: true}
		o.Args = "--session " + shellQuote(a.Session) + " --since prompt~" + strconv.Itoa(o.Work.Prompt)
		return s.planRevertWithout(ctx, o, a.Without)
	}
	r, err := s.row(a.ID)
	if err != nil {
		return nil, err
	}
	l, err := s.checkpoint(a.ID)
	if err != nil {
		return nil, err
	}
	o.Work, o.Args = work.Named{Checkpoint: l}, l.ID.String()[:shortID]
	if a.Call {
		o.Work = work.Named{Call: l.ToolUseID}
		o.Args = "--tool " + shellQuote(l.ToolUseID)
	}
	v, err := s.planRevertWithout(ctx, o, a.Without)
	if err != nil || v.Question != "" {
		return v, err
	}
	facts, err := s.othersInRow(ctx, r)
	v.Facts = append(v.Facts, facts...)
	return v, err
}

// othersInRow says who made the changes that a row shows and its turn did not make: a sentence for each.
func (s *pickSource) othersInRow(ctx context.Context, r *timeline.Row) (facts []string, err error) {
	for _, part := range []*timeline.Row{r, r.Then} {
		if part == nil {
			continue
		}
		whose, err := s.uiOwners(ctx, part, "")
		if err != nil {
			return nil, err
		}
		where := "in this row"
		if part != r {
			where = "after this turn"
		}
		counts, among := ownerCounts(whose, nil, r.Session)
		delete(counts, workName(&attribution.Work{Agent: r.Agent, Session: r.Session}, nil, among))
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			by := "by " + name
			if name == ownerShared {
				by = "by one of several"
			}
			facts = append(facts, plural(counts[name], "path was", "paths were")+" changed "+where+" "+by+".")
		}
	}
	return facts, nil
}

// planRevertWithout is planRevert, of all but some paths.
func (s *uiSpace) planRevertWithout(ctx context.Context, o revert.Options, left []string) (*uiPlan, error) {
	if len(left) == 0 {
		return s.planRevert(ctx, o)
	}
	o.Paths, o.DryRun = nil, true
	r, err := revert.Revert(ctx, s.p, o)
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
	o.Paths = literalPaths(strings.Join(paths, "\x00"))
	return s.planRevert(ctx, o)
}

func (s *uiSpace) planRevert(ctx context.Context, o revert.Options) (*uiPlan, error) {
	o.DryRun, o.Expect = true, nil
	r, err := revert.Revert(ctx, s.p, o)
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
	delete(s.reverts, fmt.Sprint("revert-", s.shownReverts-keptPlans))
	v := &uiPlan{Conflicts: len(r.Conflicts), ID: id, Title: "Nothing to revert", Facts: []string{}, Notes: []string{}, Others: []string{}}
	if changed(r.Restored) {
		v.Facts = append(v.Facts, "Files: "+restoredLine(r.Restored))
	}
	v.Facts = append(v.Facts, s.c.revertFacts(r, false)...)
	if text := gitFact(r.Restored, true); text != "" {
		v.Facts = append(v.Facts, text)
	}
	if len(r.Turns) > 0 {
		v.Title = "Revert " + turnsText(r.Turns, false)
	}
	v.Files = planFiles(plannedFiles(r.Restored))
	if !changed(r.Restored) {
		work := "this turn"
		switch {
		case o.Work.Call != "":
			work = "this call"
		case o.Work.Session != nil && !o.Work.Since:
			work = "this session"
		}
		v.Title = strings.TrimSuffix(nothingReverted(r, work), ".")
	}
	if len(v.Files) > 0 {
		v.Question = v.Title + "?"
		v.Notes = append(v.Notes, "A safety checkpoint is taken first. Undo it with u here, or with rewind undo. The conversation stays.")
	}
	return v, nil
}

// applyRevert does what a plan said.
func (s *uiSpace) applyRevert(ctx context.Context, p plannedRevert) (done, changed any, err error) {
	r, err := revert.Revert(ctx, s.p, p.options)
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
	said := "Reverted: " + restoredLine(r.Restored) + keptText(r)
	if text := gitFact(r.Restored, false); text != "" {
		said += " " + text
	}
	return map[string]any{"said": said, "back": "undo"}, nil, nil
}

// keptText names the places that stay although they were to go, after a sentence; "" for none.
func keptText(r *revert.Reverted) string {
	if len(r.Kept) == 0 {
		return ""
	}
	var names []string
	marked := 0
	for i, k := range r.Kept {
		if k.Marked {
			marked++
		}
		if i < maxNamed {
			names = append(names, placeText(k.Path, k.From, k.To))
		}
	}
	if n := len(r.Kept) - maxNamed; n > 0 {
		names = append(names, fmt.Sprintf("and %d more", n))
	}
	verb := "kept"
	if marked == len(r.Kept) {
		verb = "marked"
	}
	return " " + plural(len(r.Kept), "place was ", "places were ") + verb + ": " + strings.Join(names, ", ") + "."
}

// planBody reads what a plan is asked for of.
func planBody(body json.RawMessage) (a uiAction, err error) {
	if json.Unmarshal(body, &a) != nil {
		return a, usagef("the plan that is asked for cannot be read")
	}
	for _, paths := range [][]string{a.Paths, a.Without} {
		for i, path := range paths {
			paths[i] = pagePath(path)
		}
	}
	if len(a.Paths) > 0 && len(a.Without) > 0 {
		return a, usagef("a plan is of some paths or without some, not both")
	}
	return a, nil
}
