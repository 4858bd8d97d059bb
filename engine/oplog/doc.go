// Package oplog reads the operation log: each restore, undo, redo and revert, what it changed, and which of them can be
// taken back or done again. It changes nothing.
//
// Log lists the operations with what is known of each. Stacks is the one rule of what undo and redo go through. The paths
// that an operation changed are lines of JSON (PathLine), one for each path.
package oplog
