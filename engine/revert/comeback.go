package revert

import (
	"cmp"
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// An operation brings files back that are known: what it puts under a name is what had that name, although their texts
// may tell nothing, too little, or of a copy.

// settle follows the files through what operations did, and through renames that only seem to be some, the oldest first: a
// file's name before a step has to be known for that.
func (t *trails) settle() {
	type at struct {
		f *fileRevert
		i int
	}
	steps := map[uint64][]at{}
	for _, path := range sortedKeys(t.files) {
		f := t.files[path]
		for i := range f.steps {
			if _, renamed := t.came[placeOf(&f.steps[i], false)]; renamed || f.steps[i].Class == attribution.Operation {
				steps[f.steps[i].To.Seq] = append(steps[f.steps[i].To.Seq], at{f, i})
			}
		}
	}
	for _, seq := range sortedKeys(steps) {
		for _, s := range steps[seq] {
			t.endCopy(s.f, s.i)
			t.putBack(s.f, s.i)
		}
		for _, s := range steps[seq] {
			t.moveBack(s.f, s.i)
		}
		for _, s := range steps[seq] {
			t.cover(s.f, s.i)
		}
	}
}

// putBack finds where the file was that an operation puts back with a path's i-th step: what the path held earlier is the
// same file, whatever it is called by then.
func (t *trails) putBack(f *fileRevert, i int) {
	to := placeOf(&f.steps[i], false)
	k := f.putBack(i)
	if _, renamed := t.came[to]; k < 0 || renamed || !manifest.HasContent(f.versions[i+1]) {
		return
	}
	was, n := t.before(f, k, to.seq)
	if was == nil || was == f || n == len(was.steps) || was.steps[n].To.Seq != to.seq || !was.mayMove(n) {
		return // it was gone, or here, or it stays where it is
	}
	from := placeOf(&was.steps[n], true)
	if _, renamed := t.went[from]; !renamed {
		t.went[from], t.came[to] = to, from
	}
}

// cover ends a file where an operation put another one at its path, which came from nowhere, or nothing: that was gone, or is
// a copy of what is elsewhere. Where somebody had moved the file here, the operation took only the new name back, unless it was
// undone: at the old one the file is gone.
func (t *trails) cover(f *fileRevert, i int) {
	at := placeOf(&f.steps[i], false)
	k := f.putBack(i)
	if _, renamed := t.came[at]; k < 0 || renamed {
		return
	}
	if manifest.HasContent(f.versions[i+1]) {
		if was, _ := t.before(f, k, at.seq); was == f {
			return
		}
		t.anew[at] = true
	}
	_, goes := t.went[placeOf(&f.steps[i], true)]
	if goes || !manifest.HasContent(f.versions[i]) || t.v.again.Of(&f.steps[i]) != nil {
		return
	}
	for j := i - 1; j >= k; j-- {
		to := placeOf(&f.steps[j], false)
		from, renamed := t.came[to]
		if !renamed {
			continue
		}
		for m := i + 1; m < len(f.steps); m++ {
			if back := f.putBack(m); back > j && back <= i {
				return
			}
		}
		delete(t.came, to)
		delete(t.went, from)
		return
	}
}

// putBack is the version before a path's i-th step that an operation put back with that; -1 where it did not.
func (f *fileRevert) putBack(i int) int {
	if f.steps[i].Class != attribution.Operation {
		return -1
	}
	there := manifest.HasContent(f.versions[i+1])
	return f.steps[i].Returned(i, f.stepTo, func(k int) bool {
		return manifest.HasContent(f.versions[k]) == there && (!there || manifest.SameContent(f.versions[k], f.versions[i+1]))
	})
}

// before follows a path's i-th version through its names to a look: under which name, and as which of its versions, the look
// found the file before it. nil: it was gone.
func (t *trails) before(f *fileRevert, i int, seq uint64) (*fileRevert, int) {
	for i < len(f.steps) && f.steps[i].To.Seq < seq {
		s := &f.steps[i]
		to, moved := t.went[placeOf(s, true)]
		_, another := t.came[placeOf(s, false)]
		another = another || t.anew[placeOf(s, false)]
		switch {
		case moved:
			if f = t.files[to.path]; f == nil || f.stepAt(to.seq) < 0 {
				return nil, 0
			}
			i = f.stepAt(to.seq) + 1
		case another || !manifest.HasContent(f.versions[i+1]):
			return nil, 0
		default:
			i++
		}
	}
	return f, i
}

// stepAt is the step of a path with a look's sequence number; -1 for none.
func (f *fileRevert) stepAt(seq uint64) int {
	return slices.IndexFunc(f.steps, func(s attribution.Step) bool { return s.To.Seq == seq })
}

// endCopy lets a copy end where it takes the place of what it was copied from: that is one file all the time.
func (t *trails) endCopy(f *fileRevert, i int) {
	to := placeOf(&f.steps[i], false)
	from, renamed := t.came[to]
	copied := t.files[from.path]
	if !renamed || !manifest.HasContent(f.versions[i]) || copied == nil || copied.stepAt(from.seq) < 0 {
		return
	}
	made := t.past(copied, copied.stepAt(from.seq))
	first := made[len(made)-1]
	if first.seq == 0 {
		return // nobody made it
	}
	if slices.ContainsFunc(t.past(f, i), func(v past) bool {
		return v.seq < first.seq && manifest.SameContent(v.entry, first.entry)
	}) {
		delete(t.came, to)
		delete(t.went, from)
	}
}

// past is a version of a file, and the look that found it first: 0 for what was there before all.
type past struct {
	entry *manifest.Entry
	seq   uint64
}

// past are the versions of a file under all its names, from a path's i-th back to the first.
func (t *trails) past(f *fileRevert, i int) (list []past) {
	for {
		v := past{entry: f.versions[i]}
		if i > 0 {
			v.seq = f.steps[i-1].To.Seq
		}
		list = append(list, v)
		if i == 0 {
			return list
		}
		if from, renamed := t.came[placeOf(&f.steps[i-1], false)]; renamed {
			if f = t.files[from.path]; f == nil || f.stepAt(from.seq) < 0 {
				return list
			}
			i = f.stepAt(from.seq)
		} else if t.anew[placeOf(&f.steps[i-1], false)] {
			i = f.putBack(i - 1)
		} else if i--; !manifest.HasContent(f.versions[i]) {
			return list
		}
	}
}

// moveBack detects that a revert took a rename back: the file goes from the name that the work gave it, while its old name is
// made again. It counts as a move however many lines the revert removed.
func (t *trails) moveBack(f *fileRevert, i int) {
	d := t.v.again.Of(&f.steps[i])
	at := placeOf(&f.steps[i], true)
	if _, renamed := t.went[at]; d == nil || renamed || !f.mayMove(i) || !manifest.HasContent(f.versions[i]) {
		return
	}
	for _, old := range t.namesBefore(f, i, d) {
		if to := (place{old, at.seq, false}); t.madeAt(to) {
			t.went[at], t.came[to] = to, at
			return
		}
	}
}

// namesBefore are the names that a path's i-th version had before a revert's work renamed it, the newest first.
func (t *trails) namesBefore(f *fileRevert, i int, d *work.Done) (names []string) {
	for ; i > 0; i-- {
		step := &f.steps[i-1]
		from, renamed := t.came[placeOf(step, false)]
		switch {
		case !manifest.HasContent(f.versions[i]):
			return names
		case !renamed && step.Class == attribution.Operation:
			if k := f.before(i); k > 0 {
				i = k + 1 // as it was before it went
			}
			continue
		case !renamed:
			continue
		}
		old := t.files[from.path]
		if old == nil {
			return names
		}
		at := slices.IndexFunc(old.steps, func(s attribution.Step) bool { return placeOf(&s, true) == from })
		if at < 0 {
			return names
		}
		if d.Has(step) || d.Has(&old.steps[at]) {
			names = append(names, from.path)
		}
		f, i = old, at+1 // the version before that step is the next
	}
	return names
}

// before is the version that an operation brought back with a path's i-th; 0 for none, or where it is the first.
func (f *fileRevert) before(i int) int {
	return max(0, f.steps[i-1].Returned(i, f.stepTo, func(k int) bool {
		return k > 0 && manifest.HasContent(f.versions[k]) && manifest.SameContent(f.versions[k], f.versions[i])
	}))
}

// madeAt reports whether something came to a path, of which it is not known from where.
func (t *trails) madeAt(at place) bool {
	f := t.files[at.path]
	if _, renamed := t.came[at]; f == nil || renamed {
		return false
	}
	i := slices.IndexFunc(f.steps, func(s attribution.Step) bool { return placeOf(&s, false) == at })
	return i >= 0 && manifest.HasContent(f.versions[i+1]) && f.mayMove(i)
}

// comeBack joins trails: a file of which another took the place is the one that an operation brings back to one of its
// names. No path of the same look lost it, so no rename tells.
func (t *trails) comeBack(all []*trail) []*trail {
	begins := func(tr *trail) int {
		i := slices.IndexFunc(tr.links, func(l work.Link) bool { return l.Entry != nil })
		if s := tr.links[i].Step; s == nil || s.Class != attribution.Operation {
			return -1
		}
		if _, renamed := t.came[placeOf(tr.links[i].Step, false)]; renamed {
			return -1
		}
		return i
	}
	back := slices.DeleteFunc(slices.Clone(all), func(tr *trail) bool { return begins(tr) < 0 })
	slices.SortStableFunc(back, func(a, b *trail) int {
		return cmp.Compare(a.links[begins(a)].Step.To.Seq, b.links[begins(b)].Step.To.Seq)
	})
	for _, tr := range back {
		links := tr.links[begins(tr):]
		var gone *trail
		best, ended := 0, uint64(0)
		for _, other := range all {
			n := other.isBack(&links[0], t.v.again)
			if other == tr || n == 0 {
				continue
			}
			if at := other.links[other.ends()].Step.To.Seq; gone == nil || n > best || n == best && at > ended {
				gone, best, ended = other, n, at
			}
		}
		if gone == nil {
			continue
		}
		gone.links, gone.at, gone.now = append(gone.links[:gone.ends()+1], links...), tr.at, tr.now
		all = slices.DeleteFunc(all, func(other *trail) bool { return other == tr })
	}
	return all
}

// ends is the link with which the file went, or its last one: its name may have been another's since.
func (tr *trail) ends() int {
	last := len(tr.links) - 1
	for last > 0 && tr.links[last].Entry == nil && tr.links[last-1].Entry == nil {
		last--
	}
	return last
}

// isBack says how surely what an operation made is a file that was gone: 0 where it is not.
func (tr *trail) isBack(made *work.Link, done work.Reverts) (sure int) {
	last := tr.ends()
	if tr.links[last].Entry != nil || last == 0 || tr.links[last].Step.To.Seq > made.Step.To.Seq {
		return 0
	}
	d := done.Of(made.Step)
	for _, l := range tr.links[:last] {
		switch {
		case l.Entry == nil || l.Path != made.Path:
		case manifest.SameContent(l.Entry, made.Entry):
			return 2
		case d != nil && d.Has(tr.links[last].Step): // without lines of the work, it may be
			sure = 1
		}
	}
	return sure
}
