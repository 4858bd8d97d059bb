package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/cli"
)

// terminal runs rewind at a pseudo terminal, as a person would.
type terminal struct {
	t      *testing.T
	dir    string
	env    []string
	master *os.File
	slave  *os.File

	mu  sync.Mutex
	out strings.Builder
}

// newTerminal opens a terminal of 80 by 24 in a new project with a home of its own.
func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { slave.Close() })
	base := t.TempDir()
	term := &terminal{t: t, dir: filepath.Join(base, "proj"), master: master, slave: slave,
		env: []string{cli.RaceExit, "HOME=" + filepath.Join(base, "home"), "PATH=" + os.Getenv("PATH"), "PAGER=cat", "TERM=xterm"}}
	for _, d := range []string{"proj", "home"} {
		if err := os.Mkdir(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	term.resize(80, 24)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.out.Write(b[:n])
			term.mu.Unlock()
		}
	}()
	return term
}

func (x *terminal) resize(w, h uint16) {
	x.t.Helper()
	if err := unix.IoctlSetWinsize(int(x.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: h, Col: w}); err != nil {
		x.t.Fatal(err)
	}
}

// start runs rewind at the terminal.
func (x *terminal) start(args ...string) *exec.Cmd {
	x.t.Helper()
	return x.startProgram("rewind", args...)
}

// startProgram runs any program at the terminal.
func (x *terminal) startProgram(name string, args ...string) *exec.Cmd {
	x.t.Helper()
	x.take()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = x.dir, x.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// wait waits for the end and gives the exit code.
func (x *terminal) wait(cmd *exec.Cmd) int {
	x.t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Wait() // the exit code is what we ask for
	return cmd.ProcessState.ExitCode()
}

// run is start and wait; it gives what was on the screen too.
func (x *terminal) run(args ...string) (code int, screen string) {
	x.t.Helper()
	cmd := x.start(args...)
	code = x.wait(cmd)
	x.settle()
	return code, x.take()
}

// settle waits until what processes wrote has come through: a mark written
// after it does.
func (x *terminal) settle() {
	x.t.Helper()
	const mark = "<the end>"
	if _, err := x.slave.WriteString(mark); err != nil {
		x.t.Fatal(err)
	}
	x.expect(mark)
	x.mu.Lock()
	defer x.mu.Unlock()
	text := strings.Replace(x.out.String(), mark, "", 1)
	x.out.Reset()
	x.out.WriteString(text)
}

func (x *terminal) take() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.out.String()
	x.out.Reset()
	return s
}

func (x *terminal) send(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// expect waits for a text on the screen.
func (x *terminal) expect(text string) {
	x.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		x.mu.Lock()
		found := strings.Contains(x.out.String(), text)
		x.mu.Unlock()
		if found {
			return
		}
	}
	x.t.Fatalf("%q does not come; the terminal has\n%q", text, x.take())
}

func (x *terminal) write(name, content string) {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.dir, name), []byte(content), 0o644); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(x.dir, name)) // "" where it is not there
	return string(b)
}

func (x *terminal) mustRun(args ...string) string {
	x.t.Helper()
	code, screen := x.run(args...)
	if code != 0 {
		x.t.Fatalf("rewind %v: exit code %d\n%s", args, code, screen)
	}
	return screen
}

var colourSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTerminalColourAndWidth(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.mustRun("save", strings.Repeat("a long description ", 20))
	x.write("a.txt", "two\n")
	for _, args := range [][]string{{"list"}, {"list", "--oneline"}} {
		coloured := x.mustRun(args...)
		if !colourSequence.MatchString(coloured) {
			t.Errorf("%v has no colours: %q", args, coloured)
		}
		for _, l := range strings.Split(colourSequence.ReplaceAllString(coloured, ""), "\r\n") {
			if n := len([]rune(l)); n > 80 {
				t.Errorf("%v: %d columns on 80: %q", args, n, l)
			}
		}
		if plain := x.mustRun(append(args, "--no-color")...); colourSequence.MatchString(plain) {
			t.Errorf("%v --no-color has colours: %q", args, plain)
		}
	}
	if d := x.mustRun("diff"); !strings.Contains(d, "\x1b[32m+two\x1b[0m") || !strings.Contains(d, "\x1b[31m-one\x1b[0m") {
		t.Errorf("diff: %q", d)
	}
	x.env = append(x.env, "NO_COLOR=1")
	if plain := x.mustRun("list"); colourSequence.MatchString(plain) {
		t.Errorf("colours with NO_COLOR: %q", plain)
	}
}

func TestTerminalPager(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.env = append(x.env, "PAGER=sed 's/^/paged: /'")
	if s := x.mustRun("list"); !strings.Contains(s, "paged: ") {
		t.Errorf("the pager is not used: %q", s)
	}
	if s := x.mustRun("save"); strings.Contains(s, "paged: ") {
		t.Errorf("save is paged: %q", s)
	}
	x.env = append(x.env, "PAGER=true") // one that reads nothing
	x.mustRun("list")
}

