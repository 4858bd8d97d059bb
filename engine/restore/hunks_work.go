package restore

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/manifest"
)

// undoneSteps are those of a path's steps since the target that a restore takes something back of: there is nothing of what was
// taken back already. Where hunks were chosen, or an operation took back a part, these are the
// steps that brought the lines which go, or took away those which come back; all of them where that cannot be told.
func (r *Run) undoneSteps(hunks []HunkChoice, path string, steps []attribution.Step) ([]attribution.Step, error) {
	steps = makers(steps)
	i := slices.IndexFunc(hunks, func(c HunkChoice) bool { return c.File.Path == path && !c.Whole && len(c.File.Hunks) > 0 })
	if i < 0 && !slices.ContainsFunc(steps, func(s attribution.Step) bool { return s.Class == attribution.Operation }) {
		return steps, nil
	}
	versions := inspect.NewVersions(r.Project, r.Tx.Get)
	lines := func(e *manifest.Entry) (lines []string, ok bool, err error) {
		if !manifest.HasContent(e) || e.Kind == manifest.Symlink || e.Size > weave.MaxText {
			return nil, false, nil
		}
		return versions.Lines(e, weave.IsText)
	}
	var then []string
	if i >= 0 {
		then = hunks[i].File.then
	} else if e := steps[0].From.Entry; e != nil {
		var ok bool
		var err error
		if then, ok, err = lines(e); err != nil || !ok {
			return steps, r.Classify(err)
		}
	}
	text := weave.New(then)
	for n, s := range steps {
		is, ok, err := lines(s.To.Entry)
		if err != nil {
			return nil, r.Classify(err)
		}
		if !ok || text.Add(is, n) != nil {
			return steps, nil
		}
	}
	var changes []linediff.Change
	if i < 0 {
		changes = linediff.Diff(text.Newest(), then, linediff.Options{})
	} else if changes = hunks[i].changes(); !slices.Equal(text.Newest(), hunks[i].File.now) {
		return steps, nil
	}
	undone := map[int]bool{}
	birth, death := text.Birth(nil), text.Death()
	for _, change := range changes {
		for _, n := range slices.Concat(birth[change.A:change.AEnd], death[change.B:change.BEnd]) {
			undone[n] = true
		}
	}
	var out []attribution.Step
	for n, s := range steps {
		if undone[n] && s.Class == attribution.Operation && i < 0 {
			return steps, nil // whose lines it brought back is not known
		}
		if undone[n] {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return steps, nil
	}
	return out, nil
}

// makers are the steps that made what is there: without those that led back to where the path was before, and with those
// whose work an operation brought back. All of them where none is left.
func makers(steps []attribution.Step) []attribution.Step {
	type made struct { // by the step, upon what was there
		step  int
		there *made
	}
	type state struct {
		entry *manifest.Entry
		by    *made
	}
	on := func(top, base *made) bool {
		for top != base && top != nil {
			top = top.there
		}
		return top == base
	}
	same := func(a, b *manifest.Entry) bool { return a == b || a != nil && b != nil && a.Alike(*b) }
	was := []state{{entry: steps[0].From.Entry}}
	for n, s := range steps {
		is := was[n].by
		next := state{s.To.Entry, &made{n, is}}
		by := func(k int) *attribution.Step {
			if k == 0 {
				return nil
			}
			return &steps[k-1]
		}
		k := s.Returned(n+1, by, func(k int) bool {
			return same(was[k].entry, next.entry) && (s.Class == attribution.Operation || on(is, was[k].by))
		})
		if k >= 0 {
			next.by = was[k].by
		}
		was = append(was, next)
	}
	var out []attribution.Step
	for m := was[len(steps)].by; m != nil; m = m.there {
		out = append(out, steps[m.step])
	}
	if len(out) == 0 {
		return steps
	}
	slices.Reverse(out)
	return out
}
