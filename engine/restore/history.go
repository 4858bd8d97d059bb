package restore

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// LogEntry is an operation as JSON has it: in rewind list --ops, and in the file of the restores.
type LogEntry struct {
	Seq              uint64  `json:"seq"`
	Time             string  `json:"time"` // RFC 3339, UTC
	Kind             string  `json:"kind"` // the command that it was
	Checkpoint       *string `json:"checkpoint"`
	Backup           *string `json:"backup_checkpoint"`
	Safety           *string `json:"safety"` // the same, as restore calls it
	TranscriptBackup *string `json:"transcript_backup"`
	Args             string  `json:"args"` // what was typed after the verb, "" if not known
}

// Log is a list of operations, newest first.
type Log struct {
	Operations []LogEntry `json:"operations"`
}

// LogOf gives operations as JSON has them.
func LogOf(p *project.Project, ops []manifest.Operation) Log {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	id := func(id manifest.CheckpointID) *string {
		if id == (manifest.CheckpointID{}) {
			return nil
		}
		return orNull(id.String())
	}
	l := Log{Operations: make([]LogEntry, len(ops))}
	for i, op := range ops {
		l.Operations[i] = LogEntry{
			Seq: op.Seq, Time: op.Time.UTC().Format(time.RFC3339Nano), Kind: VerbOf(op), Checkpoint: id(op.Checkpoint),
			Backup: id(op.Safety), Safety: id(op.Safety), TranscriptBackup: orNull(conversation.TranscriptBackup(p, op)), Args: op.Args,
		}
	}
	return l
}

// VerbOf is the command that an operation was.
func VerbOf(op manifest.Operation) string {
	if op.Verb != "" {
		return op.Verb
	}
	return string(op.Kind)
}

// commandOf is the command that makes such an operation today.
func commandOf(op manifest.Operation) string {
	switch verb := VerbOf(op); verb {
	case string(manifest.OpUndoRestore):
		return oplog.UndoVerb
	case string(manifest.OpRedoRestore):
		return oplog.RedoVerb
	default:
		return verb
	}
}

// keptHistory is how many restores the file lists.
const keptHistory = 1000

// WriteHistory lists the restores of the log in a file, for people and scripts: nothing reads it
// here, and what cannot be written is written with the next. What was forgotten is in it no more.
func WriteHistory(ctx context.Context, p *project.Project) {
	ops, err := oplog.Operations(ctx, p, 0)
	if err != nil {
		return
	}
	var moves []manifest.Operation
	for _, op := range ops {
		if op.Kind.Moves() && len(moves) < keptHistory {
			moves = append(moves, op)
		}
	}
	name := filepath.Join(p.StoreDir(), account.RestoreHistoryName)
	if len(moves) == 0 {
		_ = account.RemoveIfThere(name)
		return
	}
	data, err := json.MarshalIndent(LogOf(p, moves), "", "  ")
	if err == nil {
		_ = account.WriteCache(name, append(data, '\n'), p.Owner)
	}
}
