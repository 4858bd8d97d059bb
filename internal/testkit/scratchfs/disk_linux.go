package scratchfs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Disk is an ext4 whose image can be copied at any moment while it is written
// to, as it would be found if the power went at that moment: with what has reached the
// device, and without what is in memory only. The image lies on a file system of its
// own; freezing that one stops the device between two writes.
type Disk struct {
	t     testing.TB
	outer string // where the outer file system is mounted
	image string
	Dir   string // where the file system is mounted
}

// NewDisk makes and mounts a disk of so many bytes. The test's end unmounts it.
func NewDisk(t testing.TB, size int64) *Disk {
	t.Helper()
	d := &Disk{t: t, outer: Mounted(t, 2*size, "noatime", "mkfs.ext4", "-q"), Dir: place(t)}
	d.image = filepath.Join(d.outer, "image")
	Image(t, d.image, size, "mkfs.ext4", "-q")
	Mount(t, d.image, d.Dir, "noatime")
	t.Cleanup(func() { Unmount(t, d.Dir) })
	return d
}

// Cut copies the image as it is at this moment to file.
func (d *Disk) Cut(file string) {
	d.t.Helper()
	dir, err := os.Open(d.outer)
	if err != nil {
		d.t.Fatal(err)
	}
	defer dir.Close()
	const freeze, thaw = 0xC0045877, 0xC0045878 // FIFREEZE, FITHAW
	if err := unix.IoctlSetInt(int(dir.Fd()), freeze, 0); err != nil {
		d.t.Skipf("NOT TESTED HERE: a file system cannot be frozen: %v", err)
	}
	err = copySparse(file, d.image)
	if err := unix.IoctlSetInt(int(dir.Fd()), thaw, 0); err != nil {
		d.t.Fatal(err)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// Swap puts another image in the place of the one that is mounted: power on again.
func (d *Disk) Swap(image string) {
	d.t.Helper()
	Unmount(d.t, d.Dir)
	Mount(d.t, image, d.Dir, "noatime")
}

// copySparse copies a file without its holes.
func copySparse(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	for at := int64(0); at < info.Size(); {
		data, err := unix.Seek(int(in.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil {
			return err
		}
		hole, err := unix.Seek(int(in.Fd()), data, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.NewOffsetWriter(out, data), io.NewSectionReader(in, data, hole-data)); err != nil {
			return err
		}
		at = hole
	}
	return out.Truncate(info.Size())
}
