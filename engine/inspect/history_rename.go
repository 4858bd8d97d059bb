package inspect

import (
	"context"

	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/manifest"
)

// counterpart finds what a file that came was called before, or what one that went is called since, as the diff of
// the same checkpoint has it. others are all changes of the checkpoint. nil for none.
// An empty file is like every other: it has no counterpart. A file that a link took the place of went, too.
func counterpart(ctx context.Context, get getter, c manifest.Change, others func(func(manifest.Change) error) error) (*manifest.Change, error) {
	e := c.Old
	if e == nil {
		e = c.New
	}
	if e.Kind != manifest.Symlink && e.Size == 0 {
		return nil, nil
	}
	w := DiffWriter{ctx: ctx, get: get, entries: map[*patch.File]*manifest.Entry{}}
	var pairs []patch.Pair // of what came and what went: no other decides a rename
	candidates := false
	err := others(func(o manifest.Change) error {
		p := patch.Pair{Old: w.File(o.Path, o.Old), New: w.File(o.Path, o.New)}
		ends := []patch.Pair{p}
		if p.Old != nil && p.New != nil && (o.Old.Kind == manifest.Symlink) != (o.New.Kind == manifest.Symlink) {
			ends = []patch.Pair{{Old: p.Old}, {New: p.New}}
		}
		for _, p := range ends {
			if (p.Old == nil) != (p.New == nil) {
				pairs = append(pairs, p)
				candidates = candidates || (p.Old == nil) != (c.Old == nil)
			}
		}
		return ctx.Err()
	})
	if err != nil || !candidates {
		return nil, err
	}
	if pairs, err = patch.Detect(ctx, pairs, nil, false, w.Content); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		switch {
		case p.Old == nil || p.New == nil:
		case c.Old == nil && p.New.Path == c.Path: // one that several came from is a copy's too
			return &manifest.Change{Path: p.Old.Path, Old: w.entries[p.Old]}, nil
		case c.New == nil && p.Old.Path == c.Path && p.Status() == patch.Renamed:
			return &manifest.Change{Path: p.New.Path, New: w.entries[p.New]}, nil
		}
	}
	return nil, nil
}
