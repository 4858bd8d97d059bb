package tracee

import "golang.org/x/sys/unix"

const sysFstatat = unix.SYS_NEWFSTATAT

// skip makes the call that thread tid is about to make do nothing.
func skip(tid int) error {
	return change(tid, func(r *unix.PtraceRegsAmd64) { r.Orig_rax = ^uint64(0) })
}

// shorten sets the third argument of the call that is about to be made.
func shorten(tid int, size uint64) error {
	return change(tid, func(r *unix.PtraceRegsAmd64) { r.Rdx = size })
}

// answer sets what the call returns that thread tid has just made.
func answer(tid int, value int64) error {
	return change(tid, func(r *unix.PtraceRegsAmd64) { r.Rax = uint64(value) })
}

func change(tid int, f func(*unix.PtraceRegsAmd64)) error {
	var r unix.PtraceRegsAmd64
	if err := unix.PtraceGetRegsAmd64(tid, &r); err != nil {
		return err
	}
	f(&r)
	return unix.PtraceSetRegsAmd64(tid, &r)
}
