//go:build !linux && !darwin

package stores

// remoteFileSystem does not recognise any here.
func remoteFileSystem(string) (kind string, remote bool) { return "", false }
