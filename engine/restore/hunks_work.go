package restore

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/manifest"
)

// undoneSteps are those of a path's steps since the target that a restore takes something back of. Where hunks were chosen, these are the
// steps that brought the lines which go, or took away those which come back; all of them where that cannot be told.
func (r *Run) undoneSteps(path string, steps []attribution.Step) ([]attribution.Step, error) {
	i := slices.IndexFunc(r.choices, func(c HunkChoice) bool { return c.File.Path == path && !c.Whole && len(c.File.Hunks) > 0 })
	if i < 0 {
		return steps, nil
	}
	c := &r.choices[i]
	versions := inspect.NewVersions(r.Project, r.Tx.Get)
	text := weave.New(c.File.then)
	for n, s := range steps {
		e := s.To.Entry
		if !manifest.HasContent(e) || e.Kind == manifest.Symlink || e.Size > weave.MaxText {
			return steps, nil
		}
		lines, ok, err := versions.Lines(e, weave.IsText)
		if err != nil {
			return nil, r.Classify(err)
		}
		if !ok || text.Add(lines, n) != nil {
			return steps, nil
		}
	}
	if !slices.Equal(text.Newest(), c.File.now) {
		return steps, nil
	}
	undone := map[int]bool{}
	birth, death := text.Birth(nil), text.Death()
	for _, change := range c.changes() {
		for _, n := range slices.Concat(birth[change.A:change.AEnd], death[change.B:change.BEnd]) {
			undone[n] = true
		}
	}
	var out []attribution.Step
	for n, s := range steps {
		if undone[n] {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return steps, nil
	}
	return out, nil
}
