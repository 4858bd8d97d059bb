package oplog

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Operations gives the operation log, newest first; limit 0 is all of it.
func Operations(ctx context.Context, p *project.Project, limit int) ([]manifest.Operation, error) {
	var out []manifest.Operation
	err := p.Query(ctx, func(db *manifest.DB) error {
		for o, err := range db.Operations() {
			if err != nil {
				return err
			}
			out = append(out, o)
			if limit > 0 && len(out) == limit {
				break
			}
		}
		return nil
	})
	return out, err
}

// Stacks reads the operation log as two stacks: what can be taken back, and
// what can be done again. The newest is last.
//
// Every operation is taken back the same way, from its After to its Before. So
// a redo takes back the undo, and goes onto the first stack in the place of
// what it did again.
func Stacks(newestFirst []manifest.Operation) (undo, redo []manifest.Operation) {
	for _, op := range slices.Backward(newestFirst) {
		undo, redo = push(undo, redo, op)
	}
	return undo, redo
}

// push takes one more operation into the stacks. What it takes off stays in the memory of undo.
func push(undo, redo []manifest.Operation, op manifest.Operation) (_, _ []manifest.Operation) {
	switch op.Kind {
	case manifest.OpRestore, manifest.OpUndo, manifest.OpRevert:
		if undo = append(slices.Clip(undo), op); op.Kind != manifest.OpUndo && !op.ChangesNothing() {
			redo = nil
		}
	case manifest.OpUndoRestore:
		if i := IndexOf(undo, op.Undoes); i >= 0 {
			undo, redo = undo[:i], append(slices.Clip(redo), op)
		}
	case manifest.OpRedoRestore:
		if i := IndexOf(redo, op.Undoes); i >= 0 {
			redo, undo = redo[:i], append(slices.Clip(undo), op)
		}
	}
	return undo, redo
}

func IndexOf(ops []manifest.Operation, seq uint64) int {
	return slices.IndexFunc(ops, func(o manifest.Operation) bool { return o.Seq == seq })
}

// OriginOf is the restore or undo whose doing an operation of the first stack stands for.
func OriginOf(ops []manifest.Operation, op manifest.Operation) manifest.Operation {
	for op.Kind == manifest.OpRedoRestore || op.Kind == manifest.OpUndoRestore {
		i := IndexOf(ops, op.Undoes)
		if i < 0 {
			break // of a log that lost its beginning
		}
		op = ops[i]
	}
	return op
}
