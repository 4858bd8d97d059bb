package cli

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// The types of this file are the JSON documents. Their field names are a contract.

// pathView is a path: relative to the root, with /. A name that is no UTF-8 has
// U+FFFD in Path, and its bytes in Path64.
type pathView struct {
	Path   string `json:"path"`
	Path64 string `json:"path_b64,omitempty"`
}

func viewPath(p string) pathView {
	if utf8.ValidString(p) {
		return pathView{Path: p}
	}
	return pathView{Path: strings.ToValidUTF8(p, "\uFFFD"), Path64: base64.StdEncoding.EncodeToString([]byte(p))}
}

func viewPaths(paths []string) []pathView {
	out := make([]pathView, len(paths))
	for i, p := range paths {
		out[i] = viewPath(p)
	}
	return out
}

type problemView struct {
	pathView
	Reason string `json:"reason"`
}

func viewProblems(problems []problem.Problem) []problemView {
	out := make([]problemView, len(problems))
	for i, p := range problems {
		out[i] = problemView{viewPath(p.Path), p.Reason}
	}
	return out
}

// viewTime is RFC 3339 in UTC.
func viewTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// viewID is an id, or null where there is none.
func viewID[T interface {
	comparable
	String() string
}](id T) *string {
	var zero T
	if id == zero {
		return nil
	}
	s := id.String()
	return &s
}

func viewHash(id oid.ID) string { return fmt.Sprintf("%x", id[:]) }

type transcriptView struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Offset    uint64 `json:"offset"`
	EventID   string `json:"event_id"`
	Bytes     uint64 `json:"bytes"`
}

func viewTranscript(t *manifest.Transcript) *transcriptView {
	if t == nil {
		return nil
	}
	return &transcriptView{SessionID: t.Session, Agent: t.Agent, Offset: t.Offset, EventID: t.EventID, Bytes: t.Offset}
}

// savedView answers save and init.
type savedView struct {
	ID          string          `json:"id"`
	Checkpoint  string          `json:"checkpoint"` // the same, as commands call it that were given one
	Seq         uint64          `json:"seq"`
	Time        string          `json:"time"`
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Tree        string          `json:"tree"`
	Unchanged   bool            `json:"unchanged"`
	Files       uint64          `json:"files"`
	Bytes       uint64          `json:"bytes"`
	Added       uint64          `json:"added"`
	Modified    uint64          `json:"modified"`
	Deleted     uint64          `json:"deleted"`
	StoredBytes uint64          `json:"stored_bytes"`
	Partial     []problemView   `json:"partial"`
	TooLarge    []problemView   `json:"too_large"`
	Transcript  *transcriptView `json:"transcript"`
	ElapsedMS   int64           `json:"elapsed_ms"`
}

func viewSaved(s *checkpoint.Saved) savedView {
	c := s.Checkpoint
	return savedView{
		ID: c.ID.String(), Checkpoint: c.ID.String(), Seq: c.Seq, Time: viewTime(c.Time), Description: c.Description, Name: c.Name,
		Tree: viewHash(c.Root), Unchanged: s.Unchanged, Files: c.Files, Bytes: c.Bytes,
		Added: c.Added, Modified: c.Modified, Deleted: c.Deleted, StoredBytes: c.StoredBytes,
		Partial: viewProblems(problem.FailedOf(s.Partial)), TooLarge: viewProblems(s.TooLarge), Transcript: viewTranscript(c.Transcript),
		ElapsedMS: s.Elapsed.Milliseconds(),
	}
}

// checkpointView is one checkpoint of list and show. N is 0 for a safety
// checkpoint, which has no place in the list.
type checkpointView struct {
	N           int             `json:"n"`
	Seq         uint64          `json:"seq"`
	ID          string          `json:"id"`
	Time        string          `json:"time"`
	Kind        string          `json:"kind"`
	Description string          `json:"description"`
	Name        string          `json:"name"`
	Pinned      bool            `json:"pinned"`
	Tool        string          `json:"tool"`
	ToolSummary string          `json:"tool_summary"`
	Prompt      string          `json:"prompt"`
	PromptID    string          `json:"prompt_id"`
	SessionID   string          `json:"session_id"`
	Agent       string          `json:"agent"`
	GitHead     string          `json:"git_head"`
	GitBranch   string          `json:"git_branch"`
	Files       uint64          `json:"files"`
	Added       uint64          `json:"added"`
	Modified    uint64          `json:"modified"`
	Deleted     uint64          `json:"deleted"`
	Unchanged   bool            `json:"unchanged"`
	Transcript  *transcriptView `json:"transcript"`
	Partial     uint64          `json:"partial"`
}

