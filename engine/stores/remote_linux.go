package stores

import "golang.org/x/sys/unix"

// remoteFileSystem reports whether dir lies on a file system whose locks,
// inodes or change times cannot be trusted. Numbers from statfs(2).
func remoteFileSystem(dir string) (kind string, remote bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", false
	}
	switch uint32(st.Type) {
	case 0x6969:
		return "nfs", true
	case 0x01021997:
		return "9p", true
	case 0x65735546:
		return "fuse", true
	case 0xff534d42, 0xfe534d42, 0x517b:
		return "smb", true
	case 0x5346414f:
		return "afs", true
	case 0x00c36400:
		return "ceph", true
	case 0x6a656a63:
		return "virtiofs", true
	}
	return "", false
}
