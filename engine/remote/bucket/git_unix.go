//go:build unix

package bucket

import (
	"os/exec"
	"syscall"
)

// inGroup has a program end with all that it starts. It has no terminal: nothing of it can ask a question there.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