func viewCheckpoint(l project.Listed) checkpointView {
	return checkpointView{
		N: l.N, Seq: l.Seq, ID: l.ID.String(), Time: viewTime(l.Time), Kind: string(l.Kind),
		Description: l.Description, Name: l.Name, Pinned: l.Pinned, Tool: l.Tool, ToolSummary: l.ToolSummary, Prompt: l.Prompt,
		PromptID: l.PromptID, SessionID: l.Session, Agent: l.Agent, GitHead: l.GitHead, GitBranch: l.GitBranch,
		Files: l.Files, Added: l.Added, Modified: l.Modified, Deleted: l.Deleted, Unchanged: unchanged(l),
		Transcript: viewTranscript(l.Transcript), Partial: l.Partial,
	}
}

// unchanged: there is a checkpoint before, and nothing differs from it.
func unchanged(l project.Listed) bool {
	return l.Parent != (manifest.CheckpointID{}) && l.Added == 0 && l.Modified == 0 && l.Deleted == 0
}

// entryView is one path of a tree.
type entryView struct {
	pathView
	Kind string `json:"kind"`
	Mode string `json:"mode"`
	Size uint64 `json:"size"`
	// The same, as elsewhere.
	Bytes uint64 `json:"bytes"`
	Hash  string `json:"hash"`
	// Precious: git ignores it, and it is captured because its loss would hurt.
	Precious bool `json:"precious,omitempty"`
}

func viewEntry(e inspect.TreeEntry) entryView {
	v := entryView{pathView: viewPath(e.Path), Kind: entryKind(e.Entry), Mode: fmt.Sprintf("%04o", e.Mode), Size: e.Size, Precious: e.Precious}
	switch e.Kind {
	case manifest.Symlink:
		v.Size = uint64(len(e.Target))
	default:
		v.Hash = viewHash(e.ID)
	}
	v.Bytes = v.Size
	return v
}

func entryKind(e manifest.Entry) string {
	switch e.Kind {
	case manifest.Symlink:
		return "symlink"
	case manifest.Subdir:
		return "dir"
	}
	return "file"
}

// entriesView answers ls.
type entriesView struct {
	Entries []entryView `json:"entries"`
}

// changesView is what differs, as show and diff print it.
type changesView struct {
	Added    []diffView `json:"added"`
	Modified []diffView `json:"modified"`
	Deleted  []diffView `json:"deleted"`
}

type diffView struct {
	pathView
	Patch    *string `json:"patch,omitempty"`
	Precious bool    `json:"precious,omitempty"` // one of the two sides is

	From         *pathView `json:"from,omitempty"`          // of a rename or a copy, which is among the added
	Copied       bool      `json:"copied,omitempty"`        // it is a copy
	Similarity   int       `json:"similarity,omitempty"`    // of those: percent of the content that is the same
	To           *pathView `json:"to,omitempty"`            // of a deleted path: what it was renamed to, where the patch is
	Binary       bool      `json:"binary,omitempty"`        // not compared by lines
	LinesAdded   int       `json:"lines_added,omitempty"`   // with the patch
	LinesDeleted int       `json:"lines_deleted,omitempty"` // likewise
	Hunks        int       `json:"hunks,omitempty"`         // likewise
}

// addDiff takes a diff in. A rename is the new path among the added, with the patch, and the old one among the deleted.
func (v *changesView) addDiff(f inspect.FileDiff, patched bool) {
	d := diffView{pathView: viewPath(f.Path), Precious: f.Precious(), Binary: f.Binary, LinesAdded: f.Added, LinesDeleted: f.Deleted, Hunks: f.Hunks}
	if patched {
		d.Patch = &f.Patch
	}
	switch f.Status {
	case patch.Renamed, patch.Copied:
		from := viewPath(f.From)
		d.From, d.Copied, d.Similarity = &from, f.Status == patch.Copied, f.Score
		v.Added = append(v.Added, d)
		if f.Status == patch.Renamed {
			to := viewPath(f.Path)
			gone := diffView{pathView: from, To: &to}
			if patched {
				gone.Patch = new(string)
			}
			v.Deleted = append(v.Deleted, gone)
		}
	case patch.Added:
		v.Added = append(v.Added, d)
	case patch.Deleted:
		v.Deleted = append(v.Deleted, d)
	default:
		v.Modified = append(v.Modified, d)
	}
}

func (v *changesView) add(c manifest.Change, patch *string) {
	d := diffView{pathView: viewPath(c.Path), Patch: patch, Precious: c.Precious()}
	switch letter(c) {
	case 'A':
		v.Added = append(v.Added, d)
	case 'D':
		v.Deleted = append(v.Deleted, d)
	default:
		v.Modified = append(v.Modified, d)
	}
}

func newChangesView() changesView {
	return changesView{Added: []diffView{}, Modified: []diffView{}, Deleted: []diffView{}}
}

// letter is git's: A added, D deleted, T another kind, M modified.
func letter(c manifest.Change) byte {
	switch {
	case c.Old == nil:
		return 'A'
	case c.New == nil:
		return 'D'
	case entryKind(*c.Old) != entryKind(*c.New):
		return 'T'
	}
	return 'M'
}

