package register

import "os"

// ownLike does nothing: a new file belongs to who makes it.
func ownLike(*os.File, string) error { return nil }
