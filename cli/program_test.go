package cli_test

import (
	"errors"
	"flag"
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
	os.Unsetenv("GOGC") // of make test, as the next one: the programs that tests start have none
	os.Unsetenv("GOMEMLIMIT")
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

// Run builds the program for itself, since a test binary takes three times as long to start.
func (m tests) Run() int {
	runsNone := func(arg string) bool {
		return strings.HasPrefix(arg, "-test.list") || strings.HasPrefix(arg, "-test.fuzz")
	}
	if slices.ContainsFunc(os.Args[1:], runsNone) {
		return m.M.Run()
	}
	flag.Parse()
	if only := flag.Lookup("test.run").Value; testing.Short() && raced() && only.String() == "" {
		_ = only.Set("^(" + strings.Join(inProcess, "|") + ")$|^TestScript$/^(" + strings.Join(withRace, "|") + ")$")
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

// raceDir is the directory with the program built with -race, below that of the program, where the tests are.
const raceDir = "race"

// withRace are the scenes that play the program built with -race, one for each way through its goroutines. Such a program
// uses three times the processor time of the released one, which the other scenes play.
var withRace = []string{
	"checkout", "clients_talk", "export", "forget", "gc", "grep", "hookerror", "import", "init", "insession", "notice",
	"restore", "restore_partial", "revert", "run", "save", "stash", "ui", "undo", "verify", "watch", "worktree",
}

// inProcess are the tests that run commands in this process. With -short and -race, these and the scenes of withRace are all
// that is run: the others play the program as it is built, in processes of its own.
var inProcess = []string{
	"TestEveryLongCommandHasALine", "TestLongCommandsKeepToTheirTotals", "TestInterruptedLongCommands", "TestStoreOfAnotherAccount",
	"TestUnwritableHome", "TestEveryCommandFitsItsSchema", "TestManual", "TestPartsOfRacedTests",
}

// TestPartsOfRacedTests: of the tests that are run with -race, the parts are run, too.
func TestPartsOfRacedTests(t *testing.T) {
	run := false
	t.Run("a part", func(*testing.T) { run = true })
	if !run {
		t.Error("the pattern of the tests that are run with -race leaves parts of them out")
	}
}

// A test or a scene that was renamed would no longer be run with -race.
func TestRacedTestsExist(t *testing.T) {
	var source strings.Builder
	files, err := filepath.Glob("*_test.go")
	for _, file := range files {
		data, readErr := os.ReadFile(file)
		err = errors.Join(err, readErr)
		source.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range inProcess {
		if !strings.Contains(source.String(), "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("no test is called %s", name)
		}
	}
	for _, name := range withRace {
		if _, err := os.Stat(filepath.Join("testdata", "script", name+".txt")); err != nil {
			t.Error(err)
		}
	}
}

// raced reports whether this binary was built with -race.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// buildProgram gives the directory that the program is in, also as the programs that went before it.
func buildProgram() (dir string, err error) {
	dir, err = os.MkdirTemp("", "rewind-program-")
	if err != nil {
		return "", err
	}
	name := "rewind"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	build := func(dir, cgo string, args ...string) error {
		file := filepath.Join(dir, name)
		cmd := exec.Command("go", slices.Concat([]string{"build", "-o", file}, args, []string{"./rewind"})...)
		cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED="+cgo), os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
		for _, name := range []string{"smart-checkpoint", "smart-checkpoint.sh"} {
			if err := os.Link(file, filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	}
	if raced() {
		if err := build(filepath.Join(dir, raceDir), "1", "-race"); err != nil {
			return dir, err
		}
	}
	return dir, build(dir, "0")
}

// sceneProgram is the directory of the program that a scene plays.
func sceneProgram(t testing.TB, scene string) string {
	dir := filepath.Dir(program(t))
	race := filepath.Join(dir, raceDir)
	if _, err := os.Stat(race); err == nil && slices.Contains(withRace, scene) {
		return race
	}
	return dir
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
	var out []byte
	var err error
	if runsHere(ts, name, args) {
		out, err = runHere(ts, args, strings.NewReader(""))
	} else {
		err = ts.Exec(name, args...)
		out = []byte(ts.ReadFile("stdout"))
	}
	if name == "rewind" && slices.Contains(args, "--json") && args[0] != "hook" {
		if wrong := cli.CheckDocument(args, out); wrong != nil {
			ts.Fatalf("rewind %v", wrong)
		}
	}
	return err
}

// The scenes that are named above exist.
func TestScenesWithRace(t *testing.T) {
	for _, name := range withRace {
		if _, err := os.Stat(filepath.Join("testdata", "script", name+".txt")); err != nil {
			t.Error(err)
		}
	}
}
