package maintain

import (
	"context"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// markPulled marks what the checkpoints of pulled logs need. Damage of such a log keeps no sweep from anything: the next pull fetches
// again what is missing.
func markPulled(ctx context.Context, p *project.Project, m *reach.Reach) error {
	n := len(m.Lost)
	err := eachPulled(ctx, p, func(_ project.PulledLog, c manifest.Checkpoint) error {
		err := m.Record(ctx, manifest.Record{Checkpoint: &c})
		if m.Lost = m.Lost[:n]; project.IsDamage(p.Classify(err)) {
			return nil
		}
		return err
	})
	return p.Classify(err)
}

// eachPulled visits the checkpoints that the pulled logs have and this store's own log never had. A log that cannot be read is left out.
func eachPulled(ctx context.Context, p *project.Project, visit func(project.PulledLog, manifest.Checkpoint) error) error {
	all, err := p.Pulled()
	if err != nil {
		return err
	}
	for _, l := range all {
		v, err := p.View(l)
		if err != nil {
			continue
		}
		log, _ := manifest.Replay(ctx, v.Log(), 1, manifest.Skip)
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, c := range log.Checkpoints() {
			if c.Seq <= l.Fork {
				break
			}
			if err := visit(l, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// pulledHave reports whether a pulled log has something that a pattern means.
func pulledHave(ctx context.Context, p *project.Project, pattern string) (has bool, err error) {
	release, err := p.Use(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	err = eachPulled(ctx, p, func(_ project.PulledLog, c manifest.Checkpoint) error {
		has = has || pathspec.MatchSome(p.LoadDir, []string{pattern}, c.Root) == nil
		return nil
	})
	return has, err
}

// dropPulled removes what was pulled, and gives the names of the logs: they may hold what is forgotten, and can be pulled again.
func dropPulled(p *project.Project) (names []string, err error) {
	all, err := p.Pulled()
	if err != nil {
		return nil, err
	}
	if err := p.CloseViews(); err != nil {
		return nil, err
	}
	for _, l := range all {
		if err := os.RemoveAll(filepath.Dir(l.Dir)); err != nil {
			return names, err
		}
		names = append(names, l.Name)
	}
	return names, nil
}
