package account

import "runtime"

// UnsupportedError: rewind is known to lose files on this system.
type UnsupportedError struct{ System string }

func (e *UnsupportedError) Error() string {
	return "rewind does not run on " + e.System + " yet: a restore could lose files there"
}

// allowWindows is for those who work on it.
const allowWindows = "REWIND_ALLOW_WINDOWS"

// Supported says whether stores are made and hooks run on this system. Error: *UnsupportedError.
func Supported(env Env) error {
	system := env.System
	if system == "" {
		system = runtime.GOOS
	}
	return supported(system, env.Variable)
}

func supported(system string, getenv func(string) string) error {
	if system == "windows" && getenv(allowWindows) != "1" {
		return &UnsupportedError{System: "Windows"}
	}
	return nil
}