// restoredView answers the restore family; docs/schema/restore.schema.json describes it.
type restoredView struct {
	Checkpoint       *string       `json:"checkpoint"`
	Safety           *string       `json:"safety"`
	Backup           *string       `json:"backup_checkpoint"` // the same, as log calls it
	Create           []pathView    `json:"create"`
	Replace          []pathView    `json:"replace"`
	Delete           []pathView    `json:"delete"`
	Mode             []pathView    `json:"mode"`
	Skip             []problemView `json:"skip"`
	Transcript       *forkView     `json:"transcript"`
	TranscriptBackup *string       `json:"transcript_backup"`          // that of Transcript, as log calls it
	CodeOnly         string        `json:"code_only_reason,omitempty"` // why Transcript is null, although it was to move
	Git              *gitView      `json:"git,omitempty"`              // HEAD is elsewhere than in the target
	Others           []otherView   `json:"others,omitempty"`           // whose work goes too
	Outside          []pathView    `json:"outside,omitempty"`          // what goes too, of the person
	Instead          string        `json:"instead,omitempty"`          // the command that keeps the work of others
	Unclear          bool          `json:"unclear,omitempty"`          // several sessions' work goes, and nobody knows which is meant
	Undone           []string      `json:"prompts,omitempty"`          // what was said behind the target
	DryRun           bool          `json:"dry_run"`
	NotCaptured      int           `json:"not_captured,omitempty"`    // paths that the target is without: they stay as they are
	Notice           *string       `json:"notice"`                    // what agents are told at their next prompt; null where none is
	ForgottenPaths   int           `json:"forgotten_paths,omitempty"` // that the operation changed, and that were forgotten since
	Forgotten        []pathView    `json:"forgotten,omitempty"`       // of these, those whose names are known
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

// otherView is another session's work that a restore takes back.
type otherView struct {
	Agent     string          `json:"agent"`
	SessionID string          `json:"session_id"`
	Prompt    string          `json:"prompt"`
	Paths     int             `json:"paths"`
	Files     []pathView      `json:"files"`
	Turns     []otherTurnView `json:"turns"`
	Instead   string          `json:"instead,omitempty"` // the command that takes back its work alone, where it is unclear which is meant
}

type otherTurnView struct {
	PromptID string     `json:"prompt_id"`
	Prompt   string     `json:"prompt"`
	Files    []pathView `json:"files"`
}

// forkView is where a restored conversation went.
type forkView struct {
	SessionID string   `json:"session_id"`
	Path      string   `json:"path"`
	Resume    string   `json:"resume"`
	Backup    string   `json:"backup"`
	Notes     []string `json:"notes,omitempty"`
}

func viewRestored(r *restore.Restored) restoredView {
	v := restoredView{
		Checkpoint: viewID(r.Checkpoint.ID), Create: viewPaths(r.Create), Replace: viewPaths(r.Replace),
		Delete: viewPaths(r.Delete), Mode: viewPaths(r.Mode), Skip: viewProblems(r.Skip), DryRun: r.DryRun,
	}
	if r.Safety != nil {
		v.Safety = viewID(r.Safety.ID)
		v.Backup = v.Safety
	}
	if m := r.Conversation; m != nil {
		v.Transcript = &forkView{SessionID: m.Session, Path: m.File, Resume: m.Resume, Backup: m.Backup, Notes: m.Notes}
		v.TranscriptBackup = orNull(m.Backup)
	}
	v.NotCaptured = r.NotCaptured
	v.Undone, v.Notice = r.Prompts, orNull(r.Notice)
	v.Unclear, v.ForgottenPaths = r.Unclear, r.Forgotten.Count
	if len(r.Forgotten.Named) > 0 {
		v.Forgotten = viewPaths(r.Forgotten.Named)
	}
	for _, o := range r.Others {
		other := otherView{Agent: o.Agent, SessionID: o.Session, Prompt: o.Prompt, Paths: o.Paths, Files: viewPaths(o.Files), Turns: []otherTurnView{}}
		if o.Alone != nil {
			other.Instead = revertInstead(o.Alone)
		}
		for _, t := range o.Turns {
			other.Turns = append(other.Turns, otherTurnView{t.PromptID, t.Prompt, viewPaths(t.Files)})
		}
		v.Others = append(v.Others, other)
	}
	if len(r.Outside) > 0 {
		v.Outside = viewPaths(r.Outside)
	}
	switch {
	case r.Stuck:
		v.CodeOnly = "no file can be restored, so the conversation stays too"
	case r.Without != nil:
		v.CodeOnly = r.Without.Error()
	}
	if g := r.Git; g != nil {
		v.Git = &gitView{Head: g.Head, Branch: g.Branch, CheckpointHead: g.ThenHead, CheckpointBranch: g.ThenBranch}
		v.Git.Message, v.Git.Hint = gitText(r, r.DryRun)
	}
	return v
}
