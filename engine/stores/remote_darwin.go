package stores

import "golang.org/x/sys/unix"

// remoteFileSystem asks statfs.
func remoteFileSystem(dir string) (kind string, remote bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", false
	}
	return remoteByName(unix.ByteSliceToString(st.Fstypename[:]), st.Flags&unix.MNT_LOCAL != 0)
}
