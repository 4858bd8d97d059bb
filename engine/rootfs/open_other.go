//go:build !linux

package rootfs

import "os"

// Open opens the project's root. dir itself may be a link; nothing below is followed.
func Open(dir string) (FS, error) { return OpenPortable(dir) }

// ReadAttrs reads the extended attributes of an open file. This system's are
// not carried over.
func ReadAttrs(*os.File) (Attrs, error) { return nil, nil }
