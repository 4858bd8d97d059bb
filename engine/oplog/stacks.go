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
// what it did again. Where that is several operations of the files alone, each from where the one before it ended, these go
// there themselves: the next undo is of the newest one.
func Stacks(newestFirst []manifest.Operation) (undo, redo []manifest.Operation) {
	var s stacks
	for _, op := range slices.Backward(newestFirst) {
		s.push(op)
	}
	return s.undo, s.redo
}

// stacks are the two, as an operation left them.
type stacks struct {
	undo, redo []manifest.Operation
	took       map[uint64][]manifest.Operation // what each undo took off the first stack, the newest last
}

// push takes one more operation into the stacks. It gives what that took off one of them, and what it put onto the other
// for that, if not itself; both the newest last.
func (s *stacks) push(op manifest.Operation) (gone, again []manifest.Operation) {
	switch op.Kind {
	case manifest.OpRestore, manifest.OpUndo, manifest.OpRevert:
		if s.undo = append(s.undo, op); op.Kind != manifest.OpUndo && !op.ChangesNothing() {
			s.redo = nil
		}
	case manifest.OpUndoRestore:
		if i := IndexOf(s.undo, op.Undoes); i >= 0 {
			gone = slices.Clone(s.undo[i:])
			if s.undo = s.undo[:i]; op.Verb == RedoVerb { // it went forward over an undo of work
				break
			}
			s.redo = append(s.redo, op)
			if s.took == nil {
				s.took = map[uint64][]manifest.Operation{}
			}
			s.took[op.Seq] = gone
		}
	case manifest.OpRedoRestore:
		if i := IndexOf(s.redo, op.Undoes); i >= 0 {
			gone = slices.Clone(s.redo[i:])
			if again = s.didAgain(op, gone); again == nil {
				s.undo = append(s.undo, op)
			}
			s.redo, s.undo = s.redo[:i], append(s.undo, again...)
		}
	}
	return gone, again
}

// didAgain gives the operations that a redo of undos did again, if they are several and none of it moved a conversation.
func (s *stacks) didAgain(redo manifest.Operation, undos []manifest.Operation) (again []manifest.Operation) {
	for _, u := range slices.Backward(undos) {
		again = append(again, s.took[u.Seq]...)
	}
	moved := func(o manifest.Operation) bool { return o.Fork != "" || o.TranscriptBackup != "" }
	if len(again) < 2 || moved(redo) || slices.ContainsFunc(undos, moved) || slices.ContainsFunc(again, moved) {
		return nil
	}
	for i, next := range again[1:] {
		if next.Before != again[i].After {
			return nil
		}
	}
	return again
}

// DidAgain gives the operations that a redo did again, the newest last, where they are several and each can be taken back by
// itself; else none.
func DidAgain(newestFirst []manifest.Operation, redo manifest.Operation) (again []manifest.Operation) {
	if redo.Kind != manifest.OpRedoRestore {
		return nil
	}
	var s stacks
	for _, op := range slices.Backward(newestFirst) {
		if _, again = s.push(op); op.Seq == redo.Seq {
			return again
		}
	}
	return nil
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
