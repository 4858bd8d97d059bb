package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// undoWithGit goes as many steps back as the options say, with git's own state. A step leads to a checkpoint, or to what an
// operation left or found.
func (r *Run) undoWithGit() (way Way, err error) {
	ops, err := oplog.Operations(r.Ctx, r.Project, 0)
	if err != nil {
		return way, err
	}
	found := r.gitSteps(ops)
	var steps []undoStep
	for n := range max(r.Options.Steps, 1) {
		s, err := found.next()
		switch {
		case err != nil:
			return way, err
		case s == nil && n == 0 && found.unable != nil:
			return way, found.unable
		case s == nil && n == 0:
			return way, &project.NothingError{What: oplog.UndoVerb, Next: found.whyNone()}
		case s == nil:
			return way, &project.FewStepsError{What: oplog.UndoVerb, Have: n}
		}
		steps = append(steps, *s)
	}
	last := steps[len(steps)-1]
	if r.Options.GitOnly && last.back != nil && last.back.MovesMoreThanGit() {
		return r.takeBackGitAlone(steps)
	}
	return found.past.undoTo(steps)
}

// takeBackGitAlone takes back what operations did to git's own state. The oldest is the next step: what else it did is still
// there. The newer ones did nothing else.
func (r *Run) takeBackGitAlone(steps []undoStep) (way Way, err error) {
	var back []manifest.Operation // the newest last
	for i, s := range slices.Backward(steps) {
		if s.back == nil || i < len(steps)-1 && s.back.MovesMoreThanGit() {
			return way, r.mixedGit("--git-only")
		}
		back = append(back, *s.back)
	}
	r.Op.Below = back[0].Seq + 1
	if way.Target, err = r.stateBefore(back[0]); err != nil {
		return way, err
	}
	r.Options.Half = conversation.CodeOnly
	return way, r.takeBackGit(&way, back)
}

// gitOfSteps plans what becomes of git's own state on a way of several steps that takes some operations back.
func (r *Run) gitOfSteps(way *Way, back []manifest.Operation) error {
	moved := slices.ContainsFunc(back, func(o manifest.Operation) bool { return !o.GitAfter.IsZero() })
	switch {
	case !moved || r.Options.Git == GitExact:
		return nil
	case r.Options.Git == GitLost:
		return r.mixedGit("--git")
	}
	return r.takeBackGit(way, back)
}

func (r *Run) mixedGit(flag string) error {
	return &project.RefusedError{What: "these steps mix operations that moved git's own state and earlier states, and one step cannot do both", Next: "run rewind undo " + flag + " once for each step"}
}

// gitSteps finds the steps of an undo with git.
type gitSteps struct {
	r     *Run
	past  *past
	from  *manifest.Checkpoint // where the last step led; nil: nowhere yet
	ahead []undoStep           // found and not looked at
	none  map[oid.ID]bool      // states of git from which nothing is to be brought back
	bare  int                  // checkpoints that hold nothing of git, which were passed over

	unable error // why nothing returns of what git has lost since the newest checkpoint that has it; nil where there is no such
}

func (r *Run) gitSteps(ops []manifest.Operation) *gitSteps {
	return &gitSteps{r: r, past: newPast(r, ops), none: map[oid.ID]bool{}}
}

// next is the next step; nil for none.
func (g *gitSteps) next() (*undoStep, error) {
	for {
		for len(g.ahead) > 0 {
			s := g.ahead[0]
			g.ahead = g.ahead[1:]
			goes, err := !g.r.Options.GitOnly || s.back != nil && !s.back.GitBefore.IsZero(), error(nil)
			if s.back == nil {
				goes, err = g.goes(s.state)
			}
			if err == nil && !goes {
				continue
			}
			switch {
			case s.state.Root != (oid.ID{}):
				g.from = &s.state
			case g.from != nil: // it moved the conversation alone
				s.state = *g.from
			}
			return &s, err
		}
		if g.r.Options.GitOnly {
			g.past.at = nil // forgotten files are no obstacle
		}
		c, op, err := g.past.next()
		switch {
		case err != nil || c == nil && op == nil:
			return nil, err
		case c != nil:
			g.ahead = []undoStep{{state: *c}}
		default:
			if g.ahead, err = g.past.stepsOf(*op); err != nil {
				return nil, err
			}
			if g.from == nil && g.movedSince(*op) && g.r.gitIsAt(manifest.Checkpoint{ID: op.Safety}, op.GitBefore) { // what it left is no state to return to
				g.ahead = slices.DeleteFunc(g.ahead, func(s undoStep) bool { return s.back == nil || g.r.Options.GitOnly })
			}
		}
	}
}

