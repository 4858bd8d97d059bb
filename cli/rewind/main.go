// Command rewind takes checkpoints of a project and puts them back.
package main

import (
	"os"

	"rewind/cli"
	"rewind/engine"
)

func main() {
	os.Exit(cli.Main(os.Args, engine.Environment(), cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
