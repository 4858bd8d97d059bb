// Package hook is what a hook does with its time: it takes a checkpoint, or leaves it to a
// detached process (queue.go), which takes it without a deadline (work.go) while later hooks keep
// what tools are about to change (preimage.go).
//
// What an agent said comes in decoded; decisions are package hookio's. It never prints.
package hook
