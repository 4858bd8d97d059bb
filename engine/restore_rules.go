package engine

import (
	"slices"
	"strings"

	"rewind/engine/restore"
	"rewind/engine/rules"
	"rewind/manifest"
)

// ownUp tells of what a plan leaves alone only because something could not be
// read: rules, or paths that the scan passed over. Those are failures, but for
// paths of which the checkpoint does not know either what they were.
func (r *restoring) ownUp(plan *restore.Plan, saw *sight, target, today *rules.Scopes) error {
	for i, s := range plan.Skips {
		var err error
		switch s.Reason {
		case restore.ReasonRules:
			err = target.Failed
		case restore.ReasonToday:
			err = today.Failed
		case reasonCoverage:
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason += ", because the list of what it left out could not be read: " + saw.failed.Error()
		}
		if err != nil {
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason = "the rules that say whether it may go could not be read: " + err.Error()
		}
	}
	for _, problem := range r.scan.Problems {
		if !problem.Failed || problem.Path == "" || r.sel != nil && !r.sel.Has(problem.Path) ||
			slices.ContainsFunc(plan.Skips, func(s restore.Skip) bool { return s.Path == problem.Path }) ||
			slices.ContainsFunc(plan.Changes, func(c restore.Change) bool { return c.Path == problem.Path }) {
			continue // told of already, or when the plan gets there
		}
		_, captured, err := manifest.Find(r.tx.Load, r.now, problem.Path)
		if err != nil {
			return err
		}
		if captured {
			continue
		}
		plan.Skips = append(plan.Skips, restore.Skip{Path: problem.Path, Reason: problem.Reason, Failed: saw.failed != nil || saw.reasons[problem.Path] == ""})
	}
	slices.SortFunc(plan.Skips, func(a, b restore.Skip) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
