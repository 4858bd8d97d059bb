package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
)

// failing is the file system whose k-th operation fails.
type failing struct {
	osFiles
	k, n int
}

var errInjected = errors.New("injected")

func (f *failing) step() error {
	if f.n++; f.n == f.k {
		return errInjected
	}
	return nil
}

func (f *failing) Create(dir string) (temporary, error) {
	if err := f.step(); err != nil {
		return nil, err
	}
	tmp, err := f.osFiles.Create(dir)
	return &failingFile{tmp, f}, err
}

func (f *failing) Rename(from, to string) error {
	return errors.Join(f.step(), f.unless(func() error { return f.osFiles.Rename(from, to) }))
}

func (f *failing) SyncDir(dir string) error {
	return errors.Join(f.step(), f.unless(func() error { return f.osFiles.SyncDir(dir) }))
}

// unless does what did not just fail.
func (f *failing) unless(do func() error) error {
	if f.n == f.k {
		return nil
	}
	return do()
}

type failingFile struct {
	temporary
	f *failing
}

func (t *failingFile) Write(b []byte) (int, error) {
	if err := t.f.step(); err != nil {
		n, _ := t.temporary.Write(b[:len(b)/2]) // a short write
		return n, err
	}
	return t.temporary.Write(b)
}

func (t *failingFile) Sync() error {
	return errors.Join(t.f.step(), t.f.unless(t.temporary.Sync))
}

func (t *failingFile) Close() error {
	err := t.f.step()
	return errors.Join(err, t.temporary.Close())
}

// Whatever operation fails, the file holds the old content or the new one, whole,
// the failure is told, and nothing is left behind.
func TestChangeWithFaults(t *testing.T) {
	set := func(old []byte) ([]byte, error) { return setKey(old, "guard", []byte("false")) }
	const before, after = "{\n  \"tier\": \"minimal\" // mine\n}\n", "{\n  \"tier\": \"minimal\", // mine\n  \"guard\": false\n}\n"
	for k := 1; ; k++ {
		file := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(file, []byte(before), 0o640); err != nil {
			t.Fatal(err)
		}
		f := &failing{k: k}
		err := change(f, file, set)
		if f.n < k {
			if k < 6 || err != nil {
				t.Errorf("%d operations, %v", f.n, err)
			}
			return
		}
		got, _ := os.ReadFile(file)
		renamed := strings.Contains(fmt.Sprint(err), "not yet durable")
		if !errors.Is(err, errInjected) || string(got) != map[bool]string{false: before, true: after}[renamed] {
			t.Errorf("operation %d: %v, and the file holds %q", k, err, got)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".rewind-*")); len(left) > 0 {
			t.Errorf("operation %d leaves %v", k, left)
		}
	}
}

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
