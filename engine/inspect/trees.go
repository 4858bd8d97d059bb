package inspect

import (
	"context"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

type getter = func([]byte, oid.ID) ([]byte, error)

// trees compares trees of checkpoints and the working tree, at the paths that were chosen.
type trees struct {
	ctx     context.Context
	p       *project.Project
	chosen  pathspec.Selection
	now     *checkpoint.Captured // the working tree; nil: it is not asked about
	load    func(oid.ID) (manifest.Dir, error)
	get     getter
	release func()
}

// openTrees holds the project until close; look: and looks at the working tree.
func openTrees(ctx context.Context, p *project.Project, paths []string, look bool) (*trees, error) {
	chosen, err := pathspec.Select(paths)
	if err != nil {
		return nil, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	t := &trees{ctx: ctx, p: p, chosen: chosen, load: p.LoadDir, get: p.Store.Get, release: release}
	if look {
		if t.now, err = checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true}); err != nil {
			release()
			return nil, err
		}
		t.load, t.get = t.now.Tx.Load, t.now.Tx.Get
	}
	return t, nil
}

func (t *trees) close() {
	if t.now != nil {
		t.now.Discard()
	}
	t.release()
}

// side is the tree of a checkpoint, or with nil the working tree, and what is there without being in it, other than in the one
// that it is compared with; nil for none.
func (t *trees) side(c, before *manifest.Checkpoint) (oid.ID, problem.Unread, error) {
	var was oid.ID
	if before != nil {
		was = before.Coverage
	}
	if c == nil {
		before, err := t.p.Coverage(was)
		return t.now.Root(), problem.UnreadOf(t.now.Problems, before), err
	}
	at, err := t.p.Current(t.ctx, *c)
	if err != nil {
		return oid.ID{}, nil, err
	}
	left, err := t.p.Unread(at.Coverage, was)
	return at.Root, left, err
}

// diffs are the differing paths of two trees, in path order and without patches. What b left is there, and no deletion.
func (t *trees) diffs(a, b oid.ID, left problem.Unread, withPrecious bool) (out []FileDiff, err error) {
	err = manifest.Diff(t.load, a, b, t.chosen.Filter(func(c manifest.Change) error {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if ImpliedDir(c) || t.p.Uncaptured(left, c) {
			return nil
		}
		out = append(out, FileDiff{Change: c, Status: statusOf(c), Hidden: !withPrecious && hides(c)})
		return nil
	}))
	return out, t.p.Classify(err)
}

// hides reports whether a change is one of content that is precious.
func hides(c manifest.Change) bool { return c.Precious() && !manifest.SameContent(c.Old, c.New) }

// writer writes what leads away from a tree.
func (t *trees) writer(from oid.ID, o DiffOptions) *DiffWriter {
	return &DiffWriter{ctx: t.ctx, o: o, load: t.load, get: t.get, from: from, entries: map[*patch.File]*manifest.Entry{}}
}
