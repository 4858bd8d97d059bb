package revert

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// takenBack reports whether a revert of the same work has taken all of it out of a path, and neither the work nor
// an operation has changed that since: then nothing of it is left there, whatever others made of what the revert left.
func (v *reverting) takenBack(f *fileRevert) bool {
	var since uint64 // of the work's newest step, or the newest operation's
	for i, s := range slices.Backward(f.steps) {
		if f.own[i+1] {
			since = s.To.Seq
			break
		}
		if s.Class == attribution.Operation {
			if d := v.done.Of(&s); d != nil && d.Took(v.work, v.o.IncludeShared) {
				return true
			}
			since = s.To.Seq
			break
		}
	}
	for seq, d := range v.again {
		if seq >= since && d.Whole && d.Took(v.work, v.o.IncludeShared) {
			return true
		}
	}
	return false
}

// leftMarked tells of lines of the work that are there although nothing of it is left to be taken back. own says of the
// links which were the work's before earlier reverts were taken into account.
func (v *reverting) leftMarked(f *fileRevert, links []work.Link, own []bool) error {
	marked := false
	for j, l := range links {
		d := v.done.Of(l.Step)
		marked = marked || d != nil && slices.Contains(d.ChoicesFor(links, j), work.MarkConflict)
	}
	if !marked || !manifest.HasContent(links[len(links)-1].Entry) {
		return nil
	}
	w, err := v.weave(links)
	if err != nil || w == nil {
		return err
	}
	for i, step := range w.Birth(work.WrittenAgain(links)) {
		if step < 0 || step >= len(own) || !own[step] {
			continue
		}
		if n := len(f.kept); n > 0 && f.kept[n-1].To == i {
			f.kept[n-1].To++
			continue
		}
		f.kept = append(f.kept, KeptPart{Path: f.path, From: i + 1, To: i + 1, Reason: reasonMarked})
	}
	f.touched = len(f.kept) > 0
	return nil
}

// reasonMarked is why lines stay that a revert put between markers: what becomes of those is the person's to say.
const reasonMarked = "an earlier revert left it between markers"

// chain are the versions that have a part in how the path is now.
func (f *fileRevert) chain(v *reverting) ([]work.Link, error) { return v.chainOf(f.links()) }

// links are all versions.
func (f *fileRevert) links() []work.Link {
	links := make([]work.Link, len(f.versions))
	for i := range links {
		links[i] = work.Link{Entry: f.versions[i], Own: f.own[i]}
		if i > 0 {
			links[i].Step = &f.steps[i-1]
		}
	}
	return links
}

// chainOf leaves out what an operation went back behind: a restore, or what took it back. In a text a revert goes back
// only where all since then was of the work that it took: equal lines may be others'.
func (v *reverting) chainOf(all []work.Link) ([]work.Link, error) {
	loose, strict := v.done.WayBack(all, false), v.done.WayBack(all, true)
	if len(loose) == len(strict) {
		return loose, nil
	}
	texts := v.versions.Texts(0)
	for _, l := range strict {
		if l.Entry == nil {
			continue
		}
		if !manifest.HasContent(l.Entry) || l.Entry.Kind == manifest.Symlink || l.Entry.Size > patch.MaxText {
			return loose, nil
		}
		if _, ok, err := texts.Text(l.Entry, patch.IsText); err != nil || !ok {
			return loose, err
		}
	}
	return strict, nil
}

// presence says whether there is anything, which is what others set last; from which version on it counts, since others
// made the path anew with it; and which one of the work's made it, -1 for none.
func presence(links []work.Link) (exists bool, base, created int) {
	exists, created = links[0].Entry != nil, -1
	for i := 1; i < len(links); i++ {
		there := links[i].Entry != nil
		if there == (links[i-1].Entry != nil) {
			continue
		}
		if links[i].Own {
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

// another reports whether a step took a path away, and others put something else there with the next.
func another(links []work.Link, gone int) bool {
	if gone == 0 || gone+1 >= len(links) {
		return false
	}
	was, next := links[gone-1].Entry, &links[gone+1]
	return links[gone].Own && links[gone].Entry == nil && was != nil && next.Entry != nil && next.Path == links[gone].Path &&
		!next.Own && next.Step.Class != attribution.Operation && !manifest.SameEntries(next.Entry, was)
}

// withoutPassing leaves out what others put where the work had taken something away, and took away again: that was another
// file, and is no reason for the first one not to come back.
func withoutPassing(links []work.Link) []work.Link {
	for gone := 1; gone < len(links); gone++ {
		if !another(links, gone) {
			continue
		}
		for i := gone + 2; i < len(links); i++ {
			if links[i].Entry != nil {
				continue
			}
			if !links[i].Own {
				links = slices.Concat(links[:gone+1], links[i+1:])
				gone-- // there may be one more
			}
			break
		}
	}
	return links
}
