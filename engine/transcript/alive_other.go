//go:build !unix

package transcript

import "os"

// processAlive tries to open the process, which fails where it has ended.
func processAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}
