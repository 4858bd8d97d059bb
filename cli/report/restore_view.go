package report

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/restore"
)

// RestoredView answers the restore family; docs/schema/restore.schema.json describes it.
type RestoredView struct {
	Checkpoint       *string            `json:"checkpoint"`
	Safety           *string            `json:"safety"`
	Backup           *string            `json:"backup_checkpoint"` // the same, as log calls it
	Create           []app.PathView     `json:"create"`
	Replace          []app.PathView     `json:"replace"`
	Delete           []app.PathView     `json:"delete"`
	Mode             []app.PathView     `json:"mode"`
	Skip             []rows.ProblemView `json:"skip"`
	Transcript       *forkView          `json:"transcript"`
	TranscriptBackup *string            `json:"transcript_backup"`          // that of Transcript, as log calls it
	CodeOnly         string             `json:"code_only_reason,omitempty"` // why Transcript is null, although it was to move
	Git              *gitView           `json:"git,omitempty"`              // HEAD is elsewhere than in the target
	GitState         []gitLineView      `json:"git_state,omitempty"`        // what becomes of git's own state, with --git; else what git has lost since
	Others           []otherView        `json:"others,omitempty"`           // whose work goes too
	Outside          []app.PathView     `json:"outside,omitempty"`          // what goes too, of the person
	Nested           []nestedView       `json:"nested,omitempty"`           // projects below this one, with stores of their own, whose files change
	Instead          string             `json:"instead,omitempty"`          // the command that keeps the work of others
	Unclear          bool               `json:"unclear,omitempty"`          // the work of several sessions is undone, and it is not clear which session is meant
	Undone           []string           `json:"prompts,omitempty"`          // the prompts behind the target
	DryRun           bool               `json:"dry_run"`
	NotCaptured      int                `json:"not_captured,omitempty"`    // paths that the target is without: they stay as they are
	Notice           *string            `json:"notice"`                    // the notice that agents get at their next prompt; null: none
	ForgottenPaths   int                `json:"forgotten_paths,omitempty"` // that the operation changed, and that were forgotten since
	Forgotten        []app.PathView     `json:"forgotten,omitempty"`       // of these, those whose names are known
}

// gitView says that git's HEAD is not where it was in the state that a restore goes to.
type gitView struct {
	Head             string `json:"head"`
	Branch           string `json:"branch"`
	CheckpointHead   string `json:"checkpoint_head"`
	CheckpointBranch string `json:"checkpoint_branch"`
	Message          string `json:"message"`
	Hint             string `json:"hint"`
}

// nestedView is a project below this one, and how many of its paths change.
type nestedView struct {
	app.PathView
	Paths int `json:"paths"`
}

// otherView is another session's work that a restore takes back.
type otherView struct {
	Agent     string          `json:"agent"`
	SessionID string          `json:"session_id"`
	Prompt    string          `json:"prompt"`
	Paths     int             `json:"paths"`
	Files     []app.PathView  `json:"files"`
	Turns     []otherTurnView `json:"turns"`
	Instead   string          `json:"instead,omitempty"` // the command that takes back its work alone, where it is unclear which is meant
}

type otherTurnView struct {
	PromptID string         `json:"prompt_id"`
	Prompt   string         `json:"prompt"`
	Files    []app.PathView `json:"files"`
}

// forkView is where a restored conversation went.
type forkView struct {
	SessionID string   `json:"session_id"`
	Path      string   `json:"path"`
	Resume    string   `json:"resume"`
	Backup    string   `json:"backup"`
	Notes     []string `json:"notes,omitempty"`
}

func viewRestored(r *restore.Restored) RestoredView {
	v := RestoredView{
		Checkpoint: rows.ViewID(r.Checkpoint.ID), Create: app.ViewPaths(r.Create), Replace: app.ViewPaths(r.Replace),
		Delete: app.ViewPaths(r.Delete), Mode: app.ViewPaths(r.Mode), Skip: rows.ViewProblems(r.Skip), DryRun: r.DryRun,
	}
	if r.Safety != nil {
		v.Safety = rows.ViewID(r.Safety.ID)
		v.Backup = v.Safety
	}
	if m := r.Conversation; m != nil {
		v.Transcript = &forkView{SessionID: m.Session, Path: m.File, Resume: m.Resume, Backup: m.Backup, Notes: m.Notes}
		v.TranscriptBackup = app.OrNull(m.Backup)
	}
	v.NotCaptured = r.NotCaptured
	v.Undone, v.Notice = r.Prompts, app.OrNull(r.Notice)
	v.Unclear, v.ForgottenPaths = r.Unclear, r.Forgotten.Count
	if len(r.Forgotten.Named) > 0 {
		v.Forgotten = app.ViewPaths(r.Forgotten.Named)
	}
	for _, o := range r.Others {
		other := otherView{Agent: o.Agent, SessionID: o.Session, Prompt: o.Prompt, Paths: o.Paths, Files: app.ViewPaths(o.Files),
			Turns: app.Map(o.Turns, func(t restore.OtherTurn) otherTurnView {
				return otherTurnView{t.PromptID, t.Prompt, app.ViewPaths(t.Files)}
			})}
		if o.Alone != nil {
			other.Instead = revertInstead(o.Alone)
		}
		v.Others = append(v.Others, other)
	}
	if len(r.Outside) > 0 {
		v.Outside = app.ViewPaths(r.Outside)
	}
	for _, n := range r.Nested {
		v.Nested = append(v.Nested, nestedView{app.ViewPath(n.Path), n.Paths})
	}
	switch {
	case r.Stuck:
		v.CodeOnly = "no file can be restored, so the conversation stays too"
	case r.Without != nil:
		v.CodeOnly = r.Without.Error()
	}
	if len(r.GitState) > 0 {
		v.GitState = viewGitLines(r.GitState)
	}
	if l := r.GitLost; l != nil {
		v.GitState = viewGitLost(l)
	}
	if g := r.Git; g != nil {
		v.Git = &gitView{Head: g.Head, Branch: g.Branch, CheckpointHead: g.ThenHead, CheckpointBranch: g.ThenBranch}
		v.Git.Message, v.Git.Hint = gitText(r, r.DryRun)
	}
	return v
}
