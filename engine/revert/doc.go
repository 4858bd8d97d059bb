// Package revert takes back the work of one turn, one call or one session, and keeps what others did, in the same files too.
//
// Which work is meant is package work's answer. For each path that the work changed, a fileRevert decides what becomes of it:
// it goes back, lines of it go, it stays, or it is a conflict that the person chooses about. The target tree then goes through
// restore.Do, so that a revert is an operation like a restore: with a safety checkpoint, all of it or nothing, and undone
// like one.
package revert
