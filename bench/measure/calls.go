package measure

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Calls are the system calls of one process and its children.
type Calls struct {
	Total  int
	Fsyncs int // fsync, fdatasync, syncfs, sync_file_range and sync
}

// Calls counts the system calls of a command with strace. ok is false where
// there is no strace, or it may not trace.
func (r *Runner) Calls(ctx context.Context, c Command) (calls Calls, ok bool) {
	if _, err := exec.LookPath("strace"); err != nil {
		return Calls{}, false
	}
	table := filepath.Join(r.Tmp, "strace.txt")
	c.Args = append([]string{"strace", "-f", "-c", "-o", table}, c.Args...)
	if _, err := r.Run(ctx, c); err != nil {
		return Calls{}, false
	}
	data, err := os.ReadFile(table)
	if err != nil {
		return Calls{}, false
	}
	return parseCalls(string(data)), true
}

// parseCalls reads the table that strace -c writes: share, seconds, usecs/call,
// calls, errors (may be empty), name.
//
// What the Go runtime does for a timer that strace's slowness makes fire
// (nanosleep, tgkill, getpid, rt_sigreturn, futex) is left out: it is not there
// without strace.
func parseCalls(table string) Calls {
	var c Calls
	lines := bufio.NewScanner(strings.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 5 {
			continue
		}
		n, err := strconv.Atoi(f[3])
		if err != nil {
			continue
		}
		switch f[len(f)-1] {
		case "total", "nanosleep", "tgkill", "getpid", "rt_sigreturn", "futex":
		case "fsync", "fdatasync", "syncfs", "sync_file_range", "sync":
			c.Fsyncs += n
			c.Total += n
		default:
			c.Total += n
		}
	}
	return c
}
