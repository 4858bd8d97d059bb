package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// ranHere are the commands that scenes run in the process of the test: most of what a scene costs is the start of processes.
// TestMain's list of scenes with -race, and the tests of cli/rewind, run them as processes.
var ranHere = []string{
	"attempts", "back", "blame", "cat", "compare", "diff", "grep", "history", "hook", "list", "ls", "pin", "redo", "redo-restore", "rename", "restore",
	"revert", "save", "show", "stats", "status", "undo", "undo-restore", "unpin", "validate", "verify",
}

// exitStatus is how a command ended that ran in the process of the test.
type exitStatus int

func (e exitStatus) Error() string { return "exit status " + strconv.Itoa(int(e)) }
func (e exitStatus) ExitCode() int { return int(e) }

// runsHere reports whether a command of a scene can run in the process of the test. It cannot where the scene gives it another
// program, a time zone, a standard input or one that runs beside it, or where it starts git or a push, which take their environment from the process.
func runsHere(ts *testscript.TestScript, name string, args []string) bool {
	if name != "rewind" || len(args) == 0 || !slices.Contains(ranHere, args[0]) || ts.Getenv("TZ") != "" || !strings.HasPrefix(ts.Getenv("PATH"), filepath.Dir(ts.Getenv("PROGRAM"))) {
		return false
	}
	scene := strings.TrimPrefix(filepath.Base(ts.Getenv("WORK")), "script-")
	text, err := os.ReadFile(filepath.Join("testdata", "script", scene+".txt"))
	ts.Check(err)
	for _, other := range []string{"\nstdin ", "\nexec git ", "\nexec tmux ", "remote add ", "&\n"} {
		if bytes.Contains(text, []byte(other)) {
			return false
		}
	}
	return !slices.Contains(withRace, scene)
}

// runHere runs a command of a scene in the process of the test.
func runHere(ts *testscript.TestScript, args []string, in io.Reader) (stdout []byte, err error) {
	env := account.Environment()
	env.Home, env.Getenv, env.Dir, env.Program = ts.Getenv("HOME"), ts.Getenv, "", ts.Getenv("PROGRAM")
	env.Environ = append(os.Environ(), "HOME="+env.Home, "PATH="+ts.Getenv("PATH"))
	if dir, err := filepath.EvalSymlinks(ts.MkAbs(".")); err == nil {
		env.Dir = dir
	}
	var out bytes.Buffer
	code := cli.Main(append([]string{"rewind"}, args...), env, cli.Stdio{In: in, Out: io.MultiWriter(&out, ts.Stdout()), Err: ts.Stderr()})
	if code != 0 {
		err = exitStatus(code)
	}
	return out.Bytes(), err
}

// apart is how far the hooks of real agents are apart at least: more than a tick of the kernel's clock, by which files have their times.
const apart = 12 * time.Millisecond

// hookOf runs the hook of an agent with the payload in a file.
func hookOf(ts *testscript.TestScript, agent, file string) {
	if !runsHere(ts, "rewind", []string{"hook"}) {
		ts.Check(ts.Exec("sh", "-c", `rewind hook "$2" < "$1"`, "sh", file, agent))
		return
	}
	in, err := os.Open(file)
	ts.Check(err)
	defer in.Close()
	time.Sleep(apart)
	_, err = runHere(ts, []string{"hook", agent}, in)
	ts.Check(err)
}
