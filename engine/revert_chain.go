package engine

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/manifest"
)

// link is a version that has a part in how the path is now, and whether its step is to go.
type link struct {
	entry *manifest.Entry
	own   bool
	step  *attribution.Step // nil of the oldest
	path  string            // of a trail: its name then
}

// reverts reports whether a revert made it.
func (l *link) reverts() bool {
	return l.step != nil && l.step.Class == attribution.Operation && l.step.By != nil && l.step.By.Tool == string(manifest.OpRevert)
}

// chain are the versions that have a part in how the path is now.
func (f *fileRevert) chain(v *reverting) ([]link, error) { return v.chainOf(f.links()) }

// links are all versions.
func (f *fileRevert) links() []link {
	links := make([]link, len(f.versions))
	for i := range links {
		links[i] = link{entry: f.versions[i], own: f.own[i]}
		if i > 0 {
			links[i].step = &f.steps[i-1]
		}
	}
	return links
}

// chainOf leaves out what an operation went back behind: a restore, or what took it back. In a text a revert goes back
// only where all since then was of the work that it took: equal lines may be others'.
func (v *reverting) chainOf(all []link) ([]link, error) {
	loose, strict := v.done.wayBack(all, false), v.done.wayBack(all, true)
	if len(loose) == len(strict) {
		return loose, nil
	}
	texts := v.versions.texts(0)
	for _, l := range strict {
		if l.entry == nil {
			continue
		}
		if !hasContent(l.entry) || l.entry.Kind == manifest.Symlink || l.entry.Size > patch.MaxText {
			return loose, nil
		}
		if _, ok, err := texts.text(l.entry, patch.IsText); err != nil || !ok {
			return loose, err
		}
	}
	return strict, nil
}

// wayBack are the versions that lead to the newest one.
func (r reverts) wayBack(all []link, strict bool) (links []link) {
	// Each version's place on its way, and what is before that.
	at, before := make([]int, len(all)), make([]int, len(all))
	for i := range all {
		if at[i], before[i] = i, -1; i > 0 {
			before[i] = at[i-1]
		}
		if i == 0 || all[i].step.Class != attribution.Operation {
			continue
		}
		d := r.of(all[i].step)
		for k := i - 1; k >= 0; k-- {
			if sameVersion(all[k], all[i]) && (!strict || d == nil || d.undid(all, i) || onlyOf(d, all, before, at[i-1], at[k])) {
				at[i] = at[k]
				break
			}
		}
	}
	for i := at[len(all)-1]; i >= 0; i = before[i] {
		links = append(links, all[i])
	}
	slices.Reverse(links)
	return links
}

// undid reports whether a revert took back the others' part with the work's at each place of the j-th version where it met
// one. What was there before both is whose it was then.
func (d *doneRevert) undid(links []link, j int) bool {
	chosen := d.choicesFor(links, j)
	return len(chosen) > 0 && !slices.ContainsFunc(chosen, func(c ConflictChoice) bool { return c != UndoBlock })
}

// onlyOf reports whether a version is on the way to another, and all between them is a revert's work.
func onlyOf(d *doneRevert, all []link, before []int, from, to int) bool {
	for ; from != to; from = before[from] {
		if from < 0 || all[from].step == nil || !d.has(all[from].step) {
			return false
		}
	}
	return true
}

// sameVersion reports whether a version equals an earlier one, so that an operation went back to it. What a revert made
// is its own, as settle has to know whose work it took back: it does not go back to what another one had made, that was
// undone.
func sameVersion(was, is link) bool {
	if is.reverts() && was.reverts() {
		return false
	}
	return was.path == is.path && (sameEntries(was.entry, is.entry) || sameKindDir(was.entry, is.entry) && was.entry.Mode == is.entry.Mode)
}

// withoutPassing leaves out what others put where the work had taken something away, and took away again: that was another
// file, and is no reason for the first one not to come back.
func withoutPassing(links []link) []link {
	for gone := 1; gone < len(links); gone++ {
		if !another(links, gone) {
			continue
		}
		for i := gone + 2; i < len(links); i++ {
			if links[i].entry != nil {
				continue
			}
			if !links[i].own {
				links = slices.Concat(links[:gone+1], links[i+1:])
				gone-- // there may be one more
			}
			break
		}
	}
	return links
}

// another reports whether a step took a path away, and others put something else there with the next.
func another(links []link, gone int) bool {
	if gone == 0 || gone+1 >= len(links) {
		return false
	}
	was, next := links[gone-1].entry, &links[gone+1]
	return links[gone].own && links[gone].entry == nil && was != nil && next.entry != nil && next.path == links[gone].path &&
		!next.own && next.step.Class != attribution.Operation && !sameEntries(next.entry, was)
}

// standing says whether there is anything, which is what others set last; from which version on it counts, since others
// made the path anew with it; and which one of the work's made it, -1 for none.
func standing(links []link) (exists bool, base, created int) {
	exists, created = links[0].entry != nil, -1
	for i := 1; i < len(links); i++ {
		there := links[i].entry != nil
		if there == (links[i-1].entry != nil) {
			continue
		}
		if links[i].own {
			if there {
				created = i
			}
			continue
		}
		exists, created = there, -1
		if there {
			base = i // whatever was before it
		}
	}
	return exists, base, created
}
