//go:build !unix

package vfs

func narrowUmask() func() { return func() {} }
