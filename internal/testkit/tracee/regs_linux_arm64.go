package tracee

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const sysFstatat = unix.SYS_FSTATAT

// Register sets of the kernel's elf.h.
const (
	ntPrStatus      = 1
	ntARMSystemCall = 0x404
)

// skip makes the call that thread tid is about to make do nothing.
func skip(tid int) error {
	none := int32(-1)
	vec := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: 4}
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SETREGSET, uintptr(tid), ntARMSystemCall, uintptr(unsafe.Pointer(&vec)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// shorten sets the third argument of the call that is about to be made.
func shorten(tid int, size uint64) error {
	return change(tid, func(r *unix.PtraceRegsArm64) { r.Regs[2] = size })
}

// answer sets what the call returns that thread tid has just made.
func answer(tid int, value int64) error {
	return change(tid, func(r *unix.PtraceRegsArm64) { r.Regs[0] = uint64(value) })
}

func change(tid int, f func(*unix.PtraceRegsArm64)) error {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(tid, ntPrStatus, &r); err != nil {
		return err
	}
	f(&r)
	return unix.PtraceSetRegSetArm64(tid, ntPrStatus, &r)
}
