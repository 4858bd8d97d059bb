package remote

import "github.com/rewind-cli/rewind/engine/remote/bucket"

// OpenAs has every remote lie in b until the function that it gives is called.
func OpenAs(b bucket.Bucket) (restore func()) {
	was := open
	open = func(string, bucket.Options) (bucket.Bucket, error) { return b, nil }
	return func() { open = was }
}

// NewestLog is the id of the log that the last push of r ended.
func NewestLog(r *Remote) (string, error) {
	s, _ := parseStamp(r.mark().Before)
	return parentOf(s), nil
}

// Sent is how many objects the mark says are there.
func (r *Remote) Sent() (int, error) {
	return r.mark().Sent, nil
}

// The sizes at which a push goes another way; tests make them small.
var (
	MaxObject   = &maxObject
	ManyObjects = &manyObjects
)
