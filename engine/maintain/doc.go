// Package maintain has what keeps a store small and whole, and what removes from it on request: retention and gc, forget, verify
// and repair, and the sizes that stats prints.
//
// GC marks what living checkpoints and operations need, and lets package cas copy it out of the packs
// that go. There is no grace period: the users lock, and marking what was committed during the copy
// (see cas/apply.go), take its place; only temporary files wait (leftAge). Forget rewrites every tree, record and conversation that holds what is to go,
// and then has no byte of it left (see forget_purge.go). If the log cannot be read whole, nothing is removed.
package maintain
