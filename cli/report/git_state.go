package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/restore"
)

// gitLineView is one part of what becomes of git's own state.
type gitLineView struct {
	What   string `json:"what"`           // git-dir, worktree, ref, stash, head, index, progress, reflog, objects
	Change string `json:"change"`         // returns, returns-as, moves, goes, stays, unable
	Name   string `json:"name"`           // of a reference in full; of a stash entry, its message
	As     string `json:"as,omitempty"`   // the name under which it returns
	From   string `json:"from,omitempty"` // now
	To     string `json:"to,omitempty"`   // then
	Count  int    `json:"count,omitempty"`
	Note   string `json:"note,omitempty"`
	Repo   string `json:"repo,omitempty"` // which of several repositories: its path below the root; that around the project has none
}

var gitWhats = map[gitrestore.What]string{
	gitrestore.GitDir: "git-dir", gitrestore.Worktree: "worktree", gitrestore.Ref: "ref", gitrestore.Stash: "stash",
	gitrestore.Head: "head", gitrestore.Index: "index", gitrestore.Progress: "progress", gitrestore.Reflog: "reflog",
	gitrestore.Objects: "objects",
}

var gitChanges = map[gitrestore.Change]string{
	gitrestore.Returns: "returns", gitrestore.ReturnsAs: "returns-as", gitrestore.Moves: "moves",
	gitrestore.Goes: "goes", gitrestore.Stays: "stays", gitrestore.Unable: "unable",
}

func viewGitLines(lines []gitrestore.Line) []gitLineView {
	return app.Map(lines, func(l gitrestore.Line) gitLineView {
		return gitLineView{gitWhats[l.What], gitChanges[l.Change], l.Name, l.As, l.From, l.To, l.Count, l.Note, l.Repo}
	})
}

// viewGitLost is what stays lost: to is what it was, and the note says how it returns.
func viewGitLost(loss *restore.GitLoss) []gitLineView {
	return app.Map(loss.Lines, func(l gitrestore.Line) gitLineView {
		return gitLineView{What: gitWhats[l.What], Change: "lost", Name: l.Name, To: l.To, Count: l.Count, Note: bringsBack(loss) + " brings it back", Repo: l.Repo}
	})
}

// bringsBack is the command.
func bringsBack(loss *restore.GitLoss) string {
	return "rewind restore " + loss.Since.ID.String()[:app.ShortID] + " --git-only"
}

// maxLost is how much of what git has lost is named.
const maxLost = 3

// gitLostText says what git has lost since the state that a restore goes to, and how it returns; both are "" where it has lost
// nothing, or all of it, which gitText says. It is escaped.
func gitLostText(r *restore.Restored) (text, hint string) {
	loss := r.GitLost
	if loss == nil || r.Git != nil && r.Git.Gone() {
		return "", ""
	}
	since := "since that state"
	if loss.OfWork {
		since = "since that work began"
	}
	if loss.Lines[0].What == gitrestore.GitDir {
		return app.Escape("the git directory" + inRepo(loss.Lines[0], " of ") + " is gone " + since), bringsBack(loss) + " brings it back"
	}
	var parts []string
	stashes := slices.DeleteFunc(slices.Clone(loss.Lines), func(l gitrestore.Line) bool { return l.What != gitrestore.Stash })
	for _, l := range loss.Lines {
		switch {
		case l.What == gitrestore.Stash && len(stashes) > 1:
		case l.What == gitrestore.Stash:
			parts = append(parts, "the stash entry "+app.Quote(l.Name)+inRepo(l, " in "))
		case l.Change == gitrestore.ReturnsAs:
			parts = append(parts, "commit "+l.To[:min(len(l.To), 8)]+" of "+refName(l.Name)+inRepo(l, " in "))
		default:
			parts = append(parts, refName(l.Name)+inRepo(l, " in "))
		}
	}
	if len(stashes) > 1 {
		parts = append(parts, app.Plural(len(stashes), "stash entry", "stash entries"))
	}
	if n := len(parts) - maxLost; n > 1 {
		parts = append(parts[:maxLost], fmt.Sprintf("%d more", n))
	}
	all := parts[0]
	if n := len(parts) - 1; n > 0 {
		all = strings.Join(parts[:n], ", ") + " and " + parts[n]
	}
	return app.Escape("git has lost " + all + " " + since), bringsBack(loss) + " brings " + app.ItOrThem(len(loss.Lines)) + " back"
}

// mostAlike is how many lines say the same of different references or entries; the rest are counted.
const mostAlike = 10

// GitStateText says line by line what becomes of git's own state. It is escaped.
func GitStateText(r *restore.Restored) (text []string) {
	type kind struct {
		what   gitrestore.What
		change gitrestore.Change
		repo   string
	}
	kindOf := func(l gitrestore.Line) kind { return kind{l.What, l.Change, l.Repo} }
	all, said := map[kind]int{}, map[kind]int{}
	for _, l := range r.GitState {
		all[kindOf(l)]++
	}
	for _, l := range r.GitState {
		k := kindOf(l)
		switch said[k]++; {
		case said[k] <= mostAlike || all[k] == mostAlike+1:
			text = append(text, app.Escape(gitStateLine(l)))
		case said[k] == mostAlike+1:
			text = append(text, app.Escape(inRepoFirst(l)+moreAlike(l, all[k]-mostAlike)))
		}
	}
	return text
}

