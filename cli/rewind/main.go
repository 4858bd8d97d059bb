// Command rewind takes checkpoints of a project and puts them back.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

func main() {
	collectLate()
	os.Exit(cli.Main(os.Args, account.Environment(), cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

// collectLate keeps the garbage collector from starting below 32 MB of heap
// instead of 4: most runs end before they need it. A save of one edit in a directory of
// 20,000 entries takes half the processor time so. After the first collection
// the heap grows as usual.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(800)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, 100)
}
