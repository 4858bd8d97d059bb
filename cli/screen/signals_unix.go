//go:build !windows

package screen

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// resizes sends when the terminal's size changes, and when the process continues after a stop.
func resizes() (<-chan os.Signal, func()) {
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, syscall.SIGWINCH, syscall.SIGCONT)
	return ch, func() { signal.Stop(ch) }
}

// continued reports whether the process was stopped.
func continued(s os.Signal) bool { return s == syscall.SIGCONT }

// suspend stops the process and its group, as ctrl-z does where the terminal is not in raw mode, and
// returns when it continues; at once if nothing could continue it.
func suspend() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGCONT)
	defer signal.Stop(ch)
	if syscall.Kill(0, syscall.SIGTSTP) != nil {
		return
	}
	select {
	case <-ch:
	case <-time.After(500 * time.Millisecond):
	}
}
