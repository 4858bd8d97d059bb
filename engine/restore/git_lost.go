package restore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// GitLoss is what git has lost since a checkpoint, and what a restore of git's own state would bring back: branches, tags,
// entries of the stash, commits that no reference reaches, or the whole git directory.
type GitLoss struct {
	Since  manifest.Checkpoint
	OfWork bool              // of a revert: Since is when the work began that it takes back
	Lines  []gitrestore.Line // each returns, under its name or another one
}

// lookForLoss finds out what git has lost since the state that files go to. It costs nothing while git's state is the same,
// and git is only asked where something was done that can lose something. What cannot be found out is not reported: files
// are what the restore is about.
func (r *Run) lookForLoss(way *Way) *GitLoss {
	since := way.gitThen()
	if r.Options.Git != GitStays || way.git != nil || r.Scan == nil || r.Sel != nil || r.Options.Half == conversation.ConversationOnly || since.Git.IsZero() {
		return nil
	}
	head, branch := r.Scan.GitHead()
	was := gitevents.Point{Root: since.Root, State: since.Git, Repository: true}
	is := gitevents.Point{Root: r.Now, State: r.Scan.Git(), Repository: !r.Scan.Git().IsZero() || head+branch != ""}
	events, err := gitevents.NewReader(r.Tx, r.Root()).Between(was, is)
	if err != nil || !slices.ContainsFunc(events, gitevents.Event.CanLose) {
		return nil
	}
	g := &gitMove{half: GitLost, quiet: true}
	defer g.close()
	if r.planGit(g, way.Target, since.Git) != nil || len(g.refusals) > 0 {
		return nil
	}
	lost := slices.DeleteFunc(g.lines, func(l gitrestore.Line) bool {
		kind := l.What == gitrestore.GitDir || l.What == gitrestore.Ref || l.What == gitrestore.Stash || l.What == gitrestore.Head
		return !kind || l.Change != gitrestore.Returns && l.Change != gitrestore.ReturnsAs || strings.HasPrefix(l.Name, "refs/remotes/")
	})
	if len(lost) == 0 {
		return nil
	}
	return &GitLoss{since, way.GitThen != nil, lost}
}

// nothingReturns is the refusal of a way on which references, HEAD or stash entries are lost, and none can return; nil for any other.
func (g *gitMove) nothingReturns() error {
	if g == nil || g.changes() {
		return nil
	}
	const most = 3
	var lost []string
	for _, l := range g.lines {
		if l.Change == gitrestore.Unable && (l.What == gitrestore.Ref || l.What == gitrestore.Head || l.What == gitrestore.Stash) {
			lost = append(lost, strings.TrimSpace(l.Name+": "+l.Note))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if n := len(lost) - most; n > 0 {
		lost = append(lost[:most], fmt.Sprintf("%d more cannot return, either.", n))
	}
	return &project.RefusedError{What: "nothing that git has lost can return: " + strings.Join(lost, " ")}
}
