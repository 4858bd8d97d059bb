package revert

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// reasonChangedSince is why most places stay; the author of the change is reported beside it.
const reasonChangedSince = "it was changed again since"

// conflictOf says what a block is about, and what was chosen for it.
func (v *reverting) conflictOf(f *fileRevert, links []work.Link, w *weave.Weave, b weave.Block) RevertConflict {
	c := RevertConflict{Path: f.path, From: b.Start + 1, To: b.End, Reason: reasonChangedSince,
		Now: w.Newest()[b.Start:b.End], Before: b.Before, By: v.others(links, builtOn(links, w, b)), Own: v.others(links, b.Own)}
	switch b.Kind {
	case weave.Ambiguous:
		c.Reason = "it was changed again since, and there is more than one way to take it back"
	case weave.Held:
		c.Reason, c.By = reasonHeld(v.heldIn(f.path, c.Now)), nil
	}
	c.Key = conflictKey(f.path, c.Now, c.Before)
	for _, earlier := range f.conflicts {
		if earlier.Key == c.Key {
			c.Key = conflictKey(c.Key, c.Now, c.Before) // the same texts twice
		}
	}
	if f.precious() {
		c.Now, c.Before = nil, nil
	}
	c.Choice = v.choice(c.Key)
	return c
}

// builtOn are the steps that came after the first own one of a block and built on it: also those that wrote on where
// others had.
func builtOn(links []work.Link, w *weave.Weave, b weave.Block) []int {
	steps := slices.Clone(b.Foreign)
	if len(b.Own) == 0 {
		return steps
	}
	for _, step := range w.Birth(work.WrittenAgain(links))[b.Start:b.End] {
		if step > b.Own[0] && step < len(links) && !links[step].Own && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps
}

// precious reports whether what it holds is not printed.
func (f *fileRevert) precious() bool {
	return slices.ContainsFunc(f.versions, func(e *manifest.Entry) bool { return e != nil && e.Precious })
}

// choice is what was chosen for a conflict.
func (v *reverting) choice(key string) work.ConflictChoice {
	if c, ok := v.o.Choices[key]; ok {
		return c
	}
	if v.o.Conflicts == "" {
		return work.RefuseConflicts
	}
	return v.o.Conflicts
}

// conflictKey names a conflict by what it is about.
func conflictKey(path string, now, before []string) string {
	sum := oid.Sum([]byte(path + "\x00" + strings.Join(now, "") + "\x00" + strings.Join(before, "")))
	return hex.EncodeToString(sum[:8])
}

// wholeConflict is one about the file as a whole, which f.to is the undone state of.
func (v *reverting) wholeConflict(f *fileRevert, links []work.Link, others []*attribution.Step, reason string) {
	c := RevertConflict{Path: f.path, Reason: reason, By: stepWorks(others)}
	var own []*attribution.Step
	for _, l := range links[1:] {
		if l.Own {
			own = append(own, l.Step)
		}
	}
	c.Own = stepWorks(own)
	at := func(e *manifest.Entry) []string {
		if e == nil {
			return nil
		}
		return []string{string(e.ID[:]), e.Target}
	}
	c.Key = conflictKey(f.path, at(f.now), at(f.to))
	c.Choice = v.choice(c.Key)
	f.conflicts = append(f.conflicts, c)
	if c.Choice != work.UndoBlock {
		f.to, f.changes = f.now, false
		f.kept = append(f.kept, KeptPart{Path: f.path, Reason: reason, By: c.By})
	}
}

// keepWhole leaves a path unchanged, since the work of others is in the way.
func (f *fileRevert) keepWhole(v *reverting, reason string) {
	c := RevertConflict{Path: f.path, Reason: reason, Key: conflictKey(f.path, nil, nil)}
	switch c.Choice = v.choice(c.Key); c.Choice {
	case work.RefuseConflicts:
	case work.UndoBlock, work.MarkConflict:
		reason += "; " + string(c.Choice) + " cannot be done there, so it is kept"
		c.Reason, c.Choice = reason, work.KeepFile
	default:
		c.Choice = work.KeepFile // nothing else can be done
	}
	f.conflicts = append(f.conflicts, c)
	f.to, f.changes, f.merged, f.near = f.now, false, false, nil
	f.kept = []KeptPart{{Path: f.path, Reason: reason}}
}

// others are those who made steps, each once.
func (v *reverting) others(links []work.Link, at []int) []attribution.Work {
	var steps []*attribution.Step
	for _, i := range at {
		if i > 0 && i < len(links) {
			steps = append(steps, links[i].Step)
		}
	}
	return stepWorks(steps)
}

func stepWorks(steps []*attribution.Step) (list []attribution.Work) {
	for _, s := range steps {
		all := worksOf(s)
		if s.Class == attribution.Shared && s.AlsoOutside {
			all = append(all, attribution.Work{})
		}
		for _, w := range all {
			if !slices.ContainsFunc(list, func(o attribution.Work) bool { return sameWork(&o, &w) }) {
				list = append(list, w)
			}
		}
	}
	return list
}
