// Command rewind takes checkpoints of a project and puts them back.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

func main() {
	ballast := collectLate()
	code := cli.Main(os.Args, account.Environment(), cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// collectLate lets the garbage collector begin at 32 MB of heap instead of 4, since most runs end before they
// need it, and lets 16 MB more be made before each further collection: a few megabytes that live would otherwise
// be looked through again and again. A save of one edit in a directory of 20,000 entries takes half the processor time so.
//
// What it gives counts as heap for as long as it is kept, but is never touched, and so takes no memory.
func collectLate() (ballast []byte) {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(1200)
	runtime.AddCleanup(new([16]byte), collectAgain, 1200)
	return make([]byte, 16<<20)
}

// much is from how many bytes that live on the heap is collected when half of them were made, and not as much again: so a
// tree of a million files takes a quarter less memory.
const much = 64 << 20

// collectAgain sets after each collection how much is made before the next one.
func collectAgain(percent int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	next := 100
	if live[0].Value.Uint64() > much {
		next = 50
	}
	if next != percent {
		debug.SetGCPercent(next)
	}
	runtime.AddCleanup(new([16]byte), collectAgain, next)
}
