//go:build unix

package hook

import (
	"os"
	"runtime/debug"
	"syscall"
)

// crashSafely makes what Go cannot recover from (a panic in a goroutine, a
// concurrent map write, no memory, a bus error) end the process by SIGABRT: with
// its exit code 2 it would erase the person's prompt or block the tool call. No
// core is left behind.
func crashSafely() {
	debug.SetTraceback("crash")
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // a core is a nuisance, no more
}

// lowPriority lets the agent and its tools go first.
func lowPriority() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 5) }

// hasTerminal reports whether a person can be at a terminal of this process.
func hasTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err == nil {
		f.Close()
	}
	return err == nil
}
