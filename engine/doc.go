// Package engine is the verbs: init, save, restore, diff, export, gc, verify.
//
// A save goes like this:
//
//  1. Open finds the project's store, checks that it is ours, and reads its
//     settings. It opens neither Badger nor an index.
//  2. Save scans the tree against the head (package scan), which gives what
//     differs to a batch of package cas; no lock but the shared users lock is
//     held.
//  3. Under the append lock: the checkpoint record is committed with one
//     fsync, and the head is published.
//
// A restore takes the tree lock, saves a safety checkpoint, plans and applies
// (package restore), forks the conversation (package transcript), and records an
// operation, which UndoRestore walks. Both halves move or neither.
//
// A hook's save is a save with a budget: past it the request is left to a
// process of its own, which goes on without one (hook_queue.go, hook_work.go).
// A gc marks what the log needs, and lets package cas copy it out of the packs that go.
//
// The library never prints and never exits. Errors are typed; package cli
// turns them into messages, hints and exit codes. A Project is safe for
// concurrent use by goroutines and beside any number of other processes.
package engine
