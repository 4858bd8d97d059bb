//go:build unix

package table

// ignoreUnsupported keeps errors of a directory's fsync: here a directory has one.
func ignoreUnsupported(err error) error { return err }
