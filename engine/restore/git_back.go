package restore

import (
	"context"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// The later note of a restore's journal is its operation with the state of git before it and the state that was meant. It is there
// from before the first change of git until the operation is recorded, so that who deals with a crash knows that git has to go back.

// gitBegun is that operation; nil where git's own state was not touched.
func gitBegun(j *treeio.Journal) *manifest.Operation {
	if len(j.Later) == 0 {
		return nil
	}
	rec, _ := manifest.ParseRecord(j.Later)
	return rec.Operation
}

// recordMoves brings git's own state and the conversation to where they are to be, and records the operation. If it cannot, git goes
// back, as the files do. note is Outcome.Note.
func (r *Run) recordMoves(way *Way, note func([]byte) error) error {
	if !way.git.changes() {
		return r.commitMove(way)
	}
	begun := r.Op
	begun.GitBefore, begun.GitAfter = r.Scan.Git(), way.git.state
	err := note(manifest.Record{Operation: &begun}.Append(nil))
	if err != nil {
		return err
	}
	if err = r.applyGit(way.git); err == nil {
		err = r.commitMove(way)
	}
	if err == nil {
		return nil
	}
	ctx, scan := r.Ctx, r.Scan
	r.Ctx, r.Scan = context.WithoutCancel(ctx), nil // what the scan found of git is not what is there now
	defer func() { r.Ctx, r.Scan = ctx, scan }()
	g, berr := r.planGitBack(begun, false)
	defer g.close()
	if berr == nil {
		berr = r.applyGitBack(g, begun)
	}
	if berr != nil {
		return &treeio.BegunError{Err: err, Left: berr}
	}
	return err
}

// planGitBack plans to put git's own state back to before a restore that has not finished. Where somebody has changed it since, which
// checked asks for, or where it cannot be put back, the error is *project.RefusedError. The caller closes the way, also after an error.
func (r *Run) planGitBack(op manifest.Operation, checked bool) (*gitMove, error) {
	g := &gitMove{half: gitBack, state: op.GitBefore}
	if op.GitBefore.IsZero() {
		return g, nil // there was no repository
	}
	if err := r.planGit(g, manifest.Checkpoint{ID: op.Safety}, op.GitBefore); err != nil {
		return g, err
	}
	if len(g.refusals) > 0 {
		return g, &project.RefusedError{What: "git's own state cannot be put back to before " + unfinished(op) + ": " + strings.Join(g.refusals, " ")}
	}
	if !checked {
		return g, nil
	}
	changed, err := r.changedBySomebody(g, op)
	if err == nil && len(changed) > 0 {
		err = &gitChangedError{&project.RefusedError{What: "git's own state has changed since " + unfinished(op) + ": " + strings.Join(changed, ", "), Forcible: true}}
	}
	return g, err
}

func unfinished(op manifest.Operation) string { return "the " + commandOf(op) + " that did not finish" }

// gitChangedError: what somebody did in git since would go.
type gitChangedError struct{ *project.RefusedError }

func (e *gitChangedError) Unwrap() error { return e.RefusedError }

// changedBySomebody names what of git's own state is neither as it was before a restore nor as that was to leave it.
func (r *Run) changedBySomebody(g *gitMove, op manifest.Operation) (changed []string, err error) {
	meant, err := r.planMeant(op)
	defer meant.close()
	if err != nil {
		return nil, err
	}
	for _, back := range g.plans {
		to := back.Plan
		for _, p := range meant.plans {
			if p.target.CommonDir == back.target.CommonDir {
				to = p.Plan
			}
		}
		list, err := back.ChangedSince(r.Ctx, to)
		if err != nil {
			return nil, err
		}
		changed = append(changed, list...)
	}
	return changed, nil
}

// planMeant plans the way to the state of git that an operation was to lead to, for what the plans know of it.
func (r *Run) planMeant(op manifest.Operation) (*gitMove, error) {
	meant := &gitMove{half: GitLost, quiet: true}
	err := r.planGit(meant, manifest.Checkpoint{ID: op.Checkpoint}, op.GitAfter)
	if errors.As(err, new(*project.RefusedError)) || errors.As(err, new(*WorktreeRemovedError)) {
		err = nil // nothing was written there
	}
	return meant, err
}

// applyGitBack puts git's own state back, and removes what the operation has left in the git directories.
func (r *Run) applyGitBack(g *gitMove, op manifest.Operation) error {
	for _, plan := range g.plans {
		if _, err := plan.Apply(r.Ctx); err != nil {
			return err
		}
	}
	meant, err := r.planMeant(op)
	defer meant.close()
	for _, plan := range meant.plans {
		err = errors.Join(err, plan.ClearUp())
	}
	if _, there := gitrepo.Find(r.Root()); there && op.GitBefore.IsZero() {
		r.Notify("the git directory that " + unfinished(op) + " made stays: what is in it may have no other copy")
	}
	return err
}

// putGitBack does both for a restore that was killed, before its files go back, and notes in found what the answer has of it.
func (r *Run) putGitBack(op manifest.Operation, found *recovery) error {
	g, err := r.planGitBack(op, true)
	defer func() { g.close() }()
	changed := (*gitChangedError)(nil)
	switch {
	case !errors.As(err, &changed):
	case !r.goesBack():
		r.Notify(changed.What + ": it stays as it is now. rewind restore " + op.Safety.String() + " --git=exact brings back what it was before")
		found.gitLeft = true
		return nil
	case r.Options.Force:
		if found.safety, err = r.saveWhatChanged(op); err == nil {
			g.close()
			g, err = r.planGitBack(op, false)
		}
	}
	if err == nil {
		err = r.applyGitBack(g, op)
	}
	if err == nil && r.goesBack() {
		found.git = g
	}
	return err
}

// saveWhatChanged saves a safety checkpoint, since what somebody did in git goes.
func (r *Run) saveWhatChanged(op manifest.Operation) (*manifest.Checkpoint, error) {
	scan, err := checkpoint.CaptureTree(r.Ctx, r.Project, checkpoint.CaptureOptions{})
	if err != nil {
		return nil, err
	}
	defer scan.Discard()
	r.Scan = scan
	defer func() { r.Scan = nil }()
	return r.commitSafety(scan.Tx, scan.Root(), "changed since "+unfinished(op), true)
}

// foreseeGitBack is what a dry run says of it.
func (r *Run) foreseeGitBack(op manifest.Operation) (*gitMove, error) {
	g, err := r.planGitBack(op, !r.Options.Force)
	g.close()
	return g, err
}
