//go:build !linux

package cli_test

func inMemory() {}