// whyNone says why there is no step.
func (g *gitSteps) whyNone() string {
	if g.bare == 0 {
		return "nothing was lost since any checkpoint: rewind list shows what there is"
	}
	do := "do"
	if g.bare == 1 {
		do = "does"
	}
	return fmt.Sprintf("nothing was lost since any checkpoint that holds git's own state: %d %s not, since there was no git repository, or forget removed it", g.bare, do)
}

// movedSince reports whether git's own state can be as it was before an operation because a later one brought it there.
func (g *gitSteps) movedSince(op manifest.Operation) bool {
	return !op.GitBefore.IsZero() && slices.ContainsFunc(g.past.log, func(o manifest.Operation) bool { return o.Seq > op.Seq && !o.GitAfter.IsZero() })
}

// mostPlans is how many states of git are compared by a plan, with the git program. Of others the events say whether one is worth it.
const mostPlans = 20

// goes reports whether there is something to do on the way to a state: files differ, or git has lost something since.
func (g *gitSteps) goes(to manifest.Checkpoint) (bool, error) {
	r := g.r
	if !r.Options.GitOnly {
		differ, err := g.filesDiffer(to)
		if err != nil || differ {
			return differ, err
		}
	}
	if to.Git.IsZero() {
		g.bare++
		return false, nil
	}
	from, root := r.Scan.Git(), r.Now
	if g.from != nil && !g.from.Git.IsZero() {
		from, root = g.from.Git, g.from.Root
	}
	switch {
	case from.IsZero():
		return true, nil
	case g.none[to.Git] || !gitstate.Differ(r.Tx, to.Git, from):
		return false, nil
	case r.Options.Git == GitExact && (g.from != nil || len(g.none) >= mostPlans):
		return true, nil
	case r.Options.Git != GitExact && (g.from != nil || len(g.none) >= mostPlans):
		was, is := gitevents.Point{Root: to.Root, State: to.Git, Repository: true}, gitevents.Point{Root: root, State: from, Repository: true}
		events, err := gitevents.NewReader(r.Tx, r.Root()).Between(was, is)
		if err != nil || g.from != nil || !slices.ContainsFunc(events, gitevents.Event.CanLose) {
			return slices.ContainsFunc(events, gitevents.Event.CanLose), err
		}
	}
	move := &gitMove{half: r.Options.Git, quiet: true}
	defer move.close()
	err := r.planGit(move, to, to.Git)
	if errors.As(err, new(*project.RefusedError)) || len(move.refusals) > 0 {
		return true, nil // it is reported when the way there is planned
	}
	g.none[to.Git] = !move.changes()
	if err == nil && g.unable == nil {
		g.unable = move.nothingReturns()
	}
	return !g.none[to.Git], err
}

func (g *gitSteps) filesDiffer(to manifest.Checkpoint) (bool, error) {
	r := g.r
	switch {
	case g.from != nil:
		return g.past.stepDiffers(*g.from, to, r.Today())
	case to.Root == r.Now:
		return false, nil
	}
	way, err := g.past.readTo(to)
	return err == nil && !way.Plan.Empty(), err
}

// gitInstead is what to do where no file differs, and git has lost something; "" where it has not either.
func (r *Run) gitInstead(ops []manifest.Operation) string {
	r.Options.Git, r.Options.GitOnly = GitLost, true
	if s, err := r.gitSteps(ops).next(); err != nil || s == nil {
		return ""
	}
	return "no file differs, but git's own state does: rewind undo --git --dry-run shows what would return"
}
