package app

import "syscall"

const createNewProcessGroup, detachedProcess = 0x200, 0x8

// Detached is a process that is in no session of an agent or a terminal: it gets none of the signals that end those.
func Detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup | detachedProcess}
}
