package hook

import "runtime/debug"

// crashSafely makes a crash end the process as the system ends crashed ones,
// and not with Go's exit code 2, which blocks agents.
func crashSafely() { debug.SetTraceback("wer") }

func lowPriority() {}

// hasTerminal is not known here: the machine is taken for a person's.
func hasTerminal() bool { return true }
