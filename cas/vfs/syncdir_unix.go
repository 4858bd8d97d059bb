//go:build unix

package vfs

import (
	"errors"
	"os"
)

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil // a file system that has no such thing
}
