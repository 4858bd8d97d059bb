package settings

const openNonblock = 0

// syncDir does nothing: Windows has no fsync of a directory.
func syncDir(string) error { return nil }
