//go:build !windows

package screen

import (
	"os"
	"os/signal"
	"syscall"
)

// resizes tells when the terminal has another size.
func resizes() (<-chan os.Signal, func()) {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGWINCH)
	return ch, func() { signal.Stop(ch) }
}
