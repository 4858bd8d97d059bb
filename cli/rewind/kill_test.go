//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKilledProcesses: many processes save, list, restore, collect and hook in
// one project while some are killed at random. Nothing that was reported is lost, ids are
// unique, no lock needs a hand, and whoever fails says that it found the store busy.
func TestKilledProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	playKilled(t, 8, 12)
}

// TestSoakKilledProcesses is the long form: 16 processes, 200 rounds each.
func TestSoakKilledProcesses(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	playKilled(t, 16, 200)
}

// arena is a project, a home and the program.
type arena struct {
	t          *testing.T
	program    string
	root, home string
	env        []string // beside the usual one

	mu       sync.Mutex
	reported map[string]bool // ids of saves that said they were done
	killed   int
}

func playKilled(t *testing.T, processes, rounds int) {
	base := t.TempDir()
	a := &arena{
		t: t, program: filepath.Join(base, "rewind"), root: filepath.Join(base, "project"), home: filepath.Join(base, "home"),
		reported: map[string]bool{},
	}
	if out, err := exec.Command("go", "build", "-o", a.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range []string{a.root, a.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		a.write(fmt.Sprintf("d%d/f.txt", i), strings.Repeat(fmt.Sprintln("line", i), 50))
	}
	a.must("init")
	var all sync.WaitGroup
	for n := range processes {
		all.Go(func() { a.play(n, rounds) })
	}
	all.Wait()
	a.settled()
	a.check()
	t.Logf("%d processes × %d rounds: %d saves reported, %d processes killed", processes, rounds, len(a.reported), a.killed)
}

func (a *arena) write(path, text string) {
	file := filepath.Join(a.root, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		a.t.Error(err)
		return
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		a.t.Error(err)
	}
}

func (a *arena) command(args ...string) *exec.Cmd {
	cmd := exec.Command(a.program, args...)
	cmd.Dir = a.root
	if args[0] == "clone" { // which makes it
		cmd.Dir = a.home
	}
	cmd.Env = append([]string{"HOME=" + a.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, a.env...)
	return cmd
}

func (a *arena) must(args ...string) []byte {
	a.t.Helper()
	out, err := a.command(args...).Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		a.t.Fatalf("rewind %v: %v: %s", args, err, exit.Stderr)
	}
	return out
}

// play is what one person or agent does.
func (a *arena) play(n, rounds int) {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	for i := range rounds {
		a.write(fmt.Sprintf("d%d/f.txt", random.IntN(30)), fmt.Sprint(n, i, random.Uint64()))
		var cmd *exec.Cmd
		saves := false
		switch random.IntN(8) {
		case 0:
			cmd = a.command("list", "--all", "--json")
		case 1:
			cmd = a.command("restore", "last", "--json", "--", fmt.Sprintf("d%d", n))
		case 2:
			cmd = a.command("gc", "--keep", "100000", "--json")
		case 3, 4:
			cmd = a.command("hook", "generic")
			cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"cwd":%q,"event":"prompt","session_id":"s%d","prompt":"p%d"}`, a.root, n, i))
		default:
			cmd = a.command("save", fmt.Sprint(n, ".", i), "--json")
			saves = true
		}
		a.run(cmd, saves, random)
	}
}

// run runs a command and kills every third one somewhere on its way.
func (a *arena) run(cmd *exec.Cmd, saves bool, random *rand.Rand) {
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		a.t.Error(err)
		return
	}
	doomed := random.IntN(3) == 0
	if doomed {
		timer := time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err := cmd.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	code := cmd.ProcessState.ExitCode()
	switch {
	case code < 0 && doomed:
		a.killed++
	case code != 0 && code != 6 && code != 3:
		// 3: a file that another process was writing; 6: busy.
		a.t.Errorf("%v: %v: %s%s", cmd.Args[1:], err, errOut.String(), out.String())
	case code == 0 && saves:
		var saved struct{ ID string }
		if err := json.Unmarshal(out.Bytes(), &saved); err != nil || saved.ID == "" {
			a.t.Errorf("save says %q: %v", out.String(), err)
		}
		if a.reported[saved.ID] {
			a.t.Errorf("two saves have the id %s", saved.ID)
		}
		a.reported[saved.ID] = true
	}
}

// settled waits for what hooks left to a process of its own.
func (a *arena) settled() {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := exec.Command("pgrep", "-f", a.program+" hook --detached").Run(); err != nil {
			return
		}
	}
}

func (a *arena) check() {
	// A restore that was killed is reported; the restore family settles it.
	a.must("restore", "last", "--quiet")
	var list struct {
		Checkpoints []struct{ ID string }
	}
	if err := json.Unmarshal(a.must("list", "--all", "--json"), &list); err != nil {
		a.t.Fatal(err)
	}
	there := map[string]bool{}
	for _, c := range list.Checkpoints {
		if there[c.ID] {
			a.t.Errorf("checkpoint %s is listed twice", c.ID)
		}
		there[c.ID] = true
	}
	for id := range a.reported {
		if !there[id] {
			a.t.Errorf("checkpoint %s was reported and is not there", id)
		}
	}
	a.must("verify", "--read-data")
	err := filepath.WalkDir(a.root, func(file string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".rewind-tmp-") {
			a.t.Errorf("%s was left", file)
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
}
