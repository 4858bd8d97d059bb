// Package restore has the commands that change the project or a conversation: restore, undo, redo, revert, back,
// checkout, run and bisect.
package restore
