package bucket

import "time"

// Hasten makes the pauses between attempts short.
func Hasten(b Bucket) { b.(*s3).pause = time.Millisecond }

// LimitChains makes the limit of a listing by git small, until the test ends.
func LimitChains(n int64) (undo func()) {
	was := maxChains
	maxChains = n
	return func() { maxChains = was }
}

// SizeOf is how many bytes of packs a temporary repository has.
var SizeOf = sizeOf
