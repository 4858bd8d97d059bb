//go:build unix

package remote_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestPushAfterForget: where a forget could not be finished at once, and a save came between, the log that is pushed after it is another one, without
// what was forgotten; once, and whether or not a push was tried meanwhile.
func TestPushAfterForget(t *testing.T) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return now }
			defer remote.OpenAs(b)()
			m := initialised(t, &now)
			key := m.add()
			m.write("secret", "token")
			m.save()
			if err := os.Remove(filepath.Join(m.dir, "secret")); err != nil {
				t.Fatal(err)
			}
			m.write("a", "1")
			m.save()
			if _, _, err := m.push(); err != nil {
				t.Fatal(err)
			}
			reader, p := m.open(), m.impatient()
			defer reader.Close()
			defer p.Close()
			release, err := reader.Use(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done, err := maintain.Forget(t.Context(), p, []string{"secret"}, false)
			if err != nil || done.Pending == "" {
				t.Fatalf("the forget did not wait for who reads the store: %+v, %v", done, err)
			}
			m.write("a", "2")
			m.save()
			if between {
				if _, _, err := m.push(); !isForgetting(err) {
					t.Errorf("a push while something is being forgotten: %v", err)
				}
			}
			release()
			if _, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 100}); err != nil {
				t.Fatal(err)
			}
			if p.Forgetting() != nil {
				t.Fatal("the forget is not finished")
			}
			m.write("a", "3")
			m.save()
			pushed, log, err := m.push()
			if err != nil || !pushed.Moved {
				t.Fatalf("%+v, %v", pushed, err)
			}
			m.holds(b, key, log)
			m.write("a", "4")
			m.save()
			if pushed, again, err := m.push(); err != nil || pushed.Moved || pushed.Checkpoints != 1 {
				t.Errorf("after log %s, log %s: %+v, %v", log, again, pushed, err)
			}
		})
	}
}

// impatient opens the project for who does not wait long for others.
func (m *machine) impatient() *project.Project {
	m.t.Helper()
	o := m.options()
	o.LockWait = 200 * time.Millisecond
	p, err := project.Open(m.t.Context(), o)
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func isForgetting(err error) bool {
	_, ok := errors.AsType[*remote.ForgettingError](err)
	return ok
}

// TestNothingIsPushedDuringAForget: while what was forgotten is still in the store, no object goes to a remote: neither with the first push, nor
// with a later one, nor one that an interrupted push has left; and what goes when the forget is finished is without it.
func TestNothingIsPushedDuringAForget(t *testing.T) {
	for name, before := range map[string]func(m *machine, b *faultbucket.Bucket){
		"the first push": func(*machine, *faultbucket.Bucket) {},
		"a later push": func(m *machine, _ *faultbucket.Bucket) {
			if _, _, err := m.push(); err != nil {
				m.t.Fatal(err)
			}
		},
		"one that was interrupted": nil,
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return now }
			defer remote.OpenAs(b)()
			m := initialised(t, &now)
			key := m.add()
			if before != nil {
				before(m, b)
			}
			m.write("secret", "token")
			m.save()
			if err := os.Remove(filepath.Join(m.dir, "secret")); err != nil {
				t.Fatal(err)
			}
			m.write("a", "1")
			m.save()
			if before == nil {
				b.Fail = func(op, _ string, _ int) faultbucket.Fault {
					if op == faultbucket.Put {
						return faultbucket.Before
					}
					return faultbucket.None
				}
				if _, _, err := m.push(); err == nil {
					t.Fatal("the push was not interrupted")
				}
				b.Fail = nil
			}
			reader, p := m.open(), m.impatient()
			defer reader.Close()
			defer p.Close()
			release, err := reader.Use(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done, err := maintain.Forget(t.Context(), p, []string{"secret"}, false)
			if err != nil || done.Pending == "" {
				t.Fatalf("the forget did not wait for who reads the store: %+v, %v", done, err)
			}
			now = now.Add(time.Hour)
			there := b.Names()
			if _, _, err := m.push(); !isForgetting(err) {
				t.Errorf("a push: %v", err)
			}
			if remote.Wanted(p) {
				t.Error("a push without a command is wanted")
			}
			if got := b.Names(); !slices.Equal(got, there) {
				t.Errorf("%q was sent", got)
			}
			r, err := remote.Find(p, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Rotate(t.Context(), remote.RotateOptions{Rewrite: true}); !isForgetting(err) || !slices.Equal(b.Names(), there) {
				t.Errorf("a rotation that pushes all again: %v", err)
			}
			release()
			maintain.FinishForgetting(t.Context(), p)
			if !remote.Wanted(p) {
				t.Error("when the forget is finished, no push without a command is wanted")
			}
			_, log, err := m.push()
			if err != nil {
				t.Fatal(err)
			}
			m.holds(b, key, log)
			m.lacks(b, key, log, "secret")
		})
	}
}

// lacks clones a log, and checks that the clone has no file of a name in any checkpoint.
func (m *machine) lacks(b *faultbucket.Bucket, key, log, name string) {
	m.t.Helper()
	defer remote.OpenAs(b.Fork())()
	other := &machine{m.t, filepath.Join(m.t.TempDir(), "clone"), m.t.TempDir(), m.now}
	done, err := remote.Clone(m.t.Context(), remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}, Log: log})
	if err != nil {
		m.t.Fatal(err)
	}
	defer done.Project.Close()
	var none *maintain.NotHeldError
	if _, err := maintain.Forget(m.t.Context(), done.Project, []string{name}, true); !errors.As(err, &none) {
		m.t.Errorf("the clone has %s: %v", name, err)
	}
}
