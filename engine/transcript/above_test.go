package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentAbove: the nearest process of the agent on the way up, and no other.
func TestAgentAbove(t *testing.T) {
	root := t.TempDir()
	add := func(pid, parent int, args ...string) {
		dir := filepath.Join(root, fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		stat := fmt.Sprintf("%d (a) b) S %d", pid, parent) + strings.Repeat(" 0", 17) + fmt.Sprintf(" %d 0", pid*100)
		for name, text := range map[string]string{"cmdline": strings.Join(args, "\x00") + "\x00", "stat": stat} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(1, 0, "init")
	add(10, 1, "/usr/bin/droid")
	add(20, 10, "zsh")
	add(30, 20, "node", "/opt/droid", "exec", "x")
	add(40, 30, "sh", "-c", "rewind hook droid")
	add(50, 1, "bash", "-c", "droid")
	add(60, 61, "loop")
	add(61, 60, "loop")
	for pid, want := range map[int]string{40: "30-3000", 30: "30-3000", 20: "10-1000", 50: "", 1: "", 60: "", 99: ""} {
		if got := agentAbove(root, Droid, pid); got != want {
			t.Errorf("above %d: %q, want %q", pid, got, want)
		}
	}
	if got := AgentAbove(Claude, os.Getpid()); got != "" {
		t.Errorf("an agent whose shells are told: %q", got)
	}
}
