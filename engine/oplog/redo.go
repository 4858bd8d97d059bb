package oplog

import (
	"slices"

	"github.com/rewind-cli/rewind/manifest"
)

// Verbs of operations that undo and redo made, where the kind says how the log reads them.
const (
	UndoVerb = "undo"
	RedoVerb = "redo"
)

// Redoable are the undos that redo can go over again, the newest last: those since the last restore or revert.
func Redoable(newestFirst []manifest.Operation) (list []manifest.Operation) {
	for _, op := range slices.Backward(newestFirst) {
		list = redoableAfter(list, op)
	}
	return list
}

func redoableAfter(list []manifest.Operation, op manifest.Operation) []manifest.Operation {
	i := IndexOf(list, op.Undoes)
	switch {
	case op.Kind == manifest.OpRestore || op.Kind == manifest.OpRevert:
		if !op.ChangesNothing() {
			list = nil
		}
	case op.Kind == manifest.OpUndo:
		list = append(list, op)
	case op.Kind != manifest.OpUndoRestore && op.Kind != manifest.OpRedoRestore || op.PutsBack():
	case i >= 0 && op.Kind == manifest.OpUndoRestore && op.Verb == UndoVerb: // work came in between
		list = append(list[:i:i], op)
	case i >= 0:
		list = list[:i]
	default:
		list = append(list, op)
	}
	return list
}

// RedoKind is the kind of the operation that goes over one of Redoable again.
func RedoKind(op manifest.Operation) manifest.OperationKind {
	if op.Kind == manifest.OpUndoRestore {
		return manifest.OpRedoRestore
	}
	return manifest.OpUndoRestore
}

// TakenBackWhole reports whether an undo takes back, as one step, an operation that went forward again over undos: where that
// moved git's own state, of which no checkpoint says how it was in between, or went over other work.
func TakenBackWhole(newestFirst []manifest.Operation, op manifest.Operation) bool {
	switch {
	case op.Kind == manifest.OpRedoRestore:
		// This is a redo of the undo of such an operation.
		for range 2 {
			i := IndexOf(newestFirst, op.Undoes)
			if i < 0 {
				return false
			}
			op = newestFirst[i]
		}
		return TakenBackWhole(newestFirst, op)
	case op.Kind != manifest.OpUndoRestore || op.Verb != RedoVerb:
		return false
	}
	return !op.GitAfter.IsZero() || redoneOverWork(newestFirst, op)
}

// redoneOverWork reports whether an operation is a redo of undos of work that did not lead to where work had begun: there was
// other work between one of the undos and what came after it. What it led to is then no state from before these undos, and
// to undo it is to take it back.
func redoneOverWork(newestFirst []manifest.Operation, redo manifest.Operation) bool {
	var list []manifest.Operation
	for _, op := range slices.Backward(newestFirst) {
		if op.Seq == redo.Seq {
			break
		}
		list = redoableAfter(list, op)
	}
	i := IndexOf(list, redo.Undoes)
	if i < 0 {
		return false // of a log that lost its beginning
	}
	at := redo.Before
	for _, undo := range slices.Backward(list[i:]) {
		if undo.After != at {
			return true
		}
		at = undo.Before
	}
	return false
}
