package report

import (
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/restore"
)

// gitText says that git's HEAD is elsewhere than in the state that a restore goes to, and how to bring HEAD there; both
// are "" where it is not. There is no hint for paths or parts: it would move the whole branch. ahead: it is not done yet. Names of branches are not escaped.
func gitText(r *restore.Restored, ahead bool) (text, hint string) {
	g := r.Git
	if g == nil {
		return "", ""
	}
	show, then := "show", "in that state"
	if ahead {
		show = "would show"
	}
	if g.Part {
		defer func() { hint = "" }()
	}
	if g.Gone() {
		then := "in that state"
		if g.OfWork {
			then = "when that work began"
		}
		text = "there is no git repository here now, and HEAD was on " + rows.HeadPlace(g.ThenBranch, g.ThenHead) + " " + then
		if g.State && !r.GitLeft {
			hint = "rewind restore " + r.Checkpoint.ID.String()[:app.ShortID] + " --git-only brings it back"
		}
		return text, hint
	}
	if g.OfWork { // taken back in the present state: there is no other one to go to
		then = "when that work began"
	} else if g.Switched() {
		hint = "git switch --detach " + app.ShellQuote(g.ThenHead)
		if g.ThenBranch != "" {
			hint = "git switch " + app.ShellQuote(g.ThenBranch)
		}
		hint += " goes there with git instead"
		if !ahead {
			hint = "take this back first, then " + hint
		}
	} else {
		hint = "git reset --soft " + app.ShellQuote(g.ThenHead) + " moves the branch to that commit, too"
		if g.ThenHead == "" {
			hint = "git log shows the commits made since"
		}
	}
	if g.Lost {
		hint = "" // if it can return, the next line says how
	}
	return fmt.Sprintf("HEAD is on %s, and was on %s %s: rewind leaves HEAD where it is, so the differences %s as uncommitted changes",
		rows.HeadPlace(g.Branch, g.Head), rows.HeadPlace(g.ThenBranch, g.ThenHead), then, show), hint
}

// GitFact is the same as a line of a plan or of a result, with what git has lost; "" where HEAD is not elsewhere, and nothing lost.
func GitFact(r *restore.Restored, ahead bool) string {
	var facts []string
	add := func(text, hint string) {
		switch {
		case text == "":
			return
		case hint != "":
			text += "; " + hint
		}
		facts = append(facts, app.Escape("Git: "+text+"."))
	}
	add(gitText(r, ahead))
	add(gitLostText(r))
	return strings.Join(facts, " ")
}

// WarnGit says it as warnings, before the question and after the answer.
func WarnGit(c *app.Call, r *restore.Restored, ahead bool) {
	warn := func(text, hint string) {
		if text == "" || c.Out.Quiet {
			return
		}
		c.Out.Warn("%s", text)
		if hint != "" {
			c.Out.Hint("%s", hint)
		}
	}
	warn(gitText(r, ahead))
	warn(gitLostText(r))
}
