package hookio

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// PiRequest is what our extension in pi asks: one JSON object on standard input. Unknown members are
// passed over, so that an older program serves a newer extension.
type PiRequest struct {
	Extension int    `json:"extension"` // its version: see register.PiVersion
	Kind      PiKind `json:"kind"`
	Cwd       string `json:"cwd"`
	Session   string `json:"session"`
	File      string `json:"file"`   // of the session; pi writes it with the first answer
	Parent    string `json:"parent"` // file of the session that it came from
	UI        bool   `json:"ui"`     // pi can ask the person

	Reason  string    `json:"reason"`  // of a session's start or shutdown
	Prompt  string    `json:"prompt"`  // what the person typed
	State   string    `json:"state"`   // checkpoint of the state before the entries, from the answer before
	Entries []PiEntry `json:"entries"` // that came since; for the list of /rewind the session's, oldest first
	Has     []string  `json:"has"`     // ids of all entries, where the session came from another

	Menu   string `json:"menu"`   // "fork", "tree", "rewind": where the person is
	Entry  string `json:"entry"`  // that they chose
	Choice string `json:"choice"` // what they chose to do: a text of PiOptions

	Tool    string `json:"tool"`    // name of a tool that is about to run, or has run
	Call    string `json:"call"`    // id of its call
	Command string `json:"command"` // its command line
	Path    string `json:"path"`    // the file that it is about to write, or has written
	At      int64  `json:"at"`      // when that was, in milliseconds since 1970: the extension does not wait for every answer
	Failed  bool   `json:"failed"`  // it ended with an error
}

// PiKind is what happened, or what is asked.
type PiKind string

const (
	PiSessionStart PiKind = "session_start"
	PiPrompt       PiKind = "prompt"    // before the agent starts: a checkpoint
	PiTurnEnd      PiKind = "turn_end"  // a checkpoint, and the entries since are bound
	PiAgentEnd     PiKind = "agent_end" // the same, and the footer
	PiBind         PiKind = "bind"      // the same for a compaction or a summary of a branch
	PiOptions      PiKind = "options"   // what the person can choose at Entry
	PiApply        PiKind = "apply"     // what they chose
	PiPoints       PiKind = "points"    // the list of /rewind
	PiTool         PiKind = "tool"      // may it run
	PiToolEnd      PiKind = "tool_end"  // it has run
	PiStatus       PiKind = "status"    // the footer
	PiShutdown     PiKind = "shutdown"
)

// PiEntry is one entry of a session.
type PiEntry struct {
	ID   string `json:"id"`
	Type string `json:"type"` // message, compaction, branch_summary, custom_message, …
	Role string `json:"role"` // of a message
	Text string `json:"text"` // how it begins, for the list of /rewind
}

// Word is what people call the entry.
func (e PiEntry) Word() string {
	switch {
	case e.Role == "user":
		return "prompt"
	case e.Role == "assistant":
		return "answer"
	case e.Type == "branch_summary":
		return "summary"
	case e.Type == "custom_message":
		return "message"
	}
	return e.Type
}

// Point reports whether the entry can be gone back to: no tool's result, and no command of the person's.
func (e PiEntry) Point() bool {
	switch e.Type {
	case "message":
		return e.Role == "user" || e.Role == "assistant"
	case "compaction", "branch_summary", "custom_message":
		return true
	}
	return false
}

// PiAnswer is what the extension does then: one JSON object on standard output.
type PiAnswer struct {
	Notices []PiNotice `json:"notices,omitempty"`
	Footer  *string    `json:"footer,omitempty"`  // "" takes it away, null leaves it
	State   string     `json:"state,omitempty"`   // checkpoint of the state now
	Title   string     `json:"title,omitempty"`   // of a dialog, with the preview
	Options []string   `json:"options,omitempty"` // of a dialog; none: do not ask
	Points  []PiPoint  `json:"points,omitempty"`
	Cancel  bool       `json:"cancel,omitempty"` // pi's own navigation
	Block   string     `json:"block,omitempty"`  // why the tool may not run
	Inform  string     `json:"inform,omitempty"` // for the model, with the prompt: see CanInform
	Off     bool       `json:"off,omitempty"`    // nothing is captured here: ask no more in this session
}

// PiPoint is a line of the list of /rewind.
type PiPoint struct {
	Entry string `json:"entry"`
	Label string `json:"label"`
}

// PiNotice is a line for the person.
type PiNotice struct {
	Text  string `json:"text"`
	Level string `json:"level"`          // info, warning, error
	Once  string `json:"once,omitempty"` // topic: not again in this process
}

// What the person can choose. The words are those of the extension whose behaviour ours follows.
const (
	PiKeepConversation = "Conversation only (keep current files)"
	PiRestoreAll       = "Restore all (files + conversation)"
	PiCodeOnly         = "Code only (restore files, keep conversation)"
	PiUndo             = "Undo last file rewind"
	PiKeepFiles        = "Keep current files"
	PiRestoreFiles     = "Restore files to that point"
)

// maxPiRequest bounds a request; the ids of 100,000 entries fit.
const maxPiRequest = 8 << 20

