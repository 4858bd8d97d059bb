package register

import "os"

// ownLike does nothing: a new file belongs to who makes it.
func ownLike(*os.File, string) error { return nil }

// alive reports whether there is such a process.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release() // only a handle
	}
	return err == nil
}
