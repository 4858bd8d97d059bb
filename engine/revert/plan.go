package revert

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/window"
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
	target, err := v.target()
	if err != nil {
		return nil, err
	}
	v.tell()
	if err := v.gitAtWork(); err != nil {
		return nil, err
	}
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

// chosenExist refuses (*NoPathError) an argument that names neither what the work changed nor anything that is there.
func (v *reverting) chosenExist(paths []string) error {
	others, err := pathspec.Unmatched(v.Run.Options.Paths, paths)
	if err != nil {
		return err
	}
	return pathspec.MatchSome(v.Tx.Load, others, v.Now)
}

// present is the present tree, with what hooks have left since the newest checkpoint.
func (v *reverting) present() (*attribution.Present, error) {
	newest, err := v.NewestCheckpoint()
	if err != nil {
		return nil, err
	}
	now := &attribution.Present{Time: v.Env.Time(), Root: v.Now, Load: v.Tx.Load, Windows: window.Pending(v.Project)}
	if newest != nil {
		now.At, err = v.Scan.Written(newest.Root)
	}
	return now, err
}

// unread leaves alone what the scan could not read, or no longer captures: it is there, whatever the tree says. It
// should have been reverted, unless nothing of the work was left in it when it was last seen.
func (v *reverting) unread(f *fileRevert) error {
	if f.now != nil || !f.touched || !problem.UnreadOf(v.Scan.Problems).Has(f.path) {
		return nil
	}
	f.touched, f.decided = false, true
	n := len(f.steps)
	for n > 1 && f.steps[n-1].To.Entry == nil && f.steps[n-1].Class != attribution.Operation {
		n-- // it was not removed, but left out
	}
	links, err := v.historyOf(f.path, f.steps[:n]).chain(v)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(links, func(l work.Link) bool { return l.Own }) {
		v.skipUnread(f.path)
	}
	return nil
}

// skipUnread notes why a path that should have been reverted stays unchanged.
func (v *reverting) skipUnread(path string) {
	p := problem.Problem{Path: path, Reason: "it cannot be read as it is now"}
	for _, found := range v.Scan.Problems {
		if found.Path == path || strings.HasPrefix(path, found.Path+"/") {
			p.Code, p.Reason = found.Code, found.Reason
		}
	}
	p.Failed = true
	v.skips = append(v.skips, p)
}

// notCovered are the files that the work's edits wrote, which are there, and which no state holds; elsewhere those of them
// outside the project.
func (v *reverting) notCovered() (paths, elsewhere []string, err error) {
	var today *rules.Scopes
	for _, path := range v.who.Declared(v.work.Has) {
		if file := filepath.FromSlash(path); filepath.IsAbs(file) {
			if info, err := os.Lstat(file); err == nil && !info.IsDir() && v.Sel == nil {
				elsewhere = append(elsewhere, path)
			}
			continue
		}
		if v.Sel != nil && !v.Sel.Has(path) {
			continue
		}
		if e, err := inspect.EntryAt(v.Tx.Load, v.Now, path); err != nil || e != nil {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		info, err := os.Lstat(filepath.Join(v.Root(), filepath.FromSlash(path)))
		if err != nil || info.IsDir() {
			continue
		}
		if today == nil {
			today = v.Today()
		}
		if !today.Captures(path, false) {
			paths = append(paths, path)
		}
	}
	return paths, elsewhere, nil
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
	plan, err := treeio.NewPlan(v.Ctx, treeio.Options{
		Progress: v.PlanProgress(),
		FS:       v.FS, Source: v.Tx, Current: v.Now, Target: target, Select: treeio.NewExactly(paths),
		InScope: v.Today().MayGo, Own: rules.Own(v.Project), Sessions: v.Sessions(), Workers: v.Tx.Workers(),
	})
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
	return plan, nil
}

func (f *fileRevert) edit() treeio.Edit {
	e := treeio.Edit{Path: f.path}
	if f.to != nil {
		e.Entry = *f.to
	}
	return e
}

// tell puts down what the answer says beside the paths.
func (v *reverting) tell() {
	shells := map[*attribution.Work][]string{}
	told := map[string]bool{}
	for _, f := range v.files {
		told[f.path] = f.shared != nil
	}
	for _, s := range v.before {
		if !told[s.Path] {
			v.out.Shared = append(v.out.Shared, *s)
		}
	}
	for _, f := range v.files {
		if f.shared != nil {
			v.out.Shared = append(v.out.Shared, *f.shared)
		}
		if !f.touched {
			continue
		}
		if f.merged && f.changes && f.removed+f.restored > 0 {
			v.out.Merged = append(v.out.Merged, MergedPath{f.path, f.removed, f.restored})
		}
		v.out.Near = append(v.out.Near, f.near...)
		v.out.Conflicts = append(v.out.Conflicts, f.conflicts...)
		v.out.Kept = append(v.out.Kept, f.kept...)
		seen := map[work.RevertedTurn]bool{}
		for _, s := range f.mine {
			w := s.By
			if w == nil {
				continue
			}
			for _, other := range s.Also { // with IncludeShared, the likeliest may be another
				if v.work.Has(w) {
					break
				}
				w = other
			}
			if (s.Class == attribution.Shell || s.AlsoOutside) && f.changes {
				if list := shells[w]; len(list) == 0 || list[len(list)-1] != f.path {
					shells[w] = append(list, f.path)
				}
			}
			t := v.work.TurnOf(w)
			if at := w.Start.UnixNano(); v.first[t] == 0 || at < v.first[t] {
				v.first[t] = at
			}
			if !seen[t] {
				seen[t] = true
				v.turns[t]++
			}
		}
	}
	slices.SortStableFunc(v.out.Shared, func(a, b SharedPath) int { return strings.Compare(a.Path, b.Path) })
	v.out.Shared = slices.CompactFunc(v.out.Shared, func(a, b SharedPath) bool { return a.Path == b.Path }) // one file's names
	for t, n := range v.turns {
		t.Paths = n
		v.out.Turns = append(v.out.Turns, t)
	}
	begin := func(t work.RevertedTurn) int64 { t.Paths = 0; return v.first[t] }
	slices.SortFunc(v.out.Turns, func(a, b work.RevertedTurn) int {
		return cmp.Or(cmp.Compare(begin(a), begin(b)), strings.Compare(a.PromptID, b.PromptID), strings.Compare(a.Prompt, b.Prompt))
	})
	for _, w := range slices.SortedFunc(maps.Keys(shells), func(a, b *attribution.Work) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Call, b.Call))
	}) {
		v.out.Shell = append(v.out.Shell, ShellWork{*w, shells[w]})
	}
}

