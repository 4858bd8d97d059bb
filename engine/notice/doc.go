// Package notice keeps the one notice that an agent gets of an operation that changed files behind
// its back: its conversation still says otherwise.
//
// Comes in: an operation that was recorded, what it changed and what it kept. Goes out: one text for
// the agent's next prompt. The queue of a session is a file of its own beside the session's state, so
// that a hook where nothing is queued pays one failed open, and a state that is written by another hook
// at the same moment brings nothing back.
//
// It never prints, never decides when a hook may speak, and never says anything that is not so when it is given: of a path that is
// as the conversation knows it, whatever was done meanwhile, it says nothing.
package notice
