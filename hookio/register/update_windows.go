package register

import "os"

// ownLike does nothing: a new file belongs to who makes it.
func ownLike(string, string) error { return nil }

// owned: the system itself keeps others from writing.
func owned(os.FileInfo) bool { return true }
