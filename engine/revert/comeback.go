package revert

import (
	"cmp"
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// An operation brings files back that are known: what it puts under a name is what had that name, although their texts
// may tell nothing, or too little.

// moveBack finds the renames that reverts took back: what goes from a name which the work had given it, while its old name
// is made again, went there, however much of it the revert took out.
func (t *trails) moveBack() {
	for _, path := range sortedKeys(t.files) {
		f := t.files[path]
		for i := range f.steps {
			d := t.v.again.Of(&f.steps[i])
			at := placeOf(&f.steps[i], true)
			if _, renamed := t.went[at]; d == nil || renamed || !f.mayMove(i) || !manifest.HasContent(f.versions[i]) {
				continue
			}
			for _, old := range t.namesBefore(f, i, d) {
				if to := (place{old, at.seq, false}); t.madeAt(to) {
					t.went[at], t.came[to] = to, at
					break
				}
			}
		}
	}
}

// moveAgain finds the renames that taking an operation back made: what that had moved goes back to where it came from, with
// the very contents, whatever its lines say by now.
func (t *trails) moveAgain() {
	for _, path := range sortedKeys(t.files) {
		f := t.files[path]
		for i := range f.steps {
			at := placeOf(&f.steps[i], false)
			if f.steps[i].Class != attribution.Operation || !manifest.HasContent(f.versions[i+1]) || !t.madeAt(at) {
				continue
			}
			for k := i - 1; k > 0; k-- {
				to, moved := t.went[placeOf(&f.steps[k], true)]
				if !moved || f.steps[k].Class != attribution.Operation || !manifest.HasContent(f.versions[k]) || !manifest.SameContent(f.versions[k], f.versions[i+1]) {
					continue
				}
				if from := (place{to.path, at.seq, true}); t.holds(from, to) {
					t.went[from], t.came[at] = at, from
				}
				break
			}
		}
	}
}

// holds reports whether what went from a path is what had come there, and its place now is unknown.
func (t *trails) holds(from, came place) bool {
	f := t.files[from.path]
	if _, renamed := t.went[from]; f == nil || renamed {
		return false
	}
	went := slices.IndexFunc(f.steps, func(s attribution.Step) bool { return placeOf(&s, true) == from })
	was := slices.IndexFunc(f.steps, func(s attribution.Step) bool { return placeOf(&s, false) == came })
	return was >= 0 && went > was && manifest.HasContent(f.versions[went]) && manifest.SameContent(f.versions[went], f.versions[was+1])
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

// before is the newest version before a path's i-th that held the same; 0 for none, or where it is the first.
func (f *fileRevert) before(i int) int {
	for k := i - 1; k > 0; k-- {
		if manifest.HasContent(f.versions[k]) && manifest.SameContent(f.versions[k], f.versions[i]) {
			return k
		}
	}
	return 0
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
