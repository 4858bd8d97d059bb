package stores

import "strings"

// remoteByName tells of a mounted file system, by the name that macOS gives it,
// whether its locks, inodes or change times cannot be trusted. local is what the system
// says of the volume: one of a server is not, but one that a program of the user
// serves may be.
func remoteByName(name string, local bool) (kind string, remote bool) {
	switch name = strings.ToLower(name); name {
	case "nfs", "9p", "webdav", "ftp", "vmhgfs", "prl_fs", "acfs":
		return name, true
	case "smbfs", "cifs":
		return "smb", true
	case "afpfs":
		return "afp", true
	case "virtiofs", "applevirtiofs":
		return "virtiofs", true
	}
	if strings.Contains(name, "fuse") {
		return "fuse", true
	}
	return name, !local
}

// Remote reports whether a directory is on a file system of another machine, and of which kind.
func Remote(dir string) (kind string, remote bool) { return remoteFileSystem(dir) }
