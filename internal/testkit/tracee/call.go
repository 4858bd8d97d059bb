package tracee

import "syscall"

// Call is one system call on files.
type Call struct {
	N       int    // number among the counted calls of the run, from 1; 0: not counted
	Name    string // the kernel's, as "openat"
	FD      int    // the file that it works on, or the one that an open returned; -1: none
	Path    string // absolute: what it works on; of a rename or link the old name
	To      string // the new name of a rename or link; the target of a symbolic link; where a copy comes from
	Flags   int    // of open, rename, unlink and flock
	Mode    uint32 // of open, mkdir and chmod
	Size    int64  // bytes to read or write; the new size of a truncation
	Offset  int64  // of a write if the Tracer keeps data, else of a pwrite only; -1: not known
	Data    []byte // what it writes, if the Tracer keeps data
	Errno   syscall.Errno
	Failed  bool // by the Plan
	Changes bool // writes, names, locks or syncs something
	Writes  bool // takes space on the disk: a write, or a new name
	ByName  bool // looks a name up, so that permissions can refuse it
}

// Fate is what becomes of a call.
type Fate struct {
	Errno syscall.Errno // fails with it and does nothing
	Short bool          // writes half of the bytes
	Kill  bool          // the program dies before it, by SIGKILL
}

// Result is one run.
type Result struct {
	Code   int // exit code; -1: killed
	Signal syscall.Signal
	Calls  []*Call // in the order in which they began
	Out    string
	Err    string
}
