//go:build !linux

package rootfs

import "os"

// mountOf identifies the mount that a name is on. On these systems each mount has a device number of its own.
func mountOf(root *os.Root, name string) (uint64, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return 0, err
	}
	return InfoOf(fi).Dev, nil
}

// MountsBelow lists what the device number does not tell of the mounts below root.
func MountsBelow(string) []string { return nil }
