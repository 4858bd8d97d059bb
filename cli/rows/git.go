package rows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

// maxGitLines is how many lines of what git did a row has at most.
const maxGitLines = 4

// GitView is one thing that git did, as JSON.
type GitView struct {
	What  string   `json:"what"`            // commit, amend, merge, switch, reset, stash, stash-dropped, deleted and others: docs/GIT.md
	Text  string   `json:"text"`            // in words
	Names []string `json:"names,omitempty"` // of branches and other references in full, of entries of the stash their messages; at most 3 of them
	From  string   `json:"from,omitempty"`  // commit; of a switch, a rename and a merge a branch
	To    string   `json:"to,omitempty"`    // likewise
	Count int      `json:"count,omitempty"` // commits, references, entries
	Time  string   `json:"time,omitempty"`  // of the newest of them
	Repo  string   `json:"repo,omitempty"`  // the repository's path below the root; that around the project has none
}

// ViewGit returns the git events of one row, the oldest first.
func ViewGit(events []gitevents.Event) []GitView {
	return app.Map(events, func(e gitevents.Event) GitView {
		v := GitView{What: string(e.Kind), Text: GitText(e), Names: e.Names, From: e.From, To: e.To, Count: e.Count, Repo: e.Repo}
		if !e.Time.IsZero() {
			v.Time = app.ViewTime(e.Time)
		}
		return v
	})
}

// GitLine is a line of what git did.
type GitLine struct {
	Time time.Time // zero: not known
	Text string    // escaped
}

// GitLines are those of a row, the newest first, and few.
func GitLines(events []gitevents.Event) (lines []GitLine) {
	for _, e := range slices.Backward(events) {
		lines = append(lines, GitLine{e.Time, GitText(e)})
	}
	if n := len(lines) - maxGitLines; n > 0 {
		lines = append(lines[:maxGitLines], GitLine{Text: fmt.Sprintf("and %d more", n)})
	}
	return lines
}

