// Package attribution says who changed what: which call of which agent's session, an operation of the
// person's, or unknown, which counts as the person.
//
// In come the checkpoints and operations of the log, the windows that hooks left beside them (when an
// agent's work began and ended), the change times of paths, and touches of single paths. Out go steps: a
// path's entry before and after, and an owner. What is uncertain is marked as such: see Class.
//
// The rule. A path's history is cut where somebody looked at it: at checkpoints, operations and touches.
// Between two cuts could have written it: windows that hold its change time, windows of shells that were
// open earlier (an overwritten write leaves no trace), and edits that declare it. One: that one. Several:
// the likeliest, and also the others. None: the person. A window that was never closed ends at its session's
// next event; a command that was left in the background, with its session; and to an edit belongs what
// happens to its path within a second of its end, for formatters run beside our hook.
//
// Checkpoints without windows, of an older program, are windows themselves: a call's begins with its
// checkpoint and ends with its session's next.
package attribution
