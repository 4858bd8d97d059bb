package project

import (
	"time"
)

// Safety checkpoints of the newest operations stay, so that they can be undone.
const (
	KeptOperations = 50
	KeptSafetyAge  = 7 * 24 * time.Hour
)
