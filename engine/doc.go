// Package engine is what a person does to a project: init, save, diff, restore, undo, export,
// and the questions that are asked of its checkpoints.
//
// A save: Save captures the tree and the conversation (package checkpoint), which commits
// them (package commit) and publishes the stat cache (package scan).
//
// A restore:
//
//  1. It takes the tree lock, and recovers a restore that crashed.
//  2. It captures the tree as it is (checkpoint) and plans the way (package restore), under the
//     rules of both (package rules) and what the target is known not to have seen.
//  3. It prepares the conversation's half (package conversation) and saves a safety checkpoint.
//  4. It applies the plan, puts the conversation in place, and records an operation, which
//     UndoRestore walks. Both halves move or neither.
//
// The packages below it, from the bottom up: account, project, stores, commit, rules and pathspec, conversation,
// checkpoint, maintain, hook. docs/ARCHITECTURE.md draws them.
//
// Nothing here prints or exits. Errors are typed; package cli turns them into messages, hints and
// exit codes. A Project is safe for concurrent use by goroutines and beside any number
// of other processes.
package engine
