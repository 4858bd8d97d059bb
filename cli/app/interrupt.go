package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible gives a context that ends at the first Ctrl-C (or SIGTERM, or
// SIGHUP). After that the signals have their usual effect again, so that a
// second one kills.
func Interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // nohup means it
			signal.Notify(ch, sig)
		}
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-ch:
			signal.Stop(ch)
			cancel()
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel()
	}
}
