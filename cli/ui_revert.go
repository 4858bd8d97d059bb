package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine"
)

// plannedRevert is a revert that was shown.
type plannedRevert struct{ options engine.RevertOptions }

// revertPlan makes the plan of taking back the turn of a row, or its one call, and keeping the rest.
func (s *uiSpace) revertPlan(ctx context.Context, a uiAction) (*uiPlan, error) {
	l, err := s.checkpoint(a.ID)
	if err != nil {
		return nil, err
	}
	conflicts := engine.ConflictChoice(a.Conflicts)
	if conflicts == "" {
		conflicts = engine.KeepBlock // the page says what stays; nothing of it is lost
	}
	if !slices.Contains(engine.ConflictChoices(), conflicts) {
		return nil, usagef("there is no such way: %s", quote(a.Conflicts))
	}
	o := engine.RevertOptions{Work: engine.WorkNamed{Checkpoint: l}, Conflicts: conflicts, Paths: literalPaths(strings.Join(a.Paths, "\x00")), Args: l.ID.String()[:shortID]}
	if a.Call {
		o.Work = engine.WorkNamed{Call: l.ToolUseID}
		o.Args = "--tool " + shellQuote(l.ToolUseID)
	}
	return s.planRevert(ctx, o)
}

func (s *uiSpace) planRevert(ctx context.Context, o engine.RevertOptions) (*uiPlan, error) {
	o.DryRun, o.Expect = true, nil
	r, err := engine.Revert(ctx, s.p, o)
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
	v := &uiPlan{ID: id, Title: "Nothing to take back", Facts: s.revertFacts(r), Notes: []string{}, Files: []uiPlanFile{}}
	if len(r.Turns) > 0 {
		v.Title = "Take back " + turnsText(r.Turns, false)
	}
	for _, g := range []struct {
		action string
		paths  []string
	}{{"delete", r.Delete}, {"replace", r.Replace}, {"mode", r.Mode}, {"create", r.Create}} {
		for _, path := range g.paths {
			v.Files = append(v.Files, uiPlanFile{viewPath(path), g.action})
		}
	}
	if len(v.Files) > 0 {
		v.Question = v.Title + "?"
		v.Notes = append(v.Notes, "A safety checkpoint is taken first. Taken back with u here, or with rewind undo-restore. The conversation stays.")
	}
	return v, nil
}

// revertFacts say what goes, what stays, and whose it is.
func (s *uiSpace) revertFacts(r *engine.Reverted) []string {
	facts := []string{}
	fact := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	if changed(r.Restored) {
		fact("Files: %s", restoredLine(r.Restored))
	}
	for _, m := range firstN(r.Merged, maxNamed) {
		fact("Merged %s: %s, what others wrote there stays.", escapePath(m.Path), linesText(m))
	}
	for _, to := range slices.Sorted(maps.Keys(r.Moved)) {
		fact("Moved back: %s to %s, with what others wrote into it.", escapePath(to), escapePath(r.Moved[to]))
	}
	for _, k := range firstN(r.Kept, maxNamed) {
		fact("Stays as it is: %s: %s%s", placeText(k.Path, k.From, k.To), k.Reason, s.c.byText(k.By))
	}
	for _, w := range firstN(r.Shell, maxNamed) {
		fact("By %s, whoever wrote meanwhile: %s", quoted(escape(strings.TrimSpace(w.Tool+" "+firstLine(w.Summary)))), pathsText(w.Paths))
	}
	for _, n := range firstN(r.Near, maxNamed) {
		fact("Next to it, changed by others: %s%s", placeText(n.Path, n.From, n.To), s.c.byText(n.By))
	}
	for _, w := range firstN(r.Shared, maxNamed) {
		if !w.Goes {
			fact("Stays, since others could have changed it: %s%s", escapePath(w.Path), s.c.byText(w.Also))
		}
	}
	return facts
}

// applyRevert does what a plan said.
func (s *uiSpace) applyRevert(ctx context.Context, p plannedRevert) (done, changed any, err error) {
	r, err := engine.Revert(ctx, s.p, p.options)
	var moved *engine.PlanChangedError
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
	return map[string]string{"said": "Reverted: " + restoredLine(r.Restored) + " u takes it back."}, nil, nil
}

// planBody reads what a plan is asked for of.
func planBody(body json.RawMessage) (a uiAction, err error) {
	if json.Unmarshal(body, &a) != nil {
		return a, usagef("the plan that is asked for cannot be read")
	}
	for i, path := range a.Paths {
		a.Paths[i] = pagePath(path)
	}
	return a, nil
}
