package account

import (
	"cmp"
	"runtime"
)

// UnsupportedError: rewind is known to lose files on this system.
type UnsupportedError struct{ System string }

func (e *UnsupportedError) Error() string {
	return "rewind does not run on " + e.System + " yet: a restore could lose files there"
}

// allowWindows is for those who work on it.
const allowWindows = "REWIND_ALLOW_WINDOWS"

// Supported says whether stores are made and hooks run on this system. Error: *UnsupportedError.
func Supported(env Env) error {
	system := cmp.Or(env.System, runtime.GOOS)
	if system == "windows" && env.Variable(allowWindows) != "1" {
		return &UnsupportedError{System: "Windows"}
	}
	return nil
}
