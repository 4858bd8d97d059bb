//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestWhoHasTheKey: a log that was pushed without the remote's key is only cloned if it is named; and a description of the remote with
// another key stops every push, and every add, of who had the right one.
func TestWhoHasTheKey(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	m.write("mine", "mine")
	m.save()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	sandbox := initialised(t, &now)
	sandbox.write("theirs", "theirs")
	sandbox.save()
	p := sandbox.open()
	var none *remote.KeyError
	if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x"}); !errors.As(err, &none) || !none.Missing {
		t.Fatalf("a remote was joined without its key: %v", err)
	}
	if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x", WithoutKey: true}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	_, log, err := sandbox.push()
	if err != nil {
		t.Fatal(err)
	}
	other := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
	o := remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}}
	done, err := remote.Clone(t.Context(), o)
	if err != nil || done.Checkpoints != 2 || len(done.Others) != 1 || done.Others[0].ID != log || !done.Others[0].Unsigned {
		t.Fatalf("a clone beside a newer log that was not signed: %+v, %v", done, err)
	}
	done.Project.Close()
	sandbox.holds(b, key, log)

	about := b.Peek("rewind.json")
	evil, err := keyring.New()
	if err != nil {
		t.Fatal(err)
	}
	k, err := keyring.Parse(key)
	if err != nil {
		t.Fatal(err)
	}
	b.Overwrite("rewind.json", bytes.ReplaceAll(about, []byte(k[0].Recipient()), []byte(evil.Recipient())))
	now = now.Add(time.Hour)
	m.write("mine", "more")
	m.save()
	var bad *remote.BadObjectError
	if _, _, err := m.push(); !errors.As(err, &bad) {
		t.Errorf("a push to a remote of another key: %v", err)
	}
	p = m.open()
	defer p.Close()
	if _, err := remote.Remove(t.Context(), p, "origin"); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x", WithoutKey: true}); !errors.As(err, &none) || none.Missing {
		t.Errorf("a remote of another key was joined: %v", err)
	}
}

