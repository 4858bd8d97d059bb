// Command rewind takes checkpoints of a project and puts them back.
package main

import (
	"os"

	"rewind/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, cli.Environment(), cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
