package revert

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// Options say whose work Revert takes back, and what becomes of what others built on it.
type Options struct {
	Work work.Named
	// Paths and globs relative to the root; empty: all.
	Paths         []string
	Conflicts     work.ConflictChoice            // of conflicts that Choices does not name; "" is RefuseConflicts
	Choices       map[string]work.ConflictChoice // by RevertConflict.Key
	IncludeShared bool                           // what several could have done goes, too
	DryRun        bool
	Lines         int                           // of a dry run: of how many files it says which lines would change
	By, Args      string                        // as in restore.Options
	Expect        *restore.Expected             // as in restore.Options
	Confirm       func(*Reverted) (bool, error) // asked with the plan, where it changes anything
}

// Reverted is what a revert did, or would do.
type Reverted struct {
	*restore.Restored
	Turns     []work.RevertedTurn // whose work it was, oldest first; empty where nothing of it is left to go
	Subagent  string              // whose part of the turns alone; "": all of them
	Wrote     int                 // paths that the work changed, or could have, whatever became of them since
	Merged    []MergedPath        // files in which others' lines stay
	Conflicts []RevertConflict    // with what was chosen
	Kept      []KeptPart          // what stays although it was to go
	Shared    []SharedPath        // several could have made it: it stays, or goes with IncludeShared
	Shell     []ShellWork         // commands whose changes go: what a person wrote meanwhile cannot be distinguished from them
	Near      []NearPart          // beside what goes, others changed something
	// NotCovered are files there that the work wrote and that the rules leave out of every state: they stay.
	NotCovered []string
	// Elsewhere are absolute paths that are there, outside the project, which edits of the work wrote: they stay.
	Elsewhere []string
	// Forgotten are files there whose history was forgotten since the work began: they stay, whoever wrote them.
	Forgotten []string
	Moved     map[string]string           // a rename that is taken back with later edits: new path to old
	MovedAsIs map[string]string           // one of a file that has not been written since
	Lines     map[string]inspect.FileDiff // what would change in files, with Options.Lines; not of directories
	Back      int                         // with this many prompts of its session the conversation could go back behind it, too; 0: it could not
}

// MergedPath is a file in which lines go and come.
type MergedPath struct {
	Path              string
	Removed, Restored int // lines
}

// RevertConflict is a place where others built on what is to go.
type RevertConflict struct {
	Path        string
	From, To    int      // present lines, from 1; both 0: the file as a whole. To < From: between two lines
	Now, Before []string // lines with their ends; of a whole file, and of one that is precious, none
	Reason      string
	By          []attribution.Work // who built on it; Class outside is Work without a session
	Own         []attribution.Work // what is to go there
	Key         string             // names it in Options.Choices, as long as both texts are what they are
	Choice      work.ConflictChoice
}

// Whole reports whether it is about the file, not lines of it.
func (c *RevertConflict) Whole() bool { return c.From == 0 && c.To == 0 }

// KeptPart is what stays of what was to go.
type KeptPart struct {
	Path     string
	From, To int // as in RevertConflict, of the text that is there afterwards
	Reason   string
	By       []attribution.Work
	Marked   bool // it is between markers now
}

// SharedPath is a path that the work may have changed, or somebody else.
type SharedPath struct {
	Path    string
	Also    []attribution.Work // who else could have
	Outside bool               // the person could have, too
	Last    bool               // what is there was written last when no call ran: it stays also with IncludeShared
	Goes    bool               // with IncludeShared
}

// ShellWork is a command that changed paths by itself.
type ShellWork struct {
	attribution.Work
	Paths []string
}

// NearPart is a change of others that touches what goes.
type NearPart struct {
	Path     string
	From, To int // present lines of what goes
	By       []attribution.Work
}

// ConflictError: others built on what is to go, and no choice was given for that. Nothing was changed.
type ConflictError struct{ Reverted *Reverted }

func (e *ConflictError) Error() string {
	return "others built on what would be taken back"
}

// Revert takes back what one turn, one call or one session of an agent's did, and keeps what was done
// beside it. The conversation stays. It is an operation like a restore: with a safety checkpoint, all of it
// or nothing, and Undo takes it back. Errors: those of Restore, *ConflictError, *ChangedSinceError,
// *UnknownWorkError, *StatesGoneError.
func Revert(ctx context.Context, p *project.Project, o Options) (*Reverted, error) {
	out := &Reverted{}
	ro := restore.Options{Paths: o.Paths, DryRun: o.DryRun, By: o.By, Args: o.Args, Expect: o.Expect, Half: conversation.CodeOnly}
	if o.Confirm != nil {
		ro.Confirm = func(r *restore.Restored) (bool, error) {
			out.done(r)
			return o.Confirm(out)
		}
	}
	done, err := restore.Do(ctx, p, ro, manifest.OpRevert, func(r *restore.Run) (way restore.Way, err error) {
		*out = Reverted{}
		v := &reverting{Run: r, o: o, out: out}
		if way.Plan, err = v.plan(); err == nil {
			way.GitThen, err = v.gitAtWork()
		}
		if v.work != nil {
			out.Subagent = v.work.Subagent
		}
		way.Notice = out.notice()
		return way, err
	})
	if err != nil {
		return nil, err
	}
	out.done(done)
	return out, nil
}

// done takes what became of the files: of what commands changed by themselves, paths that were left alone did not go.
func (r *Reverted) done(files *restore.Restored) {
	r.Restored = files
	goes := map[string]bool{}
	for _, path := range slices.Concat(files.Create, files.Replace, files.Delete, files.Mode) {
		goes[path] = true
	}
	var shell []ShellWork
	for _, s := range r.Shell {
		s.Paths = slices.DeleteFunc(slices.Clone(s.Paths), func(path string) bool { return !goes[path] })
		if len(s.Paths) > 0 {
			shell = append(shell, s)
		}
	}
	r.Shell = shell
}

// notice is what the notice of a revert has beside its files.
func (r *Reverted) notice() (n notice.Notice) {
	for _, t := range r.Turns {
		n.Agent, n.Session = t.Agent, t.Session
		if label := transcript.Label(t.Prompt); label != "" {
			n.Prompts = append(n.Prompts, label)
		}
	}
	for _, k := range r.Kept {
		n.Kept = append(n.Kept, notice.Kept{Path: k.Path, From: k.From, To: k.To})
	}
	return n
}