// While a person reads in the pager, the store is free: a forget then has not to wait.
func TestTerminalPagerLeavesTheStore(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.write("a.txt", "two\n")
	x.mustRun("save")
	lock, free := filepath.Join(x.dir, ".agent/rewind/lock/users"), filepath.Join(t.TempDir(), "free")
	x.env = append(x.env, "PAGER=cat >/dev/null; flock --nonblock "+lock+" touch "+free)
	for _, args := range [][]string{
		{"list"}, {"show", "last"}, {"diff", "2"}, {"history", "a.txt"}, {"history", "-p", "a.txt"}, {"blame", "a.txt"}, {"grep", "two"}, {"grep", "--first", "two"},
	} {
		x.mustRun(args...)
		if err := os.Remove(free); err != nil {
			t.Errorf("%v: the store is in use while its pager is open: %v", args, err)
		}
	}
}

func TestTerminalExportRefuses(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	code, screen := x.run("export", "last")
	if code != 2 || !strings.Contains(screen, "an archive to a terminal") || !strings.Contains(screen, "-o FILE") {
		t.Errorf("exit code %d: %q", code, screen)
	}
}

func TestTerminalRestoreAsks(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	fill := func(n int) {
		for i := range n {
			x.write(fmt.Sprintf("new%02d.txt", i), "new\n")
		}
	}
	fill(25)
	cmd := x.start("restore", "last")
	x.expect("deletes 25 files")
	x.expect("[y/N] ")
	x.send("n\n")
	if code := x.wait(cmd); code != 1 {
		t.Errorf("no: exit code %d", code)
	}
	if x.read("new24.txt") == "" {
		t.Error("no, and the files are gone")
	}
	cmd = x.start("restore", "last")
	x.expect("[y/N] ")
	x.send("y\n")
	if code := x.wait(cmd); code != 0 || x.read("new24.txt") != "" {
		t.Errorf("yes: exit code %d, file %q", code, x.read("new24.txt"))
	}
	fill(25)
	if s := x.mustRun("restore", "last", "--yes"); strings.Contains(s, "[y/N]") || x.read("new24.txt") != "" {
		t.Errorf("--yes: %q", s)
	}
	fill(5)
	if s := x.mustRun("restore", "last"); strings.Contains(s, "[y/N]") || x.read("new04.txt") != "" {
		t.Errorf("few deletions are asked about: %q", s)
	}
}

// TestTerminalRescue: at a terminal, the list of what can be brought back asks for a number.
func TestTerminalRescue(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	project := x.dir
	x.dir = filepath.Dir(project)
	for _, answer := range []string{"\n", "7\n", "1\n"} {
		if err := os.RemoveAll(project); err != nil {
			t.Fatal(err)
		}
		cmd := x.start("rescue")
		x.expect("Bring one back? Its number, or Enter for none: ")
		x.send(answer)
		if code := x.wait(cmd); code != 0 {
			t.Fatalf("%q: exit code %d: %s", answer, code, x.take())
		}
		if _, err := os.Lstat(filepath.Join(project, "a.txt")); (err == nil) != (answer == "1\n") {
			t.Errorf("after %q: %v\n%s", answer, err, x.take())
		}
	}
	if screen := x.mustRun("rescue"); strings.Contains(screen, "Bring one back?") {
		t.Errorf("there is nothing to ask for: %s", screen)
	}
}

func TestTerminalPicker(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.mustRun("save", "an", "earlier", "one")
	x.write("a.txt", "two\n")
	x.mustRun("save", "the", "second")
	x.write("new.txt", "new\n")
	before, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}

	cmd := x.start()
	x.expect("an earlier one")
	x.expect("1 file changed since 1") // the state that the files are in
	x.resize(60, 10)
	x.take()
	x.send("/earlier\r")
	x.expect("1 of ")
	x.send("\r")
	x.expect("y/n")
	x.expect("restore to 2 ")
	x.send("\x1b[B\x1b[B") // ten lines are not enough for the whole plan
	x.expect("a.txt")
	x.send("y")
	x.expect("Restored to 2 ")
	x.send("q")
	if code := x.wait(cmd); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.settle()
	if s := x.take(); !strings.Contains(s, "\x1b[?1049l") || !strings.Contains(s, "Undo with: rewind undo") {
		t.Errorf("at the end: %q", s)
	}
	if x.read("a.txt") != "one\n" || x.read("new.txt") != "" {
		t.Errorf("a.txt %q, new.txt %q", x.read("a.txt"), x.read("new.txt"))
	}
	after, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *after != *before {
		t.Errorf("the terminal is not as it was: %+v, was %+v", after, before)
	}

	for keys, want := range map[string]int{"q": 0, "\x1b": 0, "\x03": 130, "\x1b[B\x1b[A\rn q": 0, "\x1b[200~y\rq\x1b[201~ q": 0} {
		cmd := x.start()
		x.expect("an earlier one")
		for _, k := range strings.SplitAfter(keys, " ") {
			x.send(strings.TrimSuffix(k, " "))
		}
		if code := x.wait(cmd); code != want {
			t.Errorf("%q: exit code %d, want %d", keys, code, want)
		}
	}
	if x.read("a.txt") != "one\n" {
		t.Error("leaving the picker changed a file")
	}
}

