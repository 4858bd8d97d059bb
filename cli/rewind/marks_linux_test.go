package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// TestMarksBesideASweep: processes that mark, and one that sweeps, wait for the
// same lock, which the test holds so that all have chosen before one goes on. A mark that
// was reported is there afterwards; one that was not found what it names gone (5).
func TestMarksBesideASweep(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	base := t.TempDir()
	a := &arena{t: t, program: filepath.Join(base, "rewind"), root: filepath.Join(base, "project"), home: filepath.Join(base, "home"), reported: map[string]bool{}}
	if out, err := exec.Command("go", "build", "-o", a.program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range []string{a.root, a.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	a.write("f.txt", "0")
	a.must("init")
	honoured, refused := 0, 0
	for round := range 12 {
		var ids []string
		for i := range 4 {
			a.write("f.txt", string(rune('a'+round))+string(rune('a'+i)))
			var saved struct{ ID string }
			if err := json.Unmarshal(a.must("save", "--json"), &saved); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, saved.ID)
		}
		lock := flock.New(filepath.Join(a.root, ".agent/rewind/lock/append"))
		if err := lock.Lock(); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		failed := make([]error, 3)
		for i, args := range [][]string{{"pin", ids[0]}, {"rename", ids[1], "same-" + ids[0]}, {"rename", ids[2], "same-" + ids[0]}} {
			all.Go(func() { failed[i] = a.command(args...).Run() })
		}
		all.Go(func() {
			if out, err := a.command("gc", "--keep", "1").CombinedOutput(); err != nil {
				t.Errorf("gc: %v: %s", err, out)
			}
		})
		time.Sleep(time.Duration(100+20*round) * time.Millisecond)
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		named := 0
		for i, err := range failed {
			var exit *exec.ExitError
			switch {
			case err == nil:
				honoured++
				if i > 0 {
					named++
				}
				if out, err := a.command("restore", ids[i]).CombinedOutput(); err != nil {
					t.Errorf("a mark on %s was reported, and it cannot be restored: %s", ids[i], out)
				}
			case errors.As(err, &exit) && (exit.ExitCode() == 5 || i > 0 && exit.ExitCode() == 1):
				refused++
			default:
				t.Errorf("mark %d: %v", i, err)
			}
		}
		if named > 1 {
			t.Error("two checkpoints were given one name")
		}
	}
	a.must("verify")
	t.Logf("%d marks honoured, %d refused", honoured, refused)
}
