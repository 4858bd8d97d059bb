// Command bare prints a version and does nothing else: the least that the start of a Go program with flags can cost.
// Built with the tag given, it imports the packages that rewind stores with, whose initialisation every start pays for; with page and remote,
// those that serve the page and those of a remote.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

func main() {
	version := pflag.Bool("version", false, "print the version")
	pflag.Parse()
	if *version {
		fmt.Fprintln(os.Stdout, "bare")
	}
}
