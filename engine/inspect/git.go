package inspect

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Stashes is how many entries git's stash had at a checkpoint; nil where git's own state is not known, as of what is damaged.
func Stashes(p *project.Project, c manifest.Checkpoint) (*int, error) {
	if c.Git.IsZero() {
		return nil, nil
	}
	n, err := gitevents.NewReader(gitstate.InStore(p), p.Root()).Stashes(c.Git)
	if err = p.Classify(err); project.IsDamage(err) || errors.As(err, new(*gitstate.FormatError)) {
		return nil, nil
	}
	return &n, err
}

// HeadMoved says that git's HEAD is not the same on two sides.
type HeadMoved struct{ From, To Head }

// Head is where git's HEAD is. Branch is "" where it is on none, both are where there is no repository.
type Head struct{ Commit, Branch string }

// HeadMoves compares git's HEAD at two checkpoints, or with b nil at one and now; nil where it is the same, or not known of one.
func HeadMoves(p *project.Project, a manifest.Checkpoint, b *manifest.Checkpoint) *HeadMoved {
	if b == nil {
		b = &manifest.Checkpoint{}
		if repo, ok := gitrepo.Find(p.Root()); ok {
			b.GitHead, b.GitBranch, _ = repo.Head()
			b.Git = a.Git
		}
	}
	m := HeadMoved{Head{a.GitHead, a.GitBranch}, Head{b.GitHead, b.GitBranch}}
	if m.From == m.To || m.From == (Head{}) && (b.Git.IsZero() || !a.Git.IsZero()) || m.To == (Head{}) && (a.Git.IsZero() || !b.Git.IsZero()) {
		return nil
	}
	return &m
}

// HeadCame is how HEAD moved from the checkpoint before one to that.
func HeadCame(ctx context.Context, p *project.Project, c manifest.Checkpoint) (m *HeadMoved, err error) {
	return m, p.Query(ctx, func(db *manifest.DB) error {
		return manifest.Each(db.Checkpoints(manifest.Query{Before: c.Seq, Limit: 1, All: true}), func(before manifest.Checkpoint) error {
			m = HeadMoves(p, before, &c)
			return nil
		})
	})
}
