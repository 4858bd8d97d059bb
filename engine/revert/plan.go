package revert

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// reverting is one revert, from the look at the tree to its plan.
type reverting struct {
	*restore.Run
	o   Options
	out *Reverted

	versions *inspect.Versions
	who      *attribution.Attribution
	work     *work.Chosen
	files    []*fileRevert          // by path
	held     map[string][]heldLines // by the present path
	gone     *work.StatesGoneError  // the error for work from that time; nil: no state was removed before the oldest
	before   []*SharedPath          // what the work could have written in front of the oldest state
	skips    []problem.Problem
	turns    map[work.RevertedTurn]int
	first    map[work.RevertedTurn]int64 // when its work began
	done     work.Reverts
	again    work.Reverts // done, and the operations that did one of them again
}

// plan plans what the person asked for; nil where there is nothing to do.
func (v *reverting) plan() (*treeio.Plan, error) {
	now, err := v.present()
	if err != nil {
		return nil, err
	}
	if v.who, err = attribution.New(v.Ctx, v.Project, attribution.Options{Now: now}); err != nil {
		return nil, err
	}
	v.versions = inspect.NewVersions(v.Project, v.Tx.Get)
	if v.done, v.again, err = work.ReadReverts(v.Ctx, v.Project); err != nil {
		return nil, err
	}
	if v.work, err = work.Choose(v.Ctx, v.Project, v.o.Work, v.who); err != nil {
		return nil, err
	}
	paths, err := v.who.Paths(v.work.Seen)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, v.Sessions()) // of older checkpoints
	v.out.Wrote = len(paths)
	if err := v.statesThere(); err != nil {
		return nil, err
	}
	if v.Sel != nil {
		if err := v.chosenExist(paths); err != nil {
			return nil, err
		}
		if paths, err = v.chosen(paths); err != nil {
			return nil, err
		}
	}
	steps, err := v.who.StepsOf(paths)
	if err != nil {
		return nil, err
	}
	if err := v.beginningsThere(paths, steps); err != nil {
		return nil, err
	}
	if v.out.NotCovered, v.out.Elsewhere, err = v.notCovered(); err != nil {
		return nil, err
	}
	if v.out.Forgotten, err = v.forgotten(); err != nil {
		return nil, err
	}
	v.turns, v.first = map[work.RevertedTurn]int{}, map[work.RevertedTurn]int64{}
	for again := true; again; {
		if err := v.decideFiles(paths, steps); err != nil {
			return nil, err
		}
		if again, err = v.hold(); err != nil {
			return nil, err
		}
	}
	if err := v.wayFree(); err != nil {
		return nil, err
	}
	if err := v.keepDatabases(); err != nil {
		return nil, err
	}
	target, err := v.target()
	if err != nil {
		return nil, err
	}
	v.tell()
	v.out.Back = v.back()
	if slices.ContainsFunc(v.out.Conflicts, func(c RevertConflict) bool { return c.Choice == work.RefuseConflicts }) {
		return nil, &ConflictError{v.out}
	}
	plan := &treeio.Plan{}
	if target != v.Now {
		if plan, err = v.planFiles(target); err != nil {
			return nil, err
		}
	}
	plan.Skips = append(plan.Skips, v.skips...)
	v.Op.Choices = v.choices(plan)
	slices.SortFunc(plan.Skips, func(a, b problem.Problem) int { return strings.Compare(a.Path, b.Path) })
	return plan, nil
}

// decideFiles finds what each path becomes.
func (v *reverting) decideFiles(paths []string, steps map[string][]attribution.Step) error {
	v.files, v.skips, v.out.Moved, v.out.MovedAsIs = nil, nil, nil, nil
	for i, path := range paths {
		if err := v.Ctx.Err(); err != nil {
			return err
		}
		if told := v.PlanProgress(); told != nil {
			told(treeio.Done{Step: "plan", Files: int64(i + 1)})
		}
		f := v.fileOf(path, steps[path])
		if f == nil {
			continue
		}
		if err := v.unread(f); err != nil {
			return err
		}
		v.files = append(v.files, f)
	}
	if err := v.nameShared(); err != nil {
		return err
	}
	for _, f := range v.files {
		if f.shared != nil && !f.shared.Goes && !f.left && f.shared.Path == f.path { // it has no other name now, either
			f.shared = nil
		}
	}
	if err := v.renames(); err != nil {
		return err
	}
	return v.decideAll()
}

