// Package oplog reads the operation log: each restore, undo, redo and revert, what it changed, and which of them can be
// taken back or done again. It changes nothing.
//
// Log lists the operations with what is known of each. Redoable is what redo goes over; undo's way through operations and the
// states between them is in restore/undo_past.go. Stacks says which operations can be taken back, and is how undo-restore
// and redo-restore, the older names, go through the log. The paths
// that an operation changed are lines of JSON (PathLine), one for each path.
package oplog