// DecodePi reads a request. ok is false where it is none: an empty payload, or that of another protocol.
func DecodePi(r io.Reader) (q PiRequest, ok bool) {
	data, err := io.ReadAll(io.LimitReader(r, maxPiRequest))
	_, _ = io.Copy(io.Discard, r) // so that the agent's write does not fail
	if err != nil || json.Unmarshal(data, &q) != nil || q.Kind == "" {
		return PiRequest{}, false
	}
	q.Prompt = strings.ToValidUTF8(q.Prompt, "\ufffd")
	if len(q.Prompt) > maxPromptBytes {
		q.Prompt = strings.ToValidUTF8(q.Prompt[:maxPromptBytes], "")
	}
	for _, field := range []*string{&q.Cwd, &q.Session, &q.File, &q.Parent, &q.Entry, &q.State, &q.Call} {
		if len(*field) > maxFieldBytes {
			*field = ""
		}
	}
	if !filepath.IsAbs(q.File) {
		q.File = ""
	}
	return q, true
}

// piFails is the first version of the extension that says of a call that it failed. pi says that of each command that did not
// end with 0.
const piFails = 3

// Event is the request in the words of all agents' events.
func (q *PiRequest) Event() Event {
	e := Event{
		Agent: Pi, Name: string(q.Kind), SessionID: q.Session, PreviousSessionID: piSessionOf(q.Parent), TranscriptPath: q.File,
		Cwd: q.Cwd, Prompt: q.Prompt, Source: q.Reason,
	}
	switch q.Kind {
	case PiSessionStart:
		e.Kind = SessionStart
	case PiPrompt:
		e.Kind = Prompt
	case PiTurnEnd, PiAgentEnd, PiBind:
		e.Kind = Stop
	case PiTool, PiToolEnd:
		e.Kind, e.ToolUseID = PreTool, q.Call
		if q.Kind == PiToolEnd {
			e.Kind = PostTool
		}
		e.Tool = Tool{Name: q.Tool, Class: classOf(Pi, q.Tool), Command: q.Command, Failed: q.Failed}
		e.Tool.Succeeded = e.Kind == PostTool && e.Tool.Class == Shell && !q.Failed && q.Extension >= piFails
		if q.Path != "" {
			e.Tool.Files = []string{shell.Absolute(q.Cwd, q.Path)}
		}
	case PiShutdown:
		e.Kind = SessionEnd
	default:
		e.Kind = Notification
	}
	if e.PreviousSessionID == e.SessionID {
		e.PreviousSessionID = ""
	}
	return e
}

// piLate is how long ago a call may have begun or ended that pi reports only now.
const piLate = time.Minute

// Time is when what the request tells of happened: now, or a moment ago where it says so.
func (q *PiRequest) Time(now time.Time) time.Time {
	if at := time.UnixMilli(q.At); q.At != 0 && at.Before(now) && now.Sub(at) < piLate {
		return at
	}
	return now
}

// piSessionOf is the session whose file is called …/<time>_<id>.jsonl, "" for another name.
func piSessionOf(file string) string {
	name := file[strings.LastIndexAny(file, `/\`)+1:]
	_, id, ok := strings.Cut(strings.TrimSuffix(name, ".jsonl"), "_")
	if !ok || !strings.HasSuffix(name, ".jsonl") {
		return ""
	}
	return id
}

// Options are the choices at a menu: point says that the entry has files to go back to, undo that
// there is a restore to take back.
func PiOptionsAt(menu string, point, undo bool) (options []string) {
	switch menu {
	case "fork":
		options = append(options, PiKeepConversation)
		if point {
			options = append(options, PiRestoreAll, PiCodeOnly)
		}
	case "tree":
		options = append(options, PiKeepFiles)
		if point {
			options = append(options, PiRestoreFiles)
		}
	case "rewind":
		if point {
			options = append(options, PiCodeOnly)
		}
	}
	if undo {
		options = append(options, PiUndo)
	}
	return options
}

// PiDoes says what a choice at a menu means: restore the files of the entry, take the last restore
// back, and whether pi's own navigation is cancelled.
func PiDoes(menu, choice string) (restore, undo, cancel bool, err error) {
	switch choice {
	case PiKeepConversation, PiKeepFiles:
		return false, false, false, nil
	case PiRestoreAll, PiRestoreFiles:
		return true, false, false, nil
	case PiCodeOnly:
		return true, false, true, nil
	case PiUndo:
		return false, true, menu != "tree", nil
	}
	return false, false, true, fmt.Errorf("unknown choice %q", choice)
}

// Encode is the answer as it is printed.
func (a PiAnswer) Encode() []byte {
	a.Title, a.Inform = printable(a.Title), printable(a.Inform)
	for i := range a.Notices {
		a.Notices[i].Text = printable(a.Notices[i].Text)
	}
	for i := range a.Points {
		a.Points[i].Label = printable(a.Points[i].Label)
	}
	b, err := json.Marshal(a)
	if err != nil {
		return nil // strings always marshal
	}
	return append(b, '\n')
}

// PiFooter is the footer's text.
func PiFooter(points, snapshots int) string {
	return fmt.Sprintf("◆ %d points / %d snapshots", points, snapshots)
}
