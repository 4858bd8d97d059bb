package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// crashingName is the name under which this test binary is the program: one that can be told to crash.
const crashingName = "rewind-that-crashes"

func TestMain(m *testing.M) {
	inMemory()
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) { // as behind nohup: what is started here would ignore it, too
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	testscript.Main(tests{m}, map[string]func(){
		crashingName: func() {
			args := append([]string{"rewind"}, os.Args[1:]...)
			os.Exit(cli.Main(args, account.Environment(), cli.Stdio{In: programInput(), Out: os.Stdout, Err: os.Stderr}))
		},
	})
}

// tests are run with the program on PATH, and one that can be told to crash.
type tests struct{ *testing.M }

// Run builds the program for itself, with -race where the tests are: a test binary takes three times as long to start.
func (m tests) Run() int {
	runsNone := func(arg string) bool {
		return strings.HasPrefix(arg, "-test.list") || strings.HasPrefix(arg, "-test.fuzz")
	}
	if slices.ContainsFunc(os.Args[1:], runsNone) {
		return m.M.Run()
	}
	dir, err := buildProgram()
	defer os.RemoveAll(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return m.M.Run()
}

// buildProgram gives the directory that it is in, also as the programs that went before it.
func buildProgram() (dir string, err error) {
	dir, err = os.MkdirTemp("", "rewind-program-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "rewind")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	args := []string{"build", "-o", file}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "./rewind")...)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return dir, err
	}
	for _, name := range []string{"smart-checkpoint", "smart-checkpoint.sh"} {
		if err := os.Link(file, filepath.Join(dir, name)); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// program is the file of the program.
func program(t testing.TB) string {
	t.Helper()
	file, err := exec.LookPath("rewind")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// cmdProgram runs the program under a name. Its answer with --json is held to the command's schema.
func cmdProgram(name string) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if n := len(args); n > 0 && strings.HasPrefix(args[n-1], "&") {
			ts.Fatalf("in the background it is: exec %s … &", name)
		}
		switch err := runChecked(ts, name, args); {
		case err == nil && neg:
			ts.Fatalf("unexpected command success")
		case err != nil && !neg:
			ts.Fatalf("unexpected command failure: %v", err)
		}
	}
}

// runChecked runs a command of a scene.
func runChecked(ts *testscript.TestScript, name string, args []string) error {
	err := ts.Exec(name, args...)
	if name == "rewind" && slices.Contains(args, "--json") && args[0] != "hook" {
		if wrong := cli.CheckDocument(args, []byte(ts.ReadFile("stdout"))); wrong != nil {
			ts.Fatalf("rewind %v", wrong)
		}
	}
	return err
}
