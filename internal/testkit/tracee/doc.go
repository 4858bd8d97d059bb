// Package tracee runs a program and sees each of its file system calls before
// it happens: it can log it, let it fail, shorten a write, or kill the program.
// It is for tests of whole commands: no seam in the program is needed, and none
// can be forgotten. Linux on amd64 and arm64 only, by ptrace.
//
//  1. Run starts the program and stops all its threads at each system call.
//  2. A call that works on files is decoded into a Call, with absolute paths.
//  3. Those that the Tracer counts get a number and are put before its Plan,
//     which says what becomes of them.
//  4. What happened is in the Result.
package tracee