// A terminal that can only print lines gets a number to choose by, the same plan, and the same y.
func TestTerminalPickByNumber(t *testing.T) {
	x := newTerminal(t)
	x.env = append(x.env, "TERM=dumb")
	x.write("a.txt", "one\n")
	x.mustRun("init")
	x.write("a.txt", "two\n")
	x.mustRun("save", "the", "second")
	x.write("a.txt", "three\n")
	cmd := x.start()
	x.expect("Number, or q: ")
	x.send("9\n")
	x.expect("9 is no number of the list")
	x.send("2\n")
	x.expect("replace a.txt")
	x.expect("A safety checkpoint is taken first. Undo it with rewind undo.")
	x.expect("? rewind undo takes it back [y/N] ")
	x.send("n\n")
	x.expect("Number, or q: ")
	x.take()
	x.send("2\n")
	x.expect("[y/N] ")
	x.write("b.txt", "came while it was asked\n")
	x.take()
	x.send("y\n")
	x.expect("this is the plan now")
	x.expect("delete  b.txt")
	if x.read("a.txt") != "three\n" {
		t.Error("another plan than the one that was shown was done")
	}
	x.expect("[y/N] ")
	x.send("y\n")
	x.expect("Restored to ")
	if code := x.wait(cmd); code != 0 || x.read("a.txt") != "one\n" || x.read("b.txt") != "" {
		t.Errorf("exit code %d, a.txt %q, b.txt %q", code, x.read("a.txt"), x.read("b.txt"))
	}
	x.settle()
	if s := x.take(); strings.Contains(s, "\x1b") {
		t.Errorf("sequences for a terminal that has none: %q", s)
	}
	cmd = x.start("--no-color")
	x.expect("Number, or q: ")
	x.send("q\n")
	if code := x.wait(cmd); code != 0 {
		t.Errorf("q: exit code %d", code)
	}
}

// A terminal that goes away takes the picker with it.
func TestTerminalGoesAway(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	cmd := x.start()
	x.expect("first checkpoint")
	x.slave.Close()
	x.master.Close()
	// The file is closed when the read that waits on it returns: something has to be drawn for that.
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				cmd.Process.Signal(syscall.SIGWINCH)
			}
		}
	}()
	if code := x.wait(cmd); code != 130 && code != 0 {
		t.Errorf("exit code %d", code) // -1: it had to be killed
	}
}

// Ctrl-C while rewind waits for a lock: exit code 130, said, and nothing half-done.
func TestTerminalInterrupt(t *testing.T) {
	x := newTerminal(t)
	x.write("a.txt", "one\n")
	x.mustRun("init")
	lock, err := os.OpenFile(filepath.Join(x.dir, ".agent", "rewind", "lock", "append"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	cmd := x.start("save", "--verbose", "never")
	x.expect(" project /")
	x.send("\x03")
	if code := x.wait(cmd); code != 130 {
		t.Errorf("exit code %d", code)
	}
	x.settle()
	if s := x.take(); !strings.Contains(s, "interrupted: no checkpoint was taken; the next rewind save uses what was read so far\r\n") || strings.Contains(s, "hint") {
		t.Errorf("%q", s)
	}
	lock.Close()
	if s := x.mustRun("list", "--json"); strings.Contains(s, "never") {
		t.Errorf("half-done: %s", s)
	}
	x.mustRun("verify")
}

// The first Ctrl-C asks a command to end; one that cannot, here since nobody reads what it prints, is
// ended by the second at once.
func TestSecondInterruptEndsAtOnce(t *testing.T) {
	x := newTerminal(t)
	x.write("large", strings.Repeat("a line\n", 1<<20)) // more than any pipe holds
	x.mustRun("init")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("rewind", "cat", "last", "large")
	cmd.Dir, cmd.Env, cmd.Stdout = x.dir, x.env, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	write.Close()
	if _, err := read.Read(make([]byte, 1)); err != nil { // it prints, and soon the pipe is full
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	interrupt := func() bool { // reports whether it has ended soon after
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			return true
		case <-time.After(300 * time.Millisecond):
			return false
		}
	}
	if interrupt() {
		t.Fatal("the first Ctrl-C has ended it, though it could not")
	}
	for deadline := time.Now().Add(20 * time.Second); !interrupt(); { // the first may have been seen late
		if time.Now().After(deadline) {
			t.Fatal("the second Ctrl-C does not end it")
		}
	}
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
	x.mustRun("verify", "--read-data")
}
