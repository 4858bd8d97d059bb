//go:build !windows

package app

// ShellCommand runs a line as the person wrote it in the environment.
func ShellCommand(line string) []string { return []string{"/bin/sh", "-c", line} }
