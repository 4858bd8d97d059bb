package bucket

import "time"

// Hasten makes the pauses between attempts short.
func Hasten(b Bucket) { b.(*s3).pause = time.Millisecond }
