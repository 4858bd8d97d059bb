//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestWhatWasChangedIsRefused: whoever can write to the bucket changes, shortens, removes or exchanges an object, or takes another's name
// for it. A clone refuses that, names what is wrong, and leaves nothing behind; or, where a log lost its end, is what was there before.
func TestWhatWasChangedIsRefused(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
	*remote.MaxObject = 8 << 10
	m := initialised(t, &now)
	key := m.add()
	r := rand.New(rand.NewPCG(1, 1))
	var had [][]string // what a clone may have: the history after each push
	for n := range 4 {
		text := make([]byte, 20_000)
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		m.write("f", string(text[:20_000-n]))
		m.save()
		if _, _, err := m.push(); err != nil {
			t.Fatal(err)
		}
		p := m.open()
		had = append(had, history(t, p))
		p.Close()
	}
	clone := func(b *faultbucket.Bucket) ([]string, string, error) {
		defer remote.OpenAs(b)()
		other := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
		done, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
		if err != nil {
			return nil, other.dir, err
		}
		defer done.Project.Close()
		return history(t, done.Project), other.dir, nil
	}
	if got, _, err := clone(b.Fork()); err != nil || strings.Join(got, "\n") != strings.Join(had[3], "\n") {
		t.Fatalf("the clone of what is whole: %v", err)
	}
	names := b.Names()
	attack := map[string]func(name string, body []byte) []byte{
		"changed":   func(_ string, body []byte) []byte { body[len(body)/2] ^= 1; return body },
		"cut short": func(_ string, body []byte) []byte { return body[:len(body)/2] },
		"longer":    func(_ string, body []byte) []byte { return append(body, 0) },
		"removed":   func(string, []byte) []byte { return nil },
		"empty":     func(string, []byte) []byte { return []byte{} },
		"another's": func(name string, body []byte) []byte {
			for _, other := range names {
				if other != name && strings.HasPrefix(other, name[:2]) {
					return b.Peek(other)
				}
			}
			return nil
		},
	}
	tried := 0
	for what, change := range attack {
		for _, name := range names {
			if strings.HasPrefix(name, "probe/") {
				continue
			}
			c := b.Fork()
			body := change(name, bytes.Clone(c.Peek(name)))
			if body != nil && bytes.Equal(body, c.Peek(name)) {
				continue
			}
			c.Overwrite(name, body)
			tried++
			got, dir, err := clone(c)
			if err == nil {
				// The end of the log is all that nothing refers to.
				whole := false
				for _, h := range had {
					whole = whole || strings.Join(got, "\n") == strings.Join(h, "\n")
				}
				if !whole || !strings.HasPrefix(name, "w/") {
					t.Errorf("%s, %s: cloned with %d checkpoints", name, what, len(got))
				}
				continue
			}
			var bad *remote.BadObjectError
			var gap *remote.GapError
			var empty *remote.EmptyRemoteError
			var wrong *remote.KeyError
			if !errors.As(err, &bad) && !errors.As(err, &gap) && !errors.As(err, &empty) && !errors.As(err, &wrong) && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s, %s: the refused clone left %s", name, what, dir)
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d attacks were tried", tried)
	}
}

// TestInterruptedClone leaves nothing, and the next one has everything.
func TestInterruptedClone(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	for n := range 5 {
		m.write("f", strings.Repeat("x", n))
		m.save()
		if _, _, err := m.push(); err != nil {
			t.Fatal(err)
		}
	}
	other := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
	o := remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}}
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		b.Fail = func(string, string, int) faultbucket.Fault {
			if calls++; calls == n {
				cancel()
			}
			return faultbucket.None
		}
		done, err := remote.Clone(ctx, o)
		cancel()
		if err == nil {
			done.Project.Close()
			if n < 5 {
				t.Errorf("nothing was interrupted: %d", n)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("call %d: %v", n, err)
		}
		if _, err := os.Lstat(other.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("call %d: the interrupted clone left its directory", n)
		}
	}
}
