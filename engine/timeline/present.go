package timeline

import (
	"context"
	"errors"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// Present is the tree as it was when Look looked. It holds no lock.
type Present struct {
	Time time.Time
	Root oid.ID
	// Instead is what is where the newest checkpoint has a file, and cannot be captured.
	Instead []problem.Problem

	left    problem.Unread
	at      map[string]time.Time    // when was written what differs from the newest checkpoint
	windows []manifest.Window       // that no checkpoint has yet
	dirs    map[oid.ID]manifest.Dir // what the store does not have of it

	gitState   oid.ID // tree of git's own state, zero for none
	repository bool
	gitSince   gitevents.Point   // see leftGit
	git        []gitevents.Event // what git did since
}

func (n *Present) state() *State {
	return &State{Root: n.Root, Now: true, git: n.gitState, repository: n.repository}
}

// Look scans the working tree as a save would, and stores nothing. It gives up when ctx
// ends, or another process changes the tree: the error says which (context's, *BusyError).
func Look(ctx context.Context, p *project.Project) (_ *Present, err error) {
	still, err := p.LockShared(ctx, account.TreeLockName)
	if err != nil {
		return nil, err
	}
	defer still.Release()
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	newest, err := p.NewestCheckpoint()
	if err != nil {
		return nil, err
	}
	c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Discard()) }()
	n := &Present{Time: p.Env.Time(), Root: c.Root(), dirs: map[oid.ID]manifest.Dir{}}
	load := func(id oid.ID) (manifest.Dir, error) {
		d, err := c.Tx.Load(id)
		n.dirs[id] = d
		return d, err
	}
	var root oid.ID
	var before []problem.Problem
	if newest != nil {
		root = newest.Root
		before, _ = p.Coverage(newest.Coverage) // one that is damaged says nothing, as none
	}
	n.left = problem.UnreadOf(c.Problems, before)
	err = manifest.Diff(load, root, n.Root, func(c manifest.Change) error {
		if c.New == nil && !p.Uncaptured(n.left, c) {
			n.Instead = n.left.Instead(n.Instead, c.Path)
		}
		return ctx.Err()
	})
	if newest != nil && project.IsDamage(err) {
		// What it is compared with is damaged, not it.
		err = manifest.Diff(load, oid.ID{}, n.Root, func(manifest.Change) error { return ctx.Err() })
	}
	head, branch := c.GitHead()
	n.gitState, n.repository = c.Git(), !c.Git().IsZero() || head+branch != ""
	if err == nil && newest != nil {
		var since gitevents.Point
		if since, err = leftGit(ctx, p, newest); err == nil {
			err = n.lookAtGit(ctx, c.Tx, p, since)
		}
	}
	if err == nil {
		n.at, err = c.Written(root)
		n.windows = window.Pending(p)
	}
	return n, err
}

// leftGit is git's own state as the newest checkpoint has it, or as an operation left it since.
func leftGit(ctx context.Context, p *project.Project, newest *manifest.Checkpoint) (left gitevents.Point, err error) {
	left = stateOf(newest).point()
	err = p.Query(ctx, func(db *manifest.DB) error {
		for o, err := range db.Operations() {
			switch {
			case err != nil || o.Seq < newest.Seq:
				return err
			case !o.GitAfter.IsZero() && movedTree(&o):
				left = gitevents.Point{Root: o.After, State: o.GitAfter, Repository: true}
				return nil
			}
		}
		return nil
	})
	return left, err
}

// Seen is the tree in the form that package attribution takes; nil if it was not looked at.
func (n *Present) Seen(p *project.Project) *attribution.Present {
	if n == nil {
		return nil
	}
	return &attribution.Present{Time: n.Time, Root: n.Root, Load: n.load(p.LoadDir), At: n.at, Windows: n.windows}
}