// GitSummary is what git did in a row, in one line: the first of it, and how much more there is. It is escaped.
func GitSummary(events []gitevents.Event) string {
	const most = 2
	text := strings.Join(app.Map(app.FirstN(events, most), GitText), "; ")
	if n := len(events) - most; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// GitAt says where HEAD was in a checkpoint, and how many entries the stash had, nil for not known; "" without a repository.
// It is escaped.
func GitAt(l manifest.Checkpoint, stashes *int) string {
	at := app.Escape(strings.TrimSpace(l.GitBranch + " " + screen.Clip(l.GitHead, 12)))
	if at != "" && stashes != nil && *stashes > 0 {
		at += ", " + app.Plural(*stashes, "stash entry", "stash entries")
	}
	return at
}

// HeadMovedView is HeadMoved, as JSON.
type HeadMovedView struct {
	From headView `json:"from"`
	To   headView `json:"to"`
	Text string   `json:"text"` // in a sentence
}

type headView struct {
	Commit string `json:"commit"` // "" for none
	Branch string `json:"branch"` // "" where HEAD is on none
}

// ViewHeadMoved gives nil for nil.
func ViewHeadMoved(m *inspect.HeadMoved) *HeadMovedView {
	if m == nil {
		return nil
	}
	return &HeadMovedView{headView(m.From), headView(m.To), HeadMovedText(m)}
}

// HeadMovedText says it in a sentence without its end. It is escaped.
func HeadMovedText(m *inspect.HeadMoved) string {
	was := func(h inspect.Head) string {
		if h == (inspect.Head{}) {
			return "there was no git repository"
		}
		return "HEAD was on " + HeadPlace(h.Branch, h.Commit)
	}
	then := was(m.To)
	if m.From != (inspect.Head{}) {
		then = strings.TrimPrefix(then, "HEAD was ")
	}
	return app.Escape(was(m.From) + ", and then " + then)
}

// HeadPlace is where HEAD is, in words. It is not escaped.
func HeadPlace(branch, commit string) string {
	text := "no branch"
	if branch != "" {
		text = "branch " + branch
	}
	if commit == "" {
		return text + " without a commit"
	}
	return text + " at " + commit[:min(len(commit), gitID)]
}

// GitText says what git did in a few words, as "2 commits on main (830d84e9 Fix the test)". It is escaped.
func GitText(e gitevents.Event) string { return app.Escape(before("in ", e.Repo, ", ") + gitText(e)) }

func gitText(e gitevents.Event) string {
	on := ""
	if len(e.Names) > 0 {
		on = shortRef(e.Names[0])
	}
	switch e.Kind {
	case gitevents.Commit:
		return app.Plural(e.Count, "commit", "commits") + before(" on ", on) + newest(e)
	case gitevents.Amend:
		return "amended a commit" + before(" on ", on) + newest(e)
	case gitevents.Merge:
		if e.From == "" || e.Text != "" {
			return "merge" + before(" on ", on) + newest(e)
		}
		return "merged " + e.From + before(" into ", on) + newest(e)
	case gitevents.MergeBegun:
		return "a merge began, and is not committed yet"
	case gitevents.Pull:
		return "pulled" + before(" into ", on) + newest(e)
	case gitevents.Rebase:
		if e.Count > 0 {
			return strings.TrimSpace("rebased "+on) + ", " + app.Plural(e.Count, "commit", "commits") + newest(e)
		}
		return strings.TrimSpace("rebased "+on) + newest(e)
	case gitevents.RebaseBegun:
		return "a rebase" + before(" of ", on) + " began, and is not at its end"
	case gitevents.RebaseAborted:
		return "a rebase" + before(" of ", on) + " was aborted"
	case gitevents.Switch:
		text := "switched " + shortID(e.From) + " → " + shortID(e.To)
		if e.New {
			text += " (new branch)"
		}
		return text
	case gitevents.Reset:
		text := "reset" + before(" ", on) + " to " + shortID(e.To)
		if e.Count > 0 {
			text += " (" + app.Plural(e.Count, "commit", "commits") + " fewer)"
		}
		return text
	case gitevents.Moved:
		if on == "" {
			on = "HEAD"
		}
		text := on + " moved " + shortID(e.From) + " → " + shortID(e.To)
		if e.Text != "" {
			text += ": " + screen.Clip(app.FirstLine(e.Text), maxSubject)
		}
		return text
	case gitevents.Created:
		return several(e, "created", before(" (", shortID(e.To), ")"))
	case gitevents.Deleted:
		return several(e, "deleted", before(" (was ", shortID(e.From), ")"))
	case gitevents.Renamed:
		return "branch " + shortRef(e.From) + " renamed to " + on
	case gitevents.Stashed:
		return several(e, "stashed", "")
	case gitevents.Dropped:
		return several(e, "stash dropped", "")
	case gitevents.Unstashed:
		return several(e, "stash popped or dropped", "")
	case gitevents.WorktreeMade:
		return several(e, "worktree added", "")
	case gitevents.WorktreeGone:
		return several(e, "worktree removed", "")
	case gitevents.GitMade:
		if e.Repo != "" {
			return "a git repository appeared"
		}
		return "the git repository was created"
	case gitevents.GitGone:
		if e.Repo != "" {
			return "the git repository is gone, or not captured any more"
		}
		return "the git repository was removed"
	}
	return string(e.Kind)
}

// maxSubject is how many columns a commit's subject has.
const maxSubject = 60

// newest is the commit that something led to, in brackets.
func newest(e gitevents.Event) string {
	return " (" + strings.TrimSpace(shortID(e.To)+" "+screen.Clip(app.FirstLine(e.Text), maxSubject)) + ")"
}

// several names what became of one or more things: "branch topic deleted (was 830d84e9)", "stash dropped: WIP on main".
func several(e gitevents.Event, did, one string) string {
	names := strings.Join(app.Map(e.Names, shortRef), ", ")
	if n := e.Count - len(e.Names); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	if kind, plural := refKind(e.Names[0]); kind != "" {
		if e.Count == 1 {
			return kind + " " + names + " " + did + one
		}
		return plural + " " + did + ": " + names
	}
	if e.Count > 1 {
		did += fmt.Sprintf(" (%d)", e.Count)
	}
	return did + ": " + names
}

// refKind is what a reference is called, "" for what is none.
func refKind(name string) (one, more string) {
	switch {
	case strings.HasPrefix(name, "refs/heads/"):
		return "branch", "branches"
	case strings.HasPrefix(name, "refs/tags/"):
		return "tag", "tags"
	}
	return "", ""
}

// shortRef is the name of a branch or a tag as git shows it, and the beginning of what is long.
func shortRef(name string) string {
	if _, rest, ok := strings.Cut(strings.TrimPrefix(name, "refs/"), "/"); ok && strings.HasPrefix(name, "refs/") {
		name = rest
	}
	return screen.Clip(app.FirstLine(name), maxSubject)
}

// shortID is the beginning of a commit's id; a name is as it is.
func shortID(id string) string {
	if len(id) >= 40 && strings.Trim(id, "0123456789abcdef") == "" {
		return id[:gitID]
	}
	return shortRef(id)
}

// gitID is how many digits of a commit's id are shown.
const gitID = 8

// before puts a word before a text, and behind it, where there is one.
func before(word, text string, behind ...string) string {
	if text == "" {
		return ""
	}
	return word + text + strings.Join(behind, "")
}
