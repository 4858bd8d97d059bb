package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// programInput is what the program reads where a test does not crash it.
func programInput() io.Reader {
	if how := os.Getenv("REWIND_TEST_CRASH"); how != "" {
		return crashing(how)
	}
	return os.Stdin
}

// crashing reads the payload and then ends the process in one of the ways that
// Go answers with exit code 2.
type crashing string

func (c crashing) Read([]byte) (int, error) {
	var in sync.WaitGroup
	in.Add(1)
	go func() {
		switch c {
		case "goroutine":
			panic("a bug")
		case "map":
			debug.SetGCPercent(-1)
			m := map[int]int{}
			for range 8 {
				go func() {
					for i := 0; ; i++ {
						m[i%7]++
					}
				}()
			}
			select {}
		case "stack":
			debug.SetMaxStack(64 << 20) // of a gigabyte a busy machine takes longer than a hook may
			var deep func(n int) int
			deep = func(n int) int { return deep(n+1) + 1 }
			deep(0)
		case "memory":
			limit := unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}
			if err := unix.Setrlimit(unix.RLIMIT_AS, &limit); err != nil {
				panic(err)
			}
			for size := 64 << 20; ; size *= 2 {
				fmt.Fprintln(io.Discard, len(bytes.Repeat([]byte{1}, size)))
			}
		case "bus":
			f, err := os.CreateTemp("", "bus")
			if err != nil {
				panic(err)
			}
			os.Remove(f.Name())
			f.Truncate(1 << 16)
			page, err := unix.Mmap(int(f.Fd()), 0, 1<<16, unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				panic(err)
			}
			f.Truncate(0)
			fmt.Fprintln(io.Discard, page[1<<15])
		}
		in.Done() // not deferred: the process would end while the panic unwinds
	}()
	if c == "main" {
		panic("a bug")
	}
	in.Wait()
	return 0, io.EOF
}

// A crash of ours never ends with 2, which erases prompts and blocks tools, and
// leaves no core behind.
func TestHookCrashes(t *testing.T) {
	for _, how := range []string{"main", "goroutine", "map", "stack", "memory", "bus"} {
		t.Run(how, func(t *testing.T) {
			l := newHookLab(t)
			l.rewind("init")
			cmd := exec.Command(crashingName, "hook", "claude")
			cmd.Env, cmd.Dir = append(l.env, "REWIND_TEST_CRASH="+how), l.root
			got := l.run(cmd, strings.NewReader(l.payload("UserPromptSubmit", "prompt", "hi")))
			want := -1 // a signal
			if how == "main" {
				want = 0
			}
			if got.code != want || got.stdout != "" {
				t.Errorf("exit code %d, stdout %q, want %d and nothing", got.code, got.stdout, want)
			}
			for _, name := range []string{"core", "core.*"} {
				if found, _ := filepath.Glob(filepath.Join(l.root, name)); len(found) > 0 {
					t.Errorf("left %v", found)
				}
			}
		})
	}
}
