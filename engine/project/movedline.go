package project

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/manifest"
)

// MovedAction is the action of the line that says what an operation did to a conversation.
const MovedAction = "conversation"

// MovedLine is that line. An operation's list of paths has at most one.
type MovedLine struct {
	Action  string      `json:"action"` // MovedAction
	Agent   string      `json:"agent"`
	Session string      `json:"session"`
	From    string      `json:"from,omitempty"`
	Resume  string      `json:"resume,omitempty"`
	Origin  string      `json:"origin,omitempty"` // shell command that opens From
	Next    string      `json:"next,omitempty"`   // session that an undo or redo names as the one to continue
	Was     string      `json:"was,omitempty"`    // session that an undo left; its redo goes back to it
	InPlace bool        `json:"in_place,omitempty"`
	Files   []MovedFile `json:"files"`
}

// MovedFile is one file of a moved conversation.
type MovedFile struct {
	File   string   `json:"file"`
	Temp   string   `json:"temp,omitempty"`
	Before *FileSum `json:"before,omitempty"` // nil: there was none
	Backup string   `json:"backup,omitempty"` // name below the store of the copy that holds Before
	After  *FileSum `json:"after,omitempty"`  // nil: there is none
	// Seen is what the file held before, where that is not Before, from which the backup leaves out what was forgotten. It is not kept.
	Seen *FileSum `json:"-"`
	// Forgotten is what forget redacts of After: the file itself stays the agent's, and a copy of it in the store is redacted.
	Forgotten []RedactedRun `json:"forgotten,omitempty"`
}

// RedactedRun is a run of bytes of a file that was redacted: its offset, and the mark that takes the place of as many bytes.
type RedactedRun struct {
	At   int64  `json:"at"`
	Text string `json:"text"`
}

// FileSum names a file's content.
type FileSum struct {
	Size int64  `json:"size"`
	Sum  string `json:"blake3"` // hexadecimal
}

// ParseMoved finds the line in a list of paths; nil for none.
func ParseMoved(list []byte) (*MovedLine, error) {
	for _, raw := range bytes.Split(list, []byte("\n")) {
		if !bytes.Contains(raw, []byte(`"action":"`+MovedAction+`"`)) {
			continue
		}
		var l MovedLine
		if err := json.Unmarshal(raw, &l); err != nil {
			return nil, &account.DamagedStoreError{What: "an operation's list of paths", Err: err}
		}
		if l.Action == MovedAction { // else it is a path that looks like it
			return &l, nil
		}
	}
	return nil, nil
}

// Moved is what an operation did to a conversation; nil for nothing.
func (p *Project) Moved(op manifest.Operation) (*MovedLine, error) {
	if op.Fork == "" && op.TranscriptBackup == "" {
		return nil, nil
	}
	list, err := p.ReadObject(op.Paths)
	if err != nil {
		return nil, err
	}
	return ParseMoved(list)
}

// ToContinue is the session that a person continues in after the operation.
func (l *MovedLine) ToContinue() string { return cmp.Or(l.Next, l.Session) }
