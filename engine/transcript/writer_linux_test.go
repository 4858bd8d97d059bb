package transcript

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A process that has the transcript open for writing works on it, whatever it is; one that reads it does not, nor does
// this one, nor one that writes another file of that name.
func TestRunningWhoWrites(t *testing.T) {
	const sid = "61933d95-0000-4000-8000-000000000001"
	home := t.TempDir()
	file, other := filepath.Join(home, sid+".jsonl"), filepath.Join(home, "other", sid+".jsonl")
	if err := os.Mkdir(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "link.jsonl")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, name := range []string{file, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, now.Add(-time.Hour), now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	own, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	for _, c := range []struct {
		name, file string
		flags      int
		sure       bool
	}{
		{"appends", file, os.O_APPEND | os.O_WRONLY, true},
		{"reads and writes", file, os.O_RDWR, true},
		{"reads", file, os.O_RDONLY, false},
		{"writes another", other, os.O_WRONLY, false},
	} {
		f, err := os.OpenFile(c.file, c.flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = []*os.File{f}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, named := range []string{file, link} {
			check := RunningCheck{Agent: Codex, Session: sid, File: named, Dir: home, Home: Home{Dir: home}, Now: now}
			got := check.Run()
			if (got != nil) != c.sure || got != nil && got.PID != cmd.Process.Pid {
				t.Errorf("one that %s: %+v", c.name, got)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
}
