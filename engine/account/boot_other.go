//go:build !linux && !darwin

package account

import "time"

// bootTime is not known here; RACY.md says what that costs.
func bootTime() time.Time { return time.Time{} }
