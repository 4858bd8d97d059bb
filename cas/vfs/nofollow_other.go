//go:build !unix

package vfs

const noFollow = 0
