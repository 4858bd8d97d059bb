// Package hook is what a hook does with its time. An agent's event comes in as plain values; a Call
// decides whether a checkpoint is due (due.go) and takes it, or leaves it to a detached process
// (queue.go), which takes it without a deadline (work.go) while later hooks keep what tools are
// about to change (preimage.go). What the next hook must know is in the session's state (session.go).
//
// It knows no payloads: those are package hookio's. It never prints.
package hook
