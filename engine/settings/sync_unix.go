//go:build !windows

package settings

import (
	"os"
	"syscall"
)

const openNonblock = syscall.O_NONBLOCK

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}
