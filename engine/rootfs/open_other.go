//go:build !linux

package rootfs

// Open opens the project's root. dir itself may be a link; nothing below is followed.
func Open(dir string) (FS, error) { return OpenPortable(dir) }
