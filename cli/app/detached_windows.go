package app

import "syscall"

const createNewProcessGroup, detachedProcess = 0x200, 0x8

// detached is a process that is in no session of an agent or a terminal: it gets none of the signals that end those.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup | detachedProcess}
}
