//go:build amd64 || arm64

package tracee

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Tracer says how a program is run and what is done to it.
type Tracer struct {
	Program string
	Args    []string // without the program's name
	Dir     string
	Env     []string
	In      string // its standard input
	Scratch string // a directory for what it reads and prints

	// Counts says which paths count; a call counts if one of its paths does. close never does.
	Counts func(path string) bool
	// Plan is called before each counted call; nil: all happen.
	Plan func(*Call) Fate
	Data bool // keep what is written
}

// RefusedError says that this machine does not let programs be traced.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return "ptrace is refused: " + e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Run runs the program to its end. Threads of it are traced, its children not.
// It has a process group of its own: other children of this process are waited
// for by others.
func (t *Tracer) Run() (_ *Result, err error) {
	// The thread that starts the program is the only one that may trace it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var std [3]*os.File
	for i, name := range []string{"in", "out", "err"} {
		if std[i], err = os.OpenFile(filepath.Join(t.Scratch, name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return nil, err
		}
		defer std[i].Close()
	}
	if _, err := std[0].WriteAt([]byte(t.In), 0); err != nil {
		return nil, err
	}
	pid, err := syscall.ForkExec(t.Program, append([]string{t.Program}, t.Args...), &syscall.ProcAttr{
		Dir: t.Dir, Env: t.Env, Files: []uintptr{std[0].Fd(), std[1].Fd(), std[2].Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		return nil, &RefusedError{err}
	}
	if err != nil {
		return nil, err
	}
	r := &run{Tracer: t, pid: pid, open: map[int]*pending{}, result: &Result{Code: -1}}
	if err := r.loop(); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // the error that matters is err
		r.reap()
		return nil, err
	}
	for i, to := range []*string{&r.result.Out, &r.result.Err} {
		data, err := os.ReadFile(std[i+1].Name())
		if err != nil {
			return nil, err
		}
		*to = string(data)
	}
	return r.result, nil
}

// run is a run in progress.
type run struct {
	*Tracer
	pid     int
	started bool
	counted int
	open    map[int]*pending // by thread: the call that it is in
	result  *Result
}

type pending struct {
	call *Call
	fate Fate
}

const options = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL

func (r *run) loop() error {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-r.pid, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("wait: %w", err)
		case status.Exited() && tid == r.pid:
			r.result.Code = status.ExitStatus()
			return nil
		case status.Signaled() && tid == r.pid:
			r.result.Signal = status.Signal()
			return nil
		case !status.Stopped():
			delete(r.open, tid)
			continue
		}
		deliver := 0
		switch sig := status.StopSignal(); {
		case !r.started: // the exec
			r.started = true
			if err := unix.PtraceSetOptions(tid, options); err != nil {
				return &RefusedError{err}
			}
		case sig == unix.SIGTRAP|0x80:
			if err := r.stopped(tid); err != nil && err != unix.ESRCH {
				return err
			}
		case sig == unix.SIGTRAP || sig == unix.SIGSTOP: // an event; a new thread
		default:
			deliver = int(sig)
		}
		// ESRCH: it was killed meanwhile.
		if err := unix.PtraceSyscall(tid, deliver); err != nil && err != unix.ESRCH {
			return fmt.Errorf("continue: %w", err)
		}
	}
}

func (r *run) reap() {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-r.pid, &status, unix.WALL|unix.WNOTHREAD, nil)
		if err != nil && err != unix.EINTR || tid == r.pid && (status.Exited() || status.Signaled()) {
			return
		}
	}
}

// callInfo is struct ptrace_syscall_info of the kernel's ptrace.h.
type callInfo struct {
	op     uint8
	_      [3]uint8
	_      uint32
	_, _   uint64
	number uint64 // at the entry; the result at the exit
	args   [6]uint64
	_      [2]uint64
}

const (
	getCallInfo = 0x420e // PTRACE_GET_SYSCALL_INFO
	atEntry     = 1
	atExit      = 2
)

// stopped is called when a thread begins or ends a system call.
func (r *run) stopped(tid int) error {
	var info callInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getCallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == unix.EIO || errno == unix.EINVAL:
		return &RefusedError{errors.New("the kernel is older than 5.3")}
	case errno != 0:
		return errno
	case info.op == atExit:
		return r.leave(tid, int64(info.number))
	case info.op != atEntry:
		return nil
	}
	call, err := decode(tid, info.number, info.args, r.Data)
	if call == nil || err != nil {
		return err
	}
	if !r.Counts(call.Path) && (call.To == "" || !r.Counts(call.To)) {
		return nil
	}
	p := &pending{call: call}
	r.open[tid] = p
	r.result.Calls = append(r.result.Calls, call)
	if call.Name == "close" {
		return nil
	}
	r.counted++
	call.N = r.counted
	if r.Plan == nil {
		return nil
	}
	p.fate = r.Plan(call)
	call.Failed = p.fate != Fate{}
	switch {
	case p.fate.Kill:
		return unix.Kill(r.pid, unix.SIGKILL)
	case p.fate.Errno != 0:
		return skip(tid)
	case p.fate.Short:
		return shorten(tid, info.args[2]/2)
	}
	return nil
}

// leave is called when a thread has made its call.
func (r *run) leave(tid int, value int64) error {
	p := r.open[tid]
	if p == nil {
		return nil
	}
	delete(r.open, tid)
	if p.fate.Errno != 0 {
		p.call.Errno = p.fate.Errno
		return answer(tid, -int64(p.fate.Errno))
	}
	if value < 0 && value > -4096 {
		p.call.Errno = syscall.Errno(-value)
		return nil
	}
	switch p.call.Name {
	case "openat", "openat2":
		p.call.FD = int(value)
	case "write", "pwrite64", "sendfile", "copy_file_range":
		p.call.Size = value
	}
	return nil
}
