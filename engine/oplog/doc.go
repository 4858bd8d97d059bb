// Package oplog reads the operation log: each restore, undo, redo and revert, what it changed, and which of them can be
// taken back or done again. It changes nothing.
//
// Log lists the operations with what is known of each. Stacks is the one rule of which operations undo and redo go through;
// undo's way through the states between them is in restore/undo_past.go. The paths
// that an operation changed are lines of JSON (PathLine), one for each path.
package oplog