// choices says for the log what was chosen, and of which paths.
func (v *reverting) choices(plan *treeio.Plan) string {
	if len(v.files) == 0 {
		return ""
	}
	lines := v.work.Line(v.o.IncludeShared, v.Sel == nil && len(plan.Skips) == 0 && len(v.out.Conflicts) == 0)
	for _, c := range v.out.Conflicts {
		choice := c.Choice
		if c.Whole() && choice == work.MarkConflict {
			choice = work.KeepFile // there are no lines to put markers between
		}
		lines = append(lines, oplog.PathLine(c.Path, string(choice))...)
	}
	return string(lines)
}

// statesThere refuses work that is older than every state: what was there before is unknown. What it could have written
// there, and others, stays.
func (v *reverting) statesThere() error {
	oldest := v.who.Oldest()
	if oldest == nil || oldest.Parent == (manifest.CheckpointID{}) {
		return nil // nothing was removed before it
	}
	w := v.work
	gone := &work.StatesGoneError{Time: w.First.Start, Prompt: w.First.Prompt, Oldest: oldest.Time}
	if w.Newest {
		gone.Since = len(w.Turns) // the checkpoints of their prompts are left
	}
	v.gone = gone
	lost, err := v.who.Lost(w.Has)
	if err != nil {
		return err
	}
	if len(lost) == 0 && w.Matched == 0 && w.All && w.Session != "" {
		return v.everThere(gone)
	}
	refuse := false
	for _, l := range lost {
		switch {
		case l.Path != "" && v.Sel != nil && !v.Sel.Has(l.Path), v.doneBefore(&l):
		case l.Sure || v.o.IncludeShared:
			if !refuse || l.Work.Start.Before(gone.Time) {
				gone.Time, gone.Prompt = l.Work.Start, l.Work.Prompt
			}
			refuse = true
			if l.Path != "" {
				gone.Paths = append(gone.Paths, l.Path)
			}
		default:
			if e, err := inspect.EntryAt(v.Tx.Load, v.Now, l.Path); err != nil {
				return err
			} else if e == nil {
				continue // nothing stays
			}
			f := &fileRevert{path: l.Path}
			f.share(&attribution.Step{Path: l.Path, Owner: l.Owner}, v)
			v.before = append(v.before, f.shared)
		}
	}
	if refuse {
		return gone
	}
	return nil
}

// everThere refuses a session of which nothing is left but its name: what it did was removed.
func (v *reverting) everThere(gone error) error {
	return v.Query(v.Ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: v.work.Session, All: true}) {
			if err != nil || c.Session == v.work.Session {
				return err // it did nothing
			}
		}
		return gone
	})
}

// doneBefore reports whether an earlier revert has taken back all of what that was a part of.
func (v *reverting) doneBefore(l *attribution.Lost) bool {
	for _, d := range v.again {
		if d.Whole && len(d.Chosen) == 0 && d.Work.Has(&l.Work) && l.Work.Start.Before(d.Time) && (l.Sure || d.Shared) {
			return true
		}
	}
	return false
}

// beginningsThere refuses work on a path whose state before is unknown: a touch has what a call left, and
// the states before it were removed.
func (v *reverting) beginningsThere(paths []string, steps map[string][]attribution.Step) error {
	if v.gone == nil {
		return nil
	}
	for _, path := range paths {
		s := steps[path]
		if len(s) == 0 || !s[0].Found() {
			continue
		}
		if _, some := s[0].Of(v.work.Has); some {
			return v.gone
		}
	}
	return nil
}
