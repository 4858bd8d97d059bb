//go:build !linux && !darwin

package stores

// remoteFileSystem is not told apart here.
func remoteFileSystem(string) (kind string, remote bool) { return "", false }
