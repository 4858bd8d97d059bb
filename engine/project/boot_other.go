//go:build !linux && !darwin

package project

import "time"

// bootTime is not known here; RACY.md says what that costs.
func bootTime() time.Time { return time.Time{} }
