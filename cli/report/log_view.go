package report

import (
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// LogView is the document of log; logEntryView is what its operations have beside the fields of
// the file that lists the restores.
type LogView struct {
	Operations []logEntryView `json:"operations"`
}

type logEntryView struct {
	N int `json:"n"` // 1 for the newest
	restore.LogEntry
	Added       uint64   `json:"added"`
	Modified    uint64   `json:"modified"`
	Deleted     uint64   `json:"deleted"`
	CheckpointN int      `json:"checkpoint_n"` // as list numbers it; 0 for a safety checkpoint and one that is gone
	Prompt      string   `json:"prompt"`       // of that checkpoint
	TakesBack   []uint64 `json:"takes_back"`   // sequence numbers, newest first
	TakenBackBy *uint64  `json:"taken_back_by"`
}

func ViewLog(p *project.Project, ops []oplog.Logged) LogView {
	v := LogView{Operations: make([]logEntryView, len(ops))}
	for i, e := range restore.LogOf(p, OperationsOf(ops)).Operations {
		op := ops[i]
		entry := logEntryView{N: op.N, LogEntry: e, Added: op.Created, Modified: op.Replaced, Deleted: op.Deleted, TakesBack: append([]uint64{}, op.TakesBack...)}
		if op.Target != nil {
			entry.CheckpointN, entry.Prompt = op.Target.N, op.Target.Prompt
		}
		if op.TakenBackBy != 0 {
			entry.TakenBackBy = &op.TakenBackBy
		}
		v.Operations[i] = entry
	}
	return v
}

// OperationsOf are the operations without what the log says beside them.
func OperationsOf(list []oplog.Logged) []manifest.Operation {
	ops := make([]manifest.Operation, len(list))
	for i := range list {
		ops[i] = list[i].Operation
	}
	return ops
}
