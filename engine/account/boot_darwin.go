package account

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the system was started, by its clock as it is now; zero where that is not known.
func bootTime() time.Time {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}
	}
	return time.Unix(t.Unix())
}
