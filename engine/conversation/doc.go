// Package conversation is the conversation of a person and an agent, as a project stores it.
//
//  1. Capture puts what a transcript gained into a checkpoint's transaction.
//  2. FindPrompt finds where the Nth-last prompt of a session was; SessionWithPrompt, the session that is meant by that.
//  3. PrepareMove prepares a fork, or the transcript itself, for a place; Publish puts it there,
//     TakeBack removes it again. PrepareMovesBack is that for an undo.
//
// The agents' files are read and written by package transcript. A transcript is changed only
// if the person asked for that explicitly, and after a copy.
package conversation
