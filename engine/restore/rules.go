package restore

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Today are the rules in force, with the rule files on disk.
func (r *Run) Today() *rules.Scopes {
	return rules.Today(r.Project, session.Kept(r.Project), r.FS)
}

// Sessions reports of a path whether agents keep their sessions there, or it is a transcript that a hook reported: older
// checkpoints can have it, and those of a process that lacks the agent's variables.
func (r *Run) Sessions() func(path string) bool {
	if r.kept == nil {
		r.kept = rules.Sessions(r.Project, append(session.Kept(r.Project), session.Transcripts(r.Ctx, r.Project)...))
	}
	return r.kept
}

// addUnread tells of what a plan leaves alone only because something could not be
// read: rules, or paths that the scan passed over. Those are failures, but for
// paths of which the checkpoint does not know either what they were.
func (r *Run) addUnread(way *Way, target, today *rules.Scopes) error {
	plan, saw, selected := way.Plan, way.saw, r.selected(way.Target)
	for i, s := range plan.Skips {
		var err error
		switch s.Code {
		case problem.TargetRules:
			err = target.Failed
		case problem.TodayRules:
			err = today.Failed
		case problem.NoCoverage:
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason += ", because the list of what it left out could not be read: " + saw.Failed.Error()
		}
		if err != nil {
			plan.Skips[i].Failed = true
			plan.Skips[i].Reason = "the rules that say whether it may go could not be read: " + problem.Text(err)
		}
	}
	for _, p := range r.Scan.Problems {
		if !p.Failed || p.Path == "" || selected != nil && !selected.Has(p.Path) ||
			slices.ContainsFunc(plan.Skips, func(s problem.Problem) bool { return s.Path == p.Path }) ||
			slices.ContainsFunc(plan.Changes, func(c treeio.Change) bool { return c.Path == p.Path }) {
			continue // reported already, or when the plan gets there
		}
		_, captured, err := manifest.Find(r.Tx.Load, r.Now, p.Path)
		if err != nil {
			return err
		}
		if captured {
			continue
		}
		_, listed := saw.Problems[p.Path]
		p.Failed = saw.Failed != nil || !listed
		plan.Skips = append(plan.Skips, p)
	}
	slices.SortFunc(plan.Skips, func(a, b problem.Problem) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
