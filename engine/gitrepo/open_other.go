//go:build !unix

package gitrepo

const (
	nonblock = 0
	nofollow = 0
)
