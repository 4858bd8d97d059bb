package account

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is when the system was started, by its clock as it is now; zero where that is not known.
func bootTime() time.Time {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}
	}
	return time.Now().Add(-time.Duration(up.Nano()))
}
