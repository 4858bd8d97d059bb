package rows

import (
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// The types of this file are the JSON documents. Their field names are a contract.

type ProblemView struct {
	app.PathView
	Reason string `json:"reason"`
}

func ViewProblems(problems []problem.Problem) []ProblemView {
	return app.Map(problems, func(p problem.Problem) ProblemView { return ProblemView{app.ViewPath(p.Path), p.Reason} })
}

// ViewID is an id, or null where there is none.
func ViewID[T interface {
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

func ViewHash(id oid.ID) string { return fmt.Sprintf("%x", id[:]) }

type TranscriptView struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Offset    uint64 `json:"offset"`
	EventID   string `json:"event_id"`
	Bytes     uint64 `json:"bytes"`
}

func ViewTranscript(t *manifest.Transcript) *TranscriptView {
	if t == nil {
		return nil
	}
	return &TranscriptView{SessionID: t.Session, Agent: t.Agent, Offset: t.Offset, EventID: t.EventID, Bytes: t.Offset}
}

// SavedView answers save and init.
type SavedView struct {
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
	Partial     []ProblemView   `json:"partial"`
	TooLarge    []ProblemView   `json:"too_large"`
	Transcript  *TranscriptView `json:"transcript"`
	ElapsedMS   int64           `json:"elapsed_ms"`
}

func ViewSaved(s *checkpoint.Saved) SavedView {
	c := s.Checkpoint
	return SavedView{
		ID: c.ID.String(), Checkpoint: c.ID.String(), Seq: c.Seq, Time: app.ViewTime(c.Time), Description: c.Description, Name: c.Name,
		Tree: ViewHash(c.Root), Unchanged: s.Unchanged, Files: c.Files, Bytes: c.Bytes,
		Added: c.Added, Modified: c.Modified, Deleted: c.Deleted, StoredBytes: c.StoredBytes,
		Partial: ViewProblems(problem.FailedOf(s.Partial)), TooLarge: ViewProblems(s.TooLarge), Transcript: ViewTranscript(c.Transcript),
		ElapsedMS: s.Elapsed.Milliseconds(),
	}
}

// CheckpointView is one checkpoint of list and show. N is 0 for a safety
// checkpoint, which has no place in the list.
type CheckpointView struct {
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
	Transcript  *TranscriptView `json:"transcript"`
	Partial     uint64          `json:"partial"`
	Green       bool            `json:"green"`   // a test command of the agent had just ended with 0
	Machine     string          `json:"machine"` // whose it is, by the name in front of references; "" of this store's own log
}

func ViewCheckpoint(l project.Listed) CheckpointView {
	return CheckpointView{
		N: l.N, Seq: l.Seq, ID: l.ID.String(), Time: app.ViewTime(l.Time), Kind: string(l.Kind),
		Description: l.Description, Name: l.Name, Pinned: l.Pinned, Tool: l.Tool, ToolSummary: l.ToolSummary, Prompt: l.Prompt,
		PromptID: l.PromptID, SessionID: l.Session, Agent: l.Agent, GitHead: l.GitHead, GitBranch: l.GitBranch,
		Files: l.Files, Added: l.Added, Modified: l.Modified, Deleted: l.Deleted, Unchanged: unchanged(l),
		Transcript: ViewTranscript(l.Transcript), Partial: l.Partial, Green: l.Green, Machine: l.Of,
	}
}

// unchanged: there is a checkpoint before, and nothing differs from it.
func unchanged(l project.Listed) bool {
	return l.Parent != (manifest.CheckpointID{}) && l.Added == 0 && l.Modified == 0 && l.Deleted == 0
}

// EntryView is one path of a tree.
type EntryView struct {
	app.PathView
	Kind string `json:"kind"`
	Mode string `json:"mode"`
	Size uint64 `json:"size"`
	// The same, as elsewhere.
	Bytes uint64 `json:"bytes"`
	Hash  string `json:"hash"`
	// Precious: git ignores it, and it is captured because its loss would hurt.
	Precious bool `json:"precious,omitempty"`
}

func ViewEntry(e inspect.TreeEntry) EntryView {
	v := EntryView{PathView: app.ViewPath(e.Path), Kind: EntryKind(e.Entry), Mode: fmt.Sprintf("%04o", e.Mode), Size: e.Size, Precious: e.Precious}
	switch e.Kind {
	case manifest.Symlink:
		v.Size = uint64(len(e.Target))
	default:
		v.Hash = ViewHash(e.ID)
	}
	v.Bytes = v.Size
	return v
}

func EntryKind(e manifest.Entry) string {
	switch e.Kind {
	case manifest.Symlink:
		return "symlink"
	case manifest.Subdir:
		return "dir"
	}
	return "file"
}

// EntriesView answers ls.
type EntriesView struct {
	Entries []EntryView `json:"entries"`
}

// ChangesView is what differs, as show and diff print it.
type ChangesView struct{ byLetter[diffView] }

// byLetter are paths by what happened to them.
type byLetter[D any] struct {
	Added    []D `json:"added"`
	Modified []D `json:"modified"`
	Deleted  []D `json:"deleted"`
}

func newByLetter[D any]() byLetter[D] { return byLetter[D]{[]D{}, []D{}, []D{}} }

func (v *byLetter[D]) add(letter byte, d D) {
	switch letter {
	case 'A':
		v.Added = append(v.Added, d)
	case 'D':
		v.Deleted = append(v.Deleted, d)
	default:
		v.Modified = append(v.Modified, d)
	}
}

type diffView struct {
	app.PathView
	Patch    *string `json:"patch,omitempty"`
	Precious bool    `json:"precious,omitempty"` // one of the two sides is

	From         *app.PathView `json:"from,omitempty"`          // of a rename or a copy, which is among the added
	Copied       bool          `json:"copied,omitempty"`        // it is a copy
	Similarity   int           `json:"similarity,omitempty"`    // of those: percent of the content that is the same
	To           *app.PathView `json:"to,omitempty"`            // of a deleted path: what it was renamed to, where the patch is
	Binary       bool          `json:"binary,omitempty"`        // not compared by lines
	LinesAdded   int           `json:"lines_added,omitempty"`   // with the patch
	LinesDeleted int           `json:"lines_deleted,omitempty"` // likewise
	Hunks        int           `json:"hunks,omitempty"`         // likewise
}

// AddDiff takes a diff in. A rename is the new path among the added, with the patch, and the old one among the deleted.
func (v *ChangesView) AddDiff(f inspect.FileDiff, patched bool) {
	d := diffView{PathView: app.ViewPath(f.Path), Precious: f.Precious(), Binary: f.Binary, LinesAdded: f.Added, LinesDeleted: f.Deleted, Hunks: f.Hunks}
	if patched {
		d.Patch = &f.Patch
	}
	switch f.Status {
	case patch.Renamed, patch.Copied:
		from := app.ViewPath(f.From)
		d.From, d.Copied, d.Similarity = &from, f.Status == patch.Copied, f.Score
		v.Added = append(v.Added, d)
		if f.Status == patch.Renamed {
			to := app.ViewPath(f.Path)
			gone := diffView{PathView: from, To: &to}
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

func (v *ChangesView) Add(c manifest.Change, patch *string) {
	d := diffView{PathView: app.ViewPath(c.Path), Patch: patch, Precious: c.Precious()}
	v.add(Letter(c), d)
}

func NewChangesView() ChangesView {
	return ChangesView{newByLetter[diffView]()}
}

// Letter is git's: A added, D deleted, T another kind, M modified.
func Letter(c manifest.Change) byte {
	switch {
	case c.Old == nil:
		return 'A'
	case c.New == nil:
		return 'D'
	case EntryKind(*c.Old) != EntryKind(*c.New):
		return 'T'
	}
	return 'M'
}
