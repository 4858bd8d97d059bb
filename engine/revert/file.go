package revert

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// fileRevert is one path: its history, and what becomes of it.
type fileRevert struct {
	path     string
	versions []*manifest.Entry   // oldest first, the last is how it is now; nil: nothing there
	steps    []attribution.Step  // steps[i] leads to versions[i+1]
	own      []bool              // by version: its step is to go
	mine     []*attribution.Step // of the work, that go
	now      *manifest.Entry

	to                *manifest.Entry // what it becomes; nil: nothing
	changes           bool            // to differs from now
	decided           bool            // as a part of a rename
	touched           bool            // something of the work is still in it
	merged            bool            // others' lines stay in it
	removed, restored int             // lines
	conflicts         []RevertConflict
	kept              []KeptPart
	near              []NearPart
	going             [][]string // lines that go, those of each place together
	shared            *SharedPath
	left              bool            // what several could have made is there, where none brought the path back before it
	beside            bool            // the work did not touch it: it was another name of a file
	pair              *fileRevert     // the other name of a file that gets its old one back
	at                string          // of a part of a rename: its name now,
	was               *manifest.Entry // and what it is there
	covered           bool            // it goes, and another file comes to its path
}

// fileOf says which of a path's steps are to go; nil where none of it could be.
func (v *reverting) fileOf(path string, steps []attribution.Step) *fileRevert {
	if len(steps) == 0 {
		return nil
	}
	f := v.historyOf(path, steps)
	if !f.touched && f.shared == nil {
		return nil
	}
	return f
}

// historyOf is a path with its steps, of which there are some.
func (v *reverting) historyOf(path string, steps []attribution.Step) *fileRevert {
	f := &fileRevert{path: path, steps: steps, versions: []*manifest.Entry{steps[0].From.Entry}, own: make([]bool, len(steps)+1)}
	for i := range steps {
		s := &steps[i]
		f.versions = append(f.versions, s.To.Entry)
		all, some := s.Of(v.work.Has)
		f.own[i+1] = all || some && v.o.IncludeShared && !writtenLast(s)
		if some && !all {
			f.share(s, v)
		}
		f.touched = f.touched || f.own[i+1]
	}
	if f.touched && v.takenBack(f) {
		f.touched = false
		clear(f.own)
	}
	for i := range steps {
		all, some := steps[i].Of(v.work.Has)
		f.left = f.left || some && !all && f.stays(i)
	}
	f.now = f.versions[len(steps)]
	f.to = f.now
	return f
}

// writtenLast reports whether what a step left is certainly somebody's who is no agent, although an agent may have written to the
// path before that.
func writtenLast(s *attribution.Step) bool {
	return s.By == nil && s.Class == attribution.Shared && manifest.HasContent(s.To.Entry)
}

// stays reports whether the path was not brought back to before the i-th step, or there again. What is to go brought nothing
// back: without it, the step is in the path again.
func (f *fileRevert) stays(i int) bool {
	stays := true
	for j := i + 1; j < len(f.steps); j++ {
		if f.own[j+1] {
			continue
		}
		alike := func(e *manifest.Entry) bool { return manifest.SameEntries(e, f.versions[j+1]) }
		k := slices.IndexFunc(f.versions[:j+1], alike)
		if s := &f.steps[j]; s.Back != 0 {
			k = s.Returned(j+1, f.stepTo, func(k int) bool { return alike(f.versions[k]) })
		}
		if k >= 0 {
			stays = k > i
		}
	}
	return stays
}

// stepTo is the step that made a version; nil for the oldest.
func (f *fileRevert) stepTo(version int) *attribution.Step {
	if version == 0 {
		return nil
	}
	return &f.steps[version-1]
}

// share notes that somebody else could have made a step.
func (f *fileRevert) share(s *attribution.Step, v *reverting) {
	if f.shared == nil {
		f.shared = &SharedPath{Path: f.path, Goes: v.o.IncludeShared}
	}
	if writtenLast(s) {
		f.shared.Last, f.shared.Goes = s == &f.steps[len(f.steps)-1], false
	}
	f.shared.Outside = f.shared.Outside || s.AlsoOutside
	for _, w := range worksOf(s) {
		if !v.work.Has(&w) && !slices.ContainsFunc(f.shared.Also, func(o attribution.Work) bool { return sameWork(&o, &w) }) {
			f.shared.Also = append(f.shared.Also, w)
		}
	}
}

