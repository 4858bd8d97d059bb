package account

import "syscall"

// birthTime is when a file was made, in nanoseconds since 1970.
func birthTime(st *syscall.Stat_t) int64 { return st.Birthtimespec.Nano() }
