package engine

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
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// reverting is one revert, from the look at the tree to its plan.
type reverting struct {
	*restoring
	o   RevertOptions
	out *Reverted

	versions *versions
	who      *attribution.Attribution
	work     *workChosen
	files    []*fileRevert          // by path
	held     map[string][]heldLines // by the path as it is now
	gone     *StatesGoneError       // what is said where it was; nil: no state was removed before the oldest
	before   []*SharedPath          // what the work could have written in front of the oldest state
	skips    []problem.Problem
	turns    map[RevertedTurn]int
	first    map[RevertedTurn]int64 // when its work began
	done     reverts
	again    reverts // done, and the operations that did one of them again
}

// plan plans what the person asked for; nil where there is nothing to do.
func (v *reverting) plan() (*restore.Plan, error) {
	now, err := v.present()
	if err != nil {
		return nil, err
	}
	if v.who, err = attribution.New(v.ctx, v.Project, attribution.Options{Now: now}); err != nil {
		return nil, err
	}
	v.versions = newVersions(v.Project, v.tx.Get)
	if v.done, v.again, err = readReverts(v.ctx, v.Project); err != nil {
		return nil, err
	}
	if v.work, err = chooseWork(v.ctx, v.Project, v.o.Work, v.who); err != nil {
		return nil, err
	}
	paths, err := v.who.Paths(v.work.seen)
	if err != nil {
		return nil, err
	}
	v.out.Wrote = len(paths)
	if err := v.statesThere(); err != nil {
		return nil, err
	}
	if v.sel != nil {
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
	v.turns, v.first = map[RevertedTurn]int{}, map[RevertedTurn]int64{}
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
	if slices.ContainsFunc(v.out.Conflicts, func(c RevertConflict) bool { return c.Choice == RefuseConflicts }) {
		return nil, &ConflictError{v.out}
	}
	plan := &restore.Plan{}
	if target != v.now {
		if plan, err = v.planFiles(target); err != nil {
			return nil, err
		}
	}
	plan.Skips = append(plan.Skips, v.skips...)
	v.op.Choices = v.choices(plan)
	slices.SortFunc(plan.Skips, func(a, b problem.Problem) int { return strings.Compare(a.Path, b.Path) })
	return plan, nil
}

// decideFiles finds what each path becomes.
func (v *reverting) decideFiles(paths []string, steps map[string][]attribution.Step) error {
	v.files, v.skips, v.out.Moved, v.out.MovedAsIs = nil, nil, nil, nil
	for i, path := range paths {
		if err := v.ctx.Err(); err != nil {
			return err
		}
		if told := v.told(); told != nil {
			told(restore.Done{Step: "plan", Files: int64(i + 1)})
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
	if slices.ContainsFunc(paths, func(p string) bool { return !v.sel.Has(p) }) {
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
				named[l.path] = named[l.path] || v.sel.Has(t.at)
			}
		}
	}
	for _, p := range paths {
		if v.sel.Has(p) || named[p] {
			list = append(list, p)
		}
	}
	return list, nil
}

// chosenExist refuses (*NoPathError) an argument that names neither what the work changed nor anything that is there.
func (v *reverting) chosenExist(paths []string) error {
	others, err := pathspec.Unmatched(v.restoring.o.Paths, paths)
	if err != nil {
		return err
	}
	return pathspec.MatchSome(v.tx.Load, others, v.now)
}

// present is the tree as it is, with what hooks have left since the newest checkpoint.
func (v *reverting) present() (*attribution.Present, error) {
	newest, err := v.NewestCheckpoint()
	if err != nil {
		return nil, err
	}
	now := &attribution.Present{Time: v.Env.Time(), Root: v.now, Load: v.tx.Load, Windows: window.Pending(v.Project)}
	if newest != nil {
		now.At, err = v.scan.Written(newest.Root)
	}
	return now, err
}

// unread leaves alone what the scan could not read, or no longer captures: it is there, whatever the tree says. It
// should have been reverted, unless nothing of the work was left in it when it was last seen.
func (v *reverting) unread(f *fileRevert) error {
	if f.now != nil || !f.touched || !problem.UnreadOf(v.scan.Problems).Has(f.path) {
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
	if slices.ContainsFunc(links, func(l link) bool { return l.own }) {
		v.skipUnread(f.path)
	}
	return nil
}

// skipUnread notes why a path stays as it is, which should have been reverted.
func (v *reverting) skipUnread(path string) {
	p := problem.Problem{Path: path, Reason: "it cannot be read as it is now"}
	for _, found := range v.scan.Problems {
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
	for _, path := range v.who.Declared(v.work.has) {
		if file := filepath.FromSlash(path); filepath.IsAbs(file) {
			if info, err := os.Lstat(file); err == nil && !info.IsDir() && v.sel == nil {
				elsewhere = append(elsewhere, path)
			}
			continue
		}
		if v.sel != nil && !v.sel.Has(path) {
			continue
		}
		if e, err := entryAt(v.tx.Load, v.now, path); err != nil || e != nil {
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
			today = rules.Today(v.Project, v.fs)
		}
		if !today.Captures(path, false) {
			paths = append(paths, path)
		}
	}
	return paths, elsewhere, nil
}

// back is how many prompts the conversation can go back instead; 0 where it cannot, or is as it was.
func (v *reverting) back() int {
	n := len(v.work.turns)
	if v.o.DryRun || n == 0 || !v.work.newest || v.work.call != "" || v.work.subagent != "" || v.sel != nil {
		return 0
	}
	s, err := conversation.ChooseSession(v.ctx, v.Project, v.work.session)
	if err != nil {
		return 0
	}
	if place, err := conversation.BeforePrompt(v.ctx, v.Project, s, n); err != nil || !place.There() || !place.Exact {
		return 0
	}
	return n
}

// planFiles plans the way to the target on the paths that change. What is there is read once more: it has to be
// what the lines were taken from.
func (v *reverting) planFiles(target oid.ID) (*restore.Plan, error) {
	var paths []string
	was := map[string]*manifest.Entry{}
	for _, f := range v.files {
		if f.changes {
			paths = append(paths, f.path)
			was[f.path] = f.now
		}
	}
	plan, err := restore.NewPlan(v.ctx, restore.Options{
		Progress: v.told(),
		FS:       v.fs, Source: v.tx, Current: v.now, Target: target, Select: restore.NewExactly(paths),
		InScope: rules.Today(v.Project, v.fs).MayGo, Store: rules.StorePath(v.Project), Workers: v.tx.Workers(),
	})
	if err != nil {
		return nil, err
	}
	if err := plan.Read(v.ctx, v.tx); err != nil {
		return nil, err
	}
	for _, c := range plan.Changes {
		if old, ok := was[c.Path]; ok && c.Before.Kind != manifest.Subdir && c.Action != restore.Create && c.Action != restore.Mode && !sameEntries(&c.Before, old) {
			return nil, &ChangedSinceError{c.Path}
		}
	}
	return plan, nil
}

func (f *fileRevert) edit() restore.Edit {
	e := restore.Edit{Path: f.path}
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
		seen := map[RevertedTurn]bool{}
		for i := range f.steps {
			if !f.own[i+1] || f.steps[i].By == nil {
				continue
			}
			w := f.steps[i].By
			for _, other := range f.steps[i].Also { // with IncludeShared, the likeliest may be another
				if v.work.has(w) {
					break
				}
				w = other
			}
			if (f.steps[i].Class == attribution.Shell || f.steps[i].AlsoOutside) && f.changes {
				if list := shells[w]; len(list) == 0 || list[len(list)-1] != f.path {
					shells[w] = append(list, f.path)
				}
			}
			t := v.work.turnOf(w)
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
	begin := func(t RevertedTurn) int64 { t.Paths = 0; return v.first[t] }
	slices.SortFunc(v.out.Turns, func(a, b RevertedTurn) int {
		return cmp.Or(cmp.Compare(begin(a), begin(b)), strings.Compare(a.PromptID, b.PromptID), strings.Compare(a.Prompt, b.Prompt))
	})
	for _, w := range slices.SortedFunc(maps.Keys(shells), func(a, b *attribution.Work) int {
		return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.Call, b.Call))
	}) {
		v.out.Shell = append(v.out.Shell, ShellWork{*w, shells[w]})
	}
}

// choices says for the log what was chosen, and of which paths.
func (v *reverting) choices(plan *restore.Plan) string {
	if len(v.files) == 0 {
		return ""
	}
	lines := v.work.line(v.o.IncludeShared, v.sel == nil && len(plan.Skips) == 0 && len(v.out.Conflicts) == 0)
	for _, c := range v.out.Conflicts {
		choice := c.Choice
		if c.Whole() && choice == MarkConflict {
			choice = KeepFile // there are no lines to put markers between
		}
		lines = append(lines, pathLine(c.Path, string(choice))...)
	}
	return string(lines)
}

// statesThere refuses work that lies in front of every state: nobody knows what was there before. What it could have written
// there, and others, stays.
func (v *reverting) statesThere() error {
	oldest := v.who.Oldest()
	if oldest == nil || oldest.Parent == (manifest.CheckpointID{}) {
		return nil // nothing was removed before it
	}
	w := v.work
	gone := &StatesGoneError{Time: w.first.Start, Prompt: w.first.Prompt, Oldest: oldest.Time}
	if w.newest {
		gone.Since = len(w.turns) // the checkpoints of their prompts are left
	}
	v.gone = gone
	lost, err := v.who.Lost(w.has)
	if err != nil {
		return err
	}
	if len(lost) == 0 && w.matched == 0 && w.all && w.session != "" {
		return v.everThere(gone)
	}
	refuse := false
	for _, l := range lost {
		switch {
		case l.Path != "" && v.sel != nil && !v.sel.Has(l.Path), v.doneBefore(&l):
		case l.Sure || v.o.IncludeShared:
			if !refuse || l.Work.Start.Before(gone.Time) {
				gone.Time, gone.Prompt = l.Work.Start, l.Work.Prompt
			}
			refuse = true
			if l.Path != "" {
				gone.Paths = append(gone.Paths, l.Path)
			}
		default:
			if e, err := entryAt(v.tx.Load, v.now, l.Path); err != nil {
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
	return v.Query(v.ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: v.work.session, All: true}) {
			if err != nil || c.Session == v.work.session {
				return err // it did nothing
			}
		}
		return gone
	})
}

// doneBefore reports whether an earlier revert has taken back all of what that was a part of.
func (v *reverting) doneBefore(l *attribution.Lost) bool {
	for _, d := range v.again {
		if d.whole && len(d.chosen) == 0 && d.work.has(&l.Work) && l.Work.Start.Before(d.time) && (l.Sure || d.shared) {
			return true
		}
	}
	return false
}

// beginningsThere refuses work on a path of which nobody knows what it was before: a touch tells what a call left, and
// the states in front of it were removed.
func (v *reverting) beginningsThere(paths []string, steps map[string][]attribution.Step) error {
	if v.gone == nil {
		return nil
	}
	for _, path := range paths {
		s := steps[path]
		if len(s) == 0 || !s[0].Found() {
			continue
		}
		if _, some := s[0].Of(v.work.has); some {
			return v.gone
		}
	}
	return nil
}