// worksOf are all that could have made a step; one without a session is the person.
func worksOf(s *attribution.Step) (list []attribution.Work) {
	if s.By != nil {
		list = append(list, *s.By)
	}
	for _, w := range s.Also {
		list = append(list, *w)
	}
	if len(list) == 0 {
		list = append(list, attribution.Work{Start: s.To.Time})
	}
	return list
}

// sameWork reports whether two are of one turn.
func sameWork(a, b *attribution.Work) bool {
	return a.Agent == b.Agent && a.Session == b.Session && a.Subagent == b.Subagent && a.PromptID == b.PromptID && a.Prompt == b.Prompt && a.Operation == b.Operation
}

// decideAll finds what each path becomes, several at a time: each has its own history. renames has read what they share.
func (v *reverting) decideAll() error {
	errs := make([]error, len(v.files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for worker := range min(v.Tx.Workers(), len(v.files)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(v.files); i = int(next.Add(1)) - 1 {
				if errs[i] = v.decide(worker, v.files[i]); errs[i] != nil {
					next.Store(int64(len(v.files)))
				}
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// decide finds what the path becomes. The worker is one of the transaction's.
func (v *reverting) decide(worker int, f *fileRevert) error {
	if !f.touched || f.decided {
		return nil
	}
	links, err := f.chain(v)
	if err != nil {
		return err
	}
	own := work.OwnOf(links)
	v.done.Settle(links)
	f.mine = v.done.Going(links)
	if !slices.ContainsFunc(links, func(l work.Link) bool { return l.Own }) {
		f.touched = false // it was taken back already
		return v.leftMarked(f, links, own)
	}
	links = withoutPassing(links)
	exists, base, created := presence(links)
	all := links
	links = links[base:]
	if created >= 0 {
		created -= base
	}
	switch {
	case !slices.ContainsFunc(links[1:], func(l work.Link) bool { return l.Own }):
		v.recreated(f, all, base)
		return nil
	case !exists && f.now == nil && !editedByOthers(links):
		f.touched = false // made, and gone
		return nil
	case !exists && f.now != nil:
		return v.unmake(f, links, created, f.steps)
	}
	for links[len(links)-1].Entry == nil {
		links = links[:len(links)-1] // its deletion alone; what it was then is what it is about
	}
	if err := v.content(worker, f, links); err != nil {
		return err
	}
	v.setMode(f, links)
	if !exists && manifest.HasContent(f.to) && f.to.Kind != manifest.Symlink && f.to.Size == 0 {
		f.to = nil // of what others had put into it, nothing is left
	}
	f.changes = !manifest.SameEntries(f.now, f.to)
	if f.now != nil && f.to != nil && f.now.Kind == manifest.Subdir && f.to.Kind == manifest.Subdir {
		f.changes = f.now.Mode != f.to.Mode
	}
	if !f.changes && len(f.conflicts) == 0 {
		f.touched = false
	}
	return nil
}

// editedByOthers reports whether the last who took the path away is the work, with what others had put into it.
func editedByOthers(links []work.Link) bool {
	edited := false
	for i, l := range links[1:] {
		was := links[i].Entry
		switch {
		case l.Entry == nil && was != nil && !l.Own:
			edited = false
		case l.Entry != nil && was != nil && !l.Own && l.Step.Class != attribution.Operation:
			edited = edited || !manifest.SameContent(l.Entry, was) && l.Entry.Kind != manifest.Subdir
		}
	}
	return edited
}

// unmake takes away what the work made. What others have worked on stays, unless that is chosen. all are the file's steps, also
// those that an operation went back behind.
func (v *reverting) unmake(f *fileRevert, links []work.Link, created int, all []attribution.Step) error {
	var others []*attribution.Step
	edited := false
	for i := max(created, 0) + 1; i < len(links); i++ {
		if edits := !manifest.SameEntries(links[i].Entry, links[i-1].Entry); !links[i].Own && (edits || links[i].Path != links[i-1].Path) {
			others = append(others, links[i].Step)
			edited = edited || edits
		}
	}
	if over, err := v.putOver(links); err != nil {
		return err
	} else if over {
		f.keepWhole(v, "it was written by this work, and others put it in the place of another file")
		by := stepWorks(others)
		f.conflicts[0].By, f.kept[0].By = by, by
		return nil
	}
	f.to, f.changes = nil, true
	if len(others) == 0 && len(v.held[f.path]) > 0 {
		lines, err := v.linesOf(f.now)
		if err != nil {
			return err
		}
		if from := v.heldIn(f.path, lines); from != "" {
			v.wholeConflict(f, links, nil, reasonHeld(from))
			return nil
		}
	}
	if len(others) == 0 && created >= 0 && manifest.HasContent(f.now) {
		for _, w := range v.who.WroteSame(all, links[created].Step, v.Scan.WrittenAt(f.path)) {
			if !v.work.Has(w) {
				others = append(others, &attribution.Step{Owner: attribution.Owner{Class: attribution.Declared, By: w}})
			}
		}
		if len(others) > 0 {
			v.wholeConflict(f, links, others, "it was made by this work, and written again since")
			return nil
		}
	}
	if len(others) > 0 && f.now.Kind != manifest.Subdir {
		reason := "it was made by this work, and edited since"
		if !edited {
			reason = "it was made by this work, and renamed since"
		}
		v.wholeConflict(f, links, others, reason)
	}
	return nil
}

// recreated is about what the work took away, where others made something else with the base-th version: it cannot come
// back beside that.
func (v *reverting) recreated(f *fileRevert, links []work.Link, base int) {
	f.touched = false
	gone := base - 1
	for gone >= 0 && links[gone].Entry == nil {
		gone--
	}
	if gone < 0 || !links[gone+1].Own || f.now == nil || manifest.SameEntries(links[gone].Entry, f.now) || manifest.SameKindDir(links[gone].Entry, f.now) {
		return
	}
	if there, _, _ := presence(links[:gone+1]); !there {
		return // the work had made it
	}
	for _, s := range slices.Backward(f.steps) {
		if s.Class != attribution.Operation {
			continue
		}
		if d := v.done.Of(&s); d != nil && d.Has(links[gone+1].Step) {
			return // a revert has taken it back as far as it can be
		}
		break
	}
	var others []*attribution.Step
	for _, l := range links[base:] {
		others = append(others, l.Step)
	}
	first := slices.IndexFunc(links, func(l work.Link) bool { return l.Own })
	f.to, f.touched, f.changes = links[first-1].Entry, true, true
	v.wholeConflict(f, links, others, "removed by this work, and others made something else there")
}

// register finds what a path without lines becomes: what others set last. Content that others set after the
// work may be made of it; that cannot be known.
func (v *reverting) register(f *fileRevert, links []work.Link) {
	value, before := links[0].Entry, links[0].Entry
	var mine bool // the work set it
	var others []*attribution.Step
	f.to = value
	for i, l := range links[1:] {
		if l.Entry == nil || manifest.SameContent(l.Entry, before) || manifest.SameKindDir(l.Entry, before) {
			continue
		}
		before = l.Entry
		switch {
		case l.Own:
			mine = true
		default:
			value = l.Entry
			if mine && l.Entry.Kind != manifest.Symlink && l.Entry.Kind != manifest.Subdir {
				others = append(others, links[i+1].Step)
			}
		}
	}
	f.to = value
	if len(others) == 0 {
		return
	}
	first := slices.IndexFunc(links, func(l work.Link) bool { return l.Own })
	f.to = links[first-1].Entry
	reason := "it is no text, and was changed again since"
	if slices.ContainsFunc(links, func(l work.Link) bool { return l.Entry != nil && l.Entry.Size > patch.MaxText }) {
		reason = "it is too large to be looked at line by line, and was changed again since"
	}
	v.wholeConflict(f, links, others, reason)
}
