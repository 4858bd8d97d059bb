// Command launch runs one program and writes what it cost, as JSON, to the file
// named by its first argument. It is small on purpose: until a
// child has more memory of its own, Linux reports its parent's peak as the
// child's, so the parent must be smaller than everything that is measured.
//
//	launch REPORT PROGRAM ARGUMENT...
//
// Standard input, output and error are handed on. The exit code is 0 whenever
// the program could be started: its own is in the report.
package main

import (
	"encoding/json"
	"os"
	"time"

	"github.com/rewind-cli/rewind/bench/measure"
)

func main() {
	if len(os.Args) < 3 {
		os.Stderr.WriteString("launch: REPORT PROGRAM ARGUMENT...\n")
		os.Exit(2)
	}
	program, args := os.Args[2], os.Args[2:]
	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	start := time.Now()
	p, err := os.StartProcess(program, args, &os.ProcAttr{Files: files})
	if err != nil {
		os.Stderr.WriteString("launch: " + err.Error() + "\n")
		os.Exit(1)
	}
	state, err := p.Wait()
	wall := time.Since(start)
	if err != nil {
		os.Stderr.WriteString("launch: " + err.Error() + "\n")
		os.Exit(1)
	}
	u := measure.Usage{Wall: wall, User: state.UserTime(), System: state.SystemTime(), PeakRSS: peak(state), Exit: state.ExitCode()}
	data, err := json.Marshal(u)
	if err == nil {
		err = os.WriteFile(os.Args[1], data, 0o600)
	}
	if err != nil {
		os.Stderr.WriteString("launch: " + err.Error() + "\n")
		os.Exit(1)
	}
}
