package rootfs

import "io/fs"

// InfoOf translates what package os says; systemInfo adds what only the
// system's own structure has.
func InfoOf(fi fs.FileInfo) Info {
	i := Info{Mode: Bits(fi.Mode()), Size: fi.Size(), Mtime: fi.ModTime().UnixNano(), Nlink: 1}
	switch m := fi.Mode(); {
	case m.IsRegular():
		i.Kind = Regular
	case m.IsDir():
		i.Kind = Directory
	case m&fs.ModeSymlink != 0:
		i.Kind = Link
	case m&fs.ModeNamedPipe != 0:
		i.Kind = FIFO
	case m&fs.ModeSocket != 0:
		i.Kind = Socket
	default:
		i.Kind = Device
	}
	systemInfo(&i, fi.Sys())
	return i
}

// Bits are the bits 07777 of a mode.
func Bits(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	if m&fs.ModeSetuid != 0 {
		b |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		b |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		b |= 0o1000
	}
	return b
}

// GoMode is the mode that has the bits 07777.
func GoMode(b uint32) fs.FileMode {
	m := fs.FileMode(b & 0o777)
	if b&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if b&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if b&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}
