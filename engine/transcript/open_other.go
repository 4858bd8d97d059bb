//go:build !unix

package transcript

const openNonblock = 0
