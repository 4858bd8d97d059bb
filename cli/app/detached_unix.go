//go:build unix

package app

import "syscall"

// detached is a process that is in no session of an agent or a terminal: it gets none of the signals that end those.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
