package revert

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

// forgotten are the files there whose history was forgotten since the work began: it is not known whether it changed them.
func (v *reverting) forgotten() (paths []string, err error) {
	var from uint64
	switch {
	case len(v.work.Turns) > 0:
		from = v.work.Turns[0].Seq
	case v.work.Matched > 0:
		newest, err := v.NewestInLog(v.Ctx, 0, func(c *manifest.Checkpoint) bool { return !c.Time.After(v.work.First.Start) })
		if newest == nil || err != nil {
			return nil, err
		}
		from = newest.Seq
	default:
		return nil, nil
	}
	is, err := inspect.ForgottenBefore(v.Ctx, v.Project, from)
	if is == nil || err != nil {
		return nil, err
	}
	err = manifest.Walk(v.Tx.Load, v.Now, func(path string, e manifest.Entry) error {
		if e.Kind != manifest.Subdir && (v.Sel == nil || v.Sel.Has(path)) && is(path) {
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	return paths, err
}