// chosen are those of the work's paths that the arguments name, and earlier names of the files that they name.
func (v *reverting) chosen(paths []string) (list []string, err error) {
	named := map[string]bool{}
	if slices.ContainsFunc(paths, func(p string) bool { return !v.Sel.Has(p) }) {
		steps, err := v.who.StepsOf(paths)
		if err != nil {
			return nil, err
		}
		v.files = nil
		for _, path := range paths {
			if f := v.fileOf(path, steps[path]); f != nil {
				v.files = append(v.files, f)
			}
		}
		var trails []*trail
		err = v.who.Ask(func() (err error) {
			trails, _, err = v.findTrails(v.files)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, t := range trails {
			for _, l := range t.links {
				named[l.Path] = named[l.Path] || v.Sel.Has(t.at)
			}
		}
	}
	for _, p := range paths {
		if v.Sel.Has(p) || named[p] {
			list = append(list, p)
		}
	}
	return list, nil
}

// back is how many prompts the conversation can go back instead; 0 where it cannot, or is as it was.
func (v *reverting) back() int {
	n := len(v.work.Turns)
	if v.o.DryRun || n == 0 || !v.work.Newest || v.work.Call != "" || v.work.Subagent != "" || v.Sel != nil {
		return 0
	}
	s, err := session.Choose(v.Ctx, v.Project, v.work.Session)
	if err != nil {
		return 0
	}
	if place, err := conversation.BeforePrompt(v.Ctx, v.Project, s, n); err != nil || !place.There() || !place.Exact {
		return 0
	}
	return n
}

// planFiles plans the way to the target on the paths that change. What is there is read once more: it has to be
// what the lines were taken from.
func (v *reverting) planFiles(target oid.ID) (*treeio.Plan, error) {
	var paths []string
	was := map[string]*manifest.Entry{}
	for _, f := range v.files {
		if f.changes {
			paths = append(paths, f.path)
			was[f.path] = f.now
		}
	}
	o := v.PlanOptions(target, treeio.NewExactly(paths))
	o.InScope = v.Today().MayGo
	plan, err := treeio.NewPlan(v.Ctx, o)
	if err != nil {
		return nil, err
	}
	if err := plan.Read(v.Ctx, v.Tx); err != nil {
		return nil, err
	}
	for _, c := range plan.Changes {
		if old, ok := was[c.Path]; ok && c.Before.Kind != manifest.Subdir && c.Action != treeio.Create && c.Action != treeio.Mode && !manifest.SameEntries(&c.Before, old) {
			return nil, &restore.ChangedSinceError{Path: c.Path}
		}
	}
	return plan, v.lines(plan.Changes)
}

// lines compares what is there with what would be, while the transaction has both.
func (v *reverting) lines(changes []treeio.Change) error {
	v.out.Lines = map[string]inspect.FileDiff{}
	for _, c := range changes {
		if len(v.out.Lines) >= v.o.Lines || !v.o.DryRun {
			break
		}
		change := manifest.Change{Path: c.Path, Old: &c.Before, New: &c.After}
		if c.Action == treeio.Create {
			change.Old = nil
		}
		if c.Action == treeio.Delete {
			change.New = nil
		}
		if e := cmp.Or(change.New, change.Old); e.Kind == manifest.Subdir {
			continue
		}
		d, err := inspect.ChangeDiff(v.Tx.Get, change)
		if err != nil {
			return err
		}
		v.out.Lines[c.Path] = d
	}
	return nil
}

func (f *fileRevert) edit() treeio.Edit {
	e := treeio.Edit{Path: f.path}
	if f.to != nil {
		e.Entry = *f.to
	}
	return e
}
