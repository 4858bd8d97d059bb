//go:build linux && !amd64

package main

import "golang.org/x/sys/unix"

const statAt = unix.SYS_FSTATAT
