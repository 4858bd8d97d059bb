//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "rawwalk: only Linux has the system calls that it measures")
	os.Exit(1)
}
