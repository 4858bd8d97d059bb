package restore

import (
	"slices"

	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// GitMoved says that git's HEAD is not where it was in the state that a restore goes to. A restore writes the files and
// leaves HEAD where it is, so that what the commits between the two changed shows as uncommitted changes.
type GitMoved struct {
	Head, Branch         string // now; Branch is "" where HEAD is detached, both are where there is no repository
	ThenHead, ThenBranch string // in that state
	OfWork               bool   // of a revert: then is when the work began that it takes back
	State                bool   // the checkpoint has git's own state: --git brings it back
	Lost                 bool   // git does not have that commit any more, or that branch: no command of git's goes there
	Part                 bool   // only paths or parts of files go there
}

// Gone reports whether there is no repository any more.
func (g *GitMoved) Gone() bool { return g.Head+g.Branch == "" }

// Switched reports whether HEAD was on another branch then.
func (g *GitMoved) Switched() bool { return !g.Gone() && g.Branch != g.ThenBranch }

// gitMoved compares HEAD with that of the state which the changes lead to; nil where both are the same, or that one is unknown.
func (r *Run) gitMoved(way *Way, changes []treeio.Change) *GitMoved {
	if r.Scan == nil || len(changes) == 0 {
		return nil
	}
	then, ofWork := way.gitThen(), way.GitThen != nil
	g := &GitMoved{ThenHead: then.GitHead, ThenBranch: then.GitBranch, OfWork: ofWork, State: !ofWork && !then.Git.IsZero(),
		Part: r.Sel != nil || way.hunks != nil}
	g.Head, g.Branch = r.Scan.GitHead()
	if g.ThenHead+g.ThenBranch == "" || g.Head == g.ThenHead && g.Branch == g.ThenBranch {
		return nil
	}
	g.Lost = r.hasLost(way.git, g)
	return g
}

// hasLost reports whether git lacks where HEAD was then, also with what comes along.
func (r *Run) hasLost(along *gitMove, g *GitMoved) bool {
	repo, ok := gitrepo.Find(r.Root())
	comes := func(l gitrestore.Line) bool {
		return l.Repo == "" && (l.Change == gitrestore.Returns || l.Change == gitrestore.ReturnsAs) && l.To == g.ThenHead && (!g.Switched() || l.Name == "refs/heads/"+g.ThenBranch)
	}
	switch {
	case !ok, along != nil && slices.ContainsFunc(along.lines, comes):
		return false
	case g.Switched() && g.ThenBranch != "":
		return !repo.HasBranch(g.ThenBranch)
	}
	return g.ThenHead != "" && !repo.HasCommit(g.ThenHead)
}
