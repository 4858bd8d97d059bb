package engine

import (
	"time"

	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// GitMoved says that git's HEAD is not where it was in the state that a restore goes to. A restore writes the files and
// leaves HEAD where it is, so that what the commits between the two changed shows as uncommitted changes.
type GitMoved struct {
	Head, Branch         string // now; Branch is "" where HEAD is detached, both are where there is no repository
	ThenHead, ThenBranch string // in that state
	OfWork               bool   // of a revert: then is when the work began that it takes back
}

// Gone reports whether there is no repository any more.
func (g *GitMoved) Gone() bool { return g.Head+g.Branch == "" }

// Switched reports whether HEAD was on another branch then.
func (g *GitMoved) Switched() bool { return !g.Gone() && g.Branch != g.ThenBranch }

// gitMoved compares HEAD with that of the state which the changes lead to; nil where both are the same, or that one is unknown.
func (r *restoring) gitMoved(changes []restore.Change) *GitMoved {
	if r.scan == nil || len(changes) == 0 {
		return nil
	}
	then := r.target
	if r.gitThen != nil {
		then = *r.gitThen
	}
	g := &GitMoved{ThenHead: then.GitHead, ThenBranch: then.GitBranch, OfWork: r.gitThen != nil}
	g.Head, g.Branch = r.scan.GitHead()
	if g.ThenHead+g.ThenBranch == "" || g.Head == g.ThenHead && g.Branch == g.ThenBranch {
		return nil
	}
	return g
}

// gitAtWork finds the checkpoint that knows where HEAD was when the work that is taken back began: that of the prompt, else
// the newest before its first call.
func (v *reverting) gitAtWork() error {
	began := int64(0)
	for _, at := range v.first {
		if began == 0 || at < began {
			began = at
		}
	}
	if began == 0 {
		return nil
	}
	return v.Query(v.ctx, func(db *manifest.DB) error {
		for _, t := range v.work.turns {
			if !t.until.IsZero() && t.until.UnixNano() <= began {
				continue // nothing of it is left to take back
			}
			for c, err := range db.Checkpoints(manifest.Query{Before: t.seq + 1, All: true, Limit: 1}) {
				v.gitThen = &c
				return err
			}
		}
		c, ok, err := db.At(time.Unix(0, began))
		if ok {
			v.gitThen = &c
		}
		return err
	})
}
