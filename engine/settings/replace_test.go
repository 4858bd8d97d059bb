package settings

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// Many who change one file at the same time: every change is there.
func TestChangesTakeTurns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	values := map[string]string{}
	for i := range keys {
		if keys[i].kind == kindFlag {
			values[keys[i].Name] = "false"
		}
	}
	var group sync.WaitGroup
	for key := range values {
		group.Go(func() {
			for _, value := range []string{"true", "false"} {
				if err := Set(file, key, value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := handSet(t, b)
	for i := range keys {
		if keys[i].kind == kindFlag && got[i] != false {
			t.Errorf("%s is %v in\n%s", keys[i].Name, got[i], b)
		}
	}
	if len(values) < 5 {
		t.Errorf("only %d keys", len(values))
	}
}

// A lock that a dead process left says nothing, and nothing is read or written
// without it.
func TestChangeWaitsForTheLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(file + ".lock")
	if ok, err := lock.TryLock(); !ok {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- Set(file, "guard", "false") }()
	if err := os.WriteFile(file, []byte(`{"tier": "minimal"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(file); string(b) != `{"tier": "minimal", "guard": false}` {
		t.Errorf("%s", b)
	}
}

// A hostile file does not exhaust the stack.
func TestDeepFile(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", MaxFileBytes), strings.Repeat(`{"a":`, MaxFileBytes/5)} {
		if _, err := parseObject([]byte(text)); err == nil || !strings.Contains(err.Error(), "brackets") {
			t.Errorf("%v", err)
		}
	}
}
