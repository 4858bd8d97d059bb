//go:build !darwin

package rootfs

import "os"

// toDevice makes a file's bytes durable.
func toDevice(f *os.File) error { return f.Sync() }