func gitStateLine(l gitrestore.Line) string {
	text := inRepoFirst(l) + gitSubject(l) + " " + gitVerb(l)
	if l.Note != "" {
		text += ". " + strings.TrimSuffix(l.Note, ".") // the caller ends the sentence
	}
	return text
}

// inRepoFirst names the repository at the beginning of a line.
func inRepoFirst(l gitrestore.Line) string {
	if l.Repo == "" {
		return ""
	}
	return inRepo(l, "in ") + ", "
}

// moreAlike counts lines that say the same as the one.
func moreAlike(l gitrestore.Line, n int) string {
	what := "parts of git's state"
	switch l.What {
	case gitrestore.Ref:
		what = "references"
	case gitrestore.Stash:
		what = "stash entries"
	case gitrestore.Objects:
		what = "objects"
	}
	does := map[gitrestore.Change]string{
		gitrestore.Returns: "return", gitrestore.ReturnsAs: "return under other names", gitrestore.Moves: "move",
		gitrestore.Goes: "go", gitrestore.Stays: "stay", gitrestore.Unable: "cannot return",
	}
	return fmt.Sprintf("%d more %s %s", n, what, does[l.Change])
}

// gitSubject is what a line is about.
func gitSubject(l gitrestore.Line) string {
	switch l.What {
	case gitrestore.GitDir:
		if l.Count == 0 { // none, or not counted
			return "the git directory"
		}
		return "the git directory, with " + app.Plural(l.Count, "reference", "references") + ","
	case gitrestore.Worktree:
		return "the worktree " + l.Name
	case gitrestore.Stash:
		return "the stash entry " + app.Quote(l.Name)
	case gitrestore.Head:
		return "HEAD"
	case gitrestore.Index:
		return "the index"
	case gitrestore.Progress:
		return "the " + l.Name + " in progress"
	case gitrestore.Objects:
		count := "a part of the objects"
		if l.Count > 0 {
			count = app.Plural(l.Count, "object", "objects")
		}
		switch {
		case l.Name == "":
			return count
		case strings.HasPrefix(l.Name, "pack-"):
			return count + " of " + l.Name
		}
		return "the object " + strings.TrimPrefix(strings.TrimPrefix(l.Name, "refs/heads/"), "refs/")
	case gitrestore.Reflog:
		of := " of the reflogs"
		if l.Name != "" {
			of = " of the reflog of " + refName(l.Name)
		}
		return app.Plural(l.Count, "line", "lines") + of
	}
	return refName(l.Name)
}

// gitLeft reports whether a line is about something that should have been brought back and was not, or not under its name.
func gitLeft(l gitrestore.Line) bool {
	switch l.Change {
	case gitrestore.Unable:
		return l.What != gitrestore.Worktree // which was mostly removed on purpose
	case gitrestore.ReturnsAs, gitrestore.Moves:
		return l.Blocked
	}
	return l.Change == gitrestore.Stays && l.What != gitrestore.Reflog // which keeps what it has
}

// gitVerb is what becomes of it.
func gitVerb(l gitrestore.Line) string {
	one := l.What != gitrestore.Reflog && l.What != gitrestore.Objects || l.Count == 1
	verb := func(singular, plural string) string {
		if one {
			return singular
		}
		return plural
	}
	at := func(id string) string {
		switch {
		case id == "":
			return ""
		case strings.HasPrefix(id, "refs/"):
			return " (" + refName(id) + ")"
		}
		return " (" + id[:min(len(id), 8)] + ")"
	}
	switch l.Change {
	case gitrestore.Returns:
		return verb("returns", "return") + at(l.To)
	case gitrestore.ReturnsAs:
		if l.What == gitrestore.Index {
			return "returns as " + refName(l.As)
		}
		return fmt.Sprintf("returns as %s%s: what has its name now%s stays", refName(l.As), at(l.To), at(l.From))
	case gitrestore.Moves:
		if l.As != "" {
			return verb("moves", "move") + " to that of " + refName(l.As)
		}
		if l.From == "" && l.To == "" {
			return "becomes what it was"
		}
		return fmt.Sprintf("moves from%s to%s", at(l.From), at(l.To))
	case gitrestore.Goes:
		return verb("goes", "go") + at(l.From)
	case gitrestore.Unable:
		if l.As != "" {
			return "cannot return" + at(l.To) + ": it is there as " + refName(l.As)
		}
		return "cannot return" + at(l.To)
	}
	return verb("stays", "stay")
}

// refName is a reference in words.
func refName(name string) string {
	for _, kind := range []struct{ prefix, word string }{{"refs/heads/", "branch "}, {"refs/tags/", "tag "}, {"refs/remotes/", "remote-tracking branch "}} {
		if rest, ok := strings.CutPrefix(name, kind.prefix); ok {
			return kind.word + rest
		}
	}
	return name
}

// inRepo names the repository of a line, after a word; "" for that around the project.
func inRepo(l gitrestore.Line, word string) string {
	if l.Repo == "" {
		return ""
	}
	return word + l.Repo
}
