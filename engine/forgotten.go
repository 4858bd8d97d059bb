package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// forgottenBefore says of which paths nothing is known any more in the newest checkpoint up to a sequence number, since they were
// taken out of it; nil for none.
func forgottenBefore(ctx context.Context, p *project.Project, seq uint64) (is func(path string) bool, err error) {
	var found *manifest.Checkpoint
	q := manifest.Query{All: true, Limit: 1}
	if seq != attribution.ThenNow {
		q.Before = seq + 1
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(q) {
			found = &c
			return err
		}
		return nil
	})
	if err != nil || found == nil {
		return nil, err
	}
	data, err := p.ReadObject(found.Coverage)
	if project.IsDamage(p.Classify(err)) {
		return nil, nil // verify tells of that
	} else if err != nil {
		return nil, err
	}
	keys := maintain.ForgottenIn(data)
	if keys == nil {
		return nil, nil
	}
	return func(path string) bool { return keys[maintain.ForgottenKey(p, path)] }, nil
}

// forgotten reports whether a step is the first look behind what was forgotten of its path: it tells of nobody's work.
func (b *blaming) forgotten(s *attribution.Step) (bool, error) {
	if s.From.Entry != nil || s.Class == attribution.Declared || s.Class == attribution.Operation {
		return false, nil // it is known what was there
	}
	before := b.previous(s.To.Seq)
	if before == 0 {
		return false, nil
	}
	is, err := forgottenBefore(b.ctx, b.p, before)
	return is != nil && is(s.Path), err
}

// forgotten are the files there whose history was forgotten since the work began: nobody knows whether it changed them.
func (v *reverting) forgotten() (paths []string, err error) {
	var from uint64
	switch {
	case len(v.work.turns) > 0:
		from = v.work.turns[0].seq
	case v.work.matched > 0:
		newest, err := v.NewestInLog(v.ctx, 0, func(c *manifest.Checkpoint) bool { return !c.Time.After(v.work.first.Start) })
		if newest == nil || err != nil {
			return nil, err
		}
		from = newest.Seq
	default:
		return nil, nil
	}
	is, err := forgottenBefore(v.ctx, v.Project, from)
	if is == nil || err != nil {
		return nil, err
	}
	err = manifest.Walk(v.tx.Load, v.now, func(path string, e manifest.Entry) error {
		if e.Kind != manifest.Subdir && (v.sel == nil || v.sel.Has(path)) && is(path) {
			paths = append(paths, path)
		}
		return nil
	})
	slices.Sort(paths)
	return paths, err
}

// ForgottenPaths are paths of which nothing is known any more. Forget keeps no names, so that only those can be named that the
// working tree has.
type ForgottenPaths struct {
	Count int
	Named []string
}

// forgottenOf gives the paths that operations changed and that were forgotten since.
func (r *restoring) forgottenOf(ops []manifest.Operation) (out ForgottenPaths, err error) {
	keys := map[string]bool{}
	for _, op := range ops {
		for _, key := range strings.Fields(op.Forgotten) {
			keys[key] = true
		}
	}
	if len(keys) == 0 {
		return out, nil
	}
	out.Count = len(keys)
	err = manifest.Walk(r.tx.Load, r.now, func(path string, _ manifest.Entry) error {
		if keys[maintain.ForgottenKey(r.Project, path)] {
			out.Named = append(out.Named, path)
		}
		return nil
	})
	return out, err
}
