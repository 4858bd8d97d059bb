//go:build !unix

package vfs

func mapFile(name string) ([]byte, func() error, error) { return readFile(name) }
