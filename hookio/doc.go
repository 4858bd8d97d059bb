// Package hookio is the wire formats of coding agents: hook payloads in,
// decisions out, and their settings files.
//
//  1. Args reads the words after "rewind hook": an agent's name, or one of the
//     older action names.
//  2. Decode reads a payload from stdin to its end in bounded memory, detects
//     the agent, and gives one Event whatever the agent calls things.
//  3. Root says which directory the event is about; MomentOf which of the
//     tier's moments it is.
//  4. Guard refuses a tool call that would write into the store, remove it, or
//     run rewind's own destructive commands.
//  5. Decide says whether to take a checkpoint: tier, debounce, significance;
//     Destructive recognises shell commands that are never held back.
//  6. A Response is what goes back to the agent: nearly always nothing.
//
// RegisterClaude, RegisterDroid and their opposites edit settings files as text:
// comments, order and formatting stay, and what they add can be taken away to
// the byte. Update writes such an edit: backup, temporary file, fsync, rename.
//
// All but Update and Decode's reading are pure functions, safe for concurrent
// use. Nothing here trusts its input: payloads, commands and settings may hold
// anything, and never make a function panic or allocate without bound.
package hookio