// TestLostInTheRemote: what is no longer there is pushed again as soon as the remote is asked.
func TestLostInTheRemote(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	for _, name := range b.Names() {
		if strings.HasPrefix(name, "w/") {
			b.Overwrite(name, nil)
		}
	}
	p := m.open()
	r, err := remote.Find(p, "")
	if err != nil {
		t.Fatal(err)
	}
	done, err := r.Push(t.Context(), true)
	p.Close()
	if err != nil || !done.Lost || done.Checkpoints != 1 {
		t.Fatalf("a push that asks: %+v, %v", done, err)
	}
	_, log, err := m.push()
	if err != nil {
		t.Fatal(err)
	}
	m.holds(b, key, log)
	// A mark that is torn says nothing.
	if err := os.WriteFile(filepath.Join(m.dir, account.StoreName, account.RemotesName, "origin", "mark.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, log, err = m.push(); err != nil {
		t.Fatal(err)
	}
	m.holds(b, key, log)
}

// TestKilledClone: what a clone that was killed has left goes with the next one; a store with a checkpoint never does, nor what is beside it,
// nor a store that was deleted and comes back from its mirror.
func TestKilledClone(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	clone := func(in *machine) error {
		done, err := remote.Clone(t.Context(), remote.CloneOptions{OpenOptions: in.options(), URL: "s3://fault/x", Dir: in.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
		if err == nil {
			done.Project.Close()
		}
		return err
	}
	mark := func(in *machine) {
		store := filepath.Join(in.dir, account.StoreName)
		f, err := account.ReadFormat(store)
		f.Cloning = true
		if err := errors.Join(err, os.WriteFile(filepath.Join(store, account.FormatName), f.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var full *remote.NotEmptyError
	refused := func(in *machine, what string) {
		t.Helper()
		if err := clone(in); !errors.As(err, &full) {
			t.Errorf("a clone over %s: %v", what, err)
		}
	}

	left := &machine{t, t.TempDir(), t.TempDir(), &now}
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: left.env(), Root: left.dir}})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	refused(left, "a store without a checkpoint that no clone has left")
	mark(left)
	left.write("own", "own")
	refused(left, "a person's own file")
	if err := os.Remove(filepath.Join(left.dir, "own")); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Open(t.Context(), left.options()); !errors.As(err, new(*project.UnfinishedCloneError)) {
		t.Errorf("what a clone has not filled yet is opened: %v", err)
	}
	if err := clone(left); err != nil {
		t.Fatal(err)
	}
	left.open().Close()

	used := initialised(t, &now)
	mark(used) // the power went before the clone could take it away
	refused(used, "a store with a checkpoint")
	if err := os.RemoveAll(filepath.Join(used.dir, ".agent")); err != nil {
		t.Fatal(err)
	}
	refused(used, "a store that comes back from its mirror")
	p = used.open()
	defer p.Close()
	if n := len(history(t, p)); n != 1 {
		t.Errorf("the store has %d checkpoints, and had 1", n)
	}
}

// TestResumedClone: the same clone again goes on with what has come; what is there until then is not taken for a store.
func TestResumedClone(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
	defer func(was int64) { *remote.KeptFrom = was }(*remote.KeptFrom)
	*remote.MaxObject, *remote.KeptFrom = 8<<10, 1<<10
	m := initialised(t, &now)
	key := m.add()
	for n := range 12 {
		text := make([]byte, 20_000)
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		m.write(fmt.Sprint("f", n), string(text))
		m.save()
	}
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	other := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
	clone := func(ctx context.Context) (*remote.Cloned, error) {
		return remote.Clone(ctx, remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: key}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	got := 0
	b.Fail = func(op, name string, _ int) faultbucket.Fault {
		if op == faultbucket.Get && strings.HasPrefix(name, "d/") {
			if got++; got == 6 {
				go func() { // as soon as some have come
					for kept, _ := os.ReadDir(filepath.Join(other.dir, account.StoreName, account.TmpName, "clone")); len(kept) < 4; {
						time.Sleep(time.Millisecond)
						kept, _ = os.ReadDir(filepath.Join(other.dir, account.StoreName, account.TmpName, "clone"))
					}
					cancel()
				}()
				return faultbucket.Hang
			}
		}
		return faultbucket.None
	}
	var interrupted *remote.InterruptedError
	if _, err := clone(ctx); !errors.As(err, &interrupted) || !errors.Is(err, context.Canceled) {
		t.Fatalf("a clone that was interrupted: %v", err)
	}
	if _, err := project.Open(t.Context(), other.options()); !errors.As(err, new(*project.UnfinishedCloneError)) {
		t.Errorf("what a clone has left is opened: %v", err)
	}
	b.Fail = nil
	before := b.Calls(faultbucket.Get)
	done, err := clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer done.Project.Close()
	first := b.Calls(faultbucket.Get) - before
	if n := len(history(t, done.Project)); n != 13 || done.Remote == nil {
		t.Errorf("the clone has %d checkpoints, and remote %v", n, done.Remote)
	}
	before = b.Calls(faultbucket.Get)
	third := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
	other = third
	whole, err := clone(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Project.Close()
	if all := b.Calls(faultbucket.Get) - before; first > all-3 {
		t.Errorf("the second clone took %d requests, and one from the beginning %d", first, all)
	}
	if entries, err := os.ReadDir(filepath.Join(whole.Project.StoreDir(), account.TmpName, "clone")); err == nil {
		t.Errorf("%d objects were left behind", len(entries))
	}
}

// TestGCBesideAPush: gc and forget do not wait for the network; a push that they came between begins anew, and what it sends is whole.
func TestGCBesideAPush(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
	*remote.MaxObject = 8 << 10
	m := initialised(t, &now)
	key := m.add()
	for n := range 6 {
		text := make([]byte, 20_000)
		r := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		m.write(fmt.Sprint("f", n), string(text))
		m.save()
	}
	swept := 0
	b.Fail = func(op, name string, _ int) faultbucket.Fault {
		if op == faultbucket.Put && strings.HasPrefix(name, "d/") && swept < 2 {
			swept++
			p := m.open()
			defer p.Close()
			done, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 7 - 2*swept})
			if err != nil || done.Deferred {
				t.Errorf("gc beside a push: %+v, %v", done, err)
			}
		}
		return faultbucket.None
	}
	_, log, err := m.push()
	b.Fail = nil
	if err != nil || swept < 2 {
		t.Fatalf("gc ran %d times: %v", swept, err)
	}
	m.holds(b, key, log)
}
