package project

import (
	"time"
)

// Safety checkpoints of the newest operations stay, so that they can be undone, and others until they are of an age. An operation's
// own trees stay as long as its safety checkpoint.
const (
	KeptOperations = 50
	KeptSafetyAge  = 7 * 24 * time.Hour
)
