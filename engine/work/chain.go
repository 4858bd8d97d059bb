package work

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/manifest"
)

// Link is a version that has a part in how the path is now, and whether its step is to go.
type Link struct {
	Entry *manifest.Entry
	Own   bool
	Step  *attribution.Step // nil of the oldest
	Path  string            // of a trail: its name then
}

// Reverts reports whether a revert made it.
func (l *Link) Reverts() bool {
	return l.Step != nil && l.Step.Class == attribution.Operation && l.Step.By != nil && l.Step.By.Tool == string(manifest.OpRevert)
}

// WayBack are the versions that lead to the newest one.
func (r Reverts) WayBack(all []Link, strict bool) (links []Link) {
	// Each version's place on its way, and what is before that.
	at, before := make([]int, len(all)), make([]int, len(all))
	for i := range all {
		if at[i], before[i] = i, -1; i > 0 {
			before[i] = at[i-1]
		}
		if i == 0 || all[i].Step.Class != attribution.Operation {
			continue
		}
		d := r.Of(all[i].Step)
		back := all[i].Step.Returned(i, func(k int) *attribution.Step { return all[k].Step }, func(k int) bool {
			return sameVersion(all[k], all[i]) && (!strict || d == nil || d.undid(all, i) || onlyOf(d, all, before, at[i-1], at[k]))
		})
		if back >= 0 {
			at[i] = at[back]
		}
	}
	for i := at[len(all)-1]; i >= 0; i = before[i] {
		links = append(links, all[i])
	}
	slices.Reverse(links)
	return links
}

// StateOf is the newest link of the state that the operation which made the j-th one says it brought back; nil where that is not
// known, or no operation made it.
func StateOf(links []Link, j int) *int {
	s := links[j].Step
	if s == nil || s.Back == 0 {
		return nil
	}
	for j--; j > 0 && links[j].Step != nil && links[j].Step.To.Seq > s.Back; j-- {
	}
	return &j
}

// undid reports whether a revert took back the others' part with the work's at each place of the j-th version where it met
// one. What was there before both is whose it was then.
func (d *Done) undid(links []Link, j int) bool {
	chosen := d.ChoicesFor(links, j)
	return len(chosen) > 0 && !slices.ContainsFunc(chosen, func(c ConflictChoice) bool { return c != UndoBlock })
}

// onlyOf reports whether a version is on the way to another, and all between them is a revert's work.
func onlyOf(d *Done, all []Link, before []int, from, to int) bool {
	for ; from != to; from = before[from] {
		if from < 0 || all[from].Step == nil || !d.Has(all[from].Step) {
			return false
		}
	}
	return true
}

// sameVersion reports whether a version equals an earlier one, so that an operation went back to it. What a revert made
// is its own, as settle has to know whose work it took back: it does not go back to what another one had made, that was
// undone.
func sameVersion(was, is Link) bool {
	if is.Reverts() && was.Reverts() {
		return false
	}
	return was.Path == is.Path && (manifest.SameEntries(was.Entry, is.Entry) || manifest.SameKindDir(was.Entry, is.Entry) && was.Entry.Mode == is.Entry.Mode)
}
