//go:build !unix

package scan

const noFollow = 0
