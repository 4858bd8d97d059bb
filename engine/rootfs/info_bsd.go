//go:build darwin || freebsd || netbsd

package rootfs

import "syscall"

const nonblock = syscall.O_NONBLOCK

func systemInfo(i *Info, sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		i.Ctime = st.Ctimespec.Nano()
		i.Dev, i.Ino, i.Nlink = uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink)
		i.UID, i.GID = st.Uid, st.Gid
	}
}
