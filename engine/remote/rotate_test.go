//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// remote gives m's remote, and the function that closes its project.
func (m *machine) remote() (*remote.Remote, func()) {
	m.t.Helper()
	p := m.open()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return r, func() { p.Close() }
}

func (m *machine) rotate(o remote.RotateOptions) (*remote.Rotated, error) {
	r, done := m.remote()
	defer done()
	return r.Rotate(m.t.Context(), o)
}

// person is somebody with a key of age.
func person(t *testing.T) (secret string, p keyring.Person) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	all, err := keyring.ParsePeople(id.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	return id.String(), all[0]
}

func quickly(t *testing.T) {
	settle, work := *remote.Settle, keyring.WorkFactor
	*remote.Settle, keyring.WorkFactor = time.Millisecond, 4
	t.Cleanup(func() { *remote.Settle, keyring.WorkFactor = settle, work })
}

// cloned clones with a key; keys is empty if that is refused.
func (m *machine) cloned(text string) (*machine, error) {
	other := &machine{m.t, filepath.Join(m.t.TempDir(), "clone"), m.t.TempDir(), m.now}
	done, err := remote.Clone(m.t.Context(), remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Text: text}})
	if err == nil {
		done.Project.Close()
	}
	return other, err
}

func (m *machine) count() int {
	p := m.open()
	defer p.Close()
	return len(history(m.t, p))
}

// TestRotationIsInterrupted: whichever call of a rotation fails, before or after it is done, every push that is reported can be
// read with a key that the account has, and the next rotation comes through.
func TestRotationIsInterrupted(t *testing.T) {
	quickly(t)
	now := time.Unix(1_800_000_000, 0)
	start := faultbucket.New()
	start.Now = func() time.Time { now = now.Add(time.Second); return now }
	restore := remote.OpenAs(start)
	m := initialised(t, &now)
	m.add()
	secret, p := person(t)
	r, done := m.remote()
	if _, err := r.AddPeople(t.Context(), []keyring.Person{p}); err != nil {
		t.Fatal(err)
	}
	done()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	restore()
	image, homeImage := t.TempDir(), t.TempDir()
	cp(t, m.dir, image)
	cp(t, m.home, homeImage)
	for _, fault := range []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn} {
		for n := 1; ; n += every(4) {
			b := start.Fork()
			b.Now = start.Now
			calls := 0
			b.Fail = func(string, string, int) faultbucket.Fault {
				if calls++; calls == n {
					return fault
				}
				return faultbucket.None
			}
			c := &machine{t, t.TempDir(), t.TempDir(), &now}
			cp(t, image, c.dir)
			cp(t, homeImage, c.home)
			back := remote.OpenAs(b)
			_, err := c.rotate(remote.RotateOptions{})
			b.Fail = nil
			at := fmt.Sprintf("fault %d in call %d (%v)", fault, n, err)
			now = now.Add(time.Hour)
			c.write("f", at)
			c.save()
			if _, _, perr := c.push(); perr != nil {
				t.Fatalf("%s: the next push: %v", at, perr)
			}
			if other, cerr := c.cloned(secret); cerr != nil || other.count() != c.count() {
				t.Fatalf("%s: a clone: %v", at, cerr)
			}
			if _, rerr := c.rotate(remote.RotateOptions{}); rerr != nil {
				t.Fatalf("%s: the next rotation: %v", at, rerr)
			}
			back()
			if err == nil && calls < n {
				if n < 8 {
					t.Errorf("only %d calls", n)
				}
				break
			}
		}
	}
}

// beforePut is a bucket that has something else happen before an object is put.
type beforePut struct {
	bucket.Bucket
	do func(name string)
}

func (b beforePut) Put(ctx context.Context, name string, body []byte) error {
	b.do(name)
	return b.Bucket.Put(ctx, name, body)
}

// TestRotationOfTwo: of two machines that rotate at once, one wins, and both push for its key; what either pushes can be read.
func TestRotationOfTwo(t *testing.T) {
	quickly(t)
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	m.add()
	secret, p := person(t)
	r, done := m.remote()
	if _, err := r.AddPeople(t.Context(), []keyring.Person{p}); err != nil {
		t.Fatal(err)
	}
	done()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	other, err := m.cloned(secret)
	if err != nil {
		t.Fatal(err)
	}
	// The other one has its person's key as a file, as a clone with --key FILE remembers it.
	other.write("../key", secret)
	r, done = other.remote()
	if _, err := r.Keyring(t.Context(), remote.GivenKey{Text: secret, File: filepath.Join(filepath.Dir(other.dir), "key")}); err != nil {
		t.Fatal(err)
	}
	done()
	// The first one reads the ring, then the other rotates, then the first one goes on.
	once := false
	restore := remote.OpenAs(beforePut{b, func(name string) {
		if strings.Contains(name, "-next-") && !once {
			once = true
			if _, err := other.rotate(remote.RotateOptions{}); err != nil {
				t.Error(err)
			}
		}
	}})
	_, err = m.rotate(remote.RotateOptions{})
	var lost *remote.RivalError
	if !errors.As(err, &lost) || !once {
		t.Fatalf("the second one to put its key: %v", err)
	}
	restore()
	now = now.Add(time.Hour)
	for _, machine := range []*machine{m, other} {
		machine.write("f", machine.dir)
		machine.save()
		if _, _, err := machine.push(); err != nil {
			t.Fatal(err)
		}
		if c, err := machine.cloned(secret); err != nil || c.count() != machine.count() {
			t.Fatalf("a clone of what %s pushed: %v", machine.dir, err)
		}
	}
}

// nameOf is the name of an object of keys.
func nameOf(kind string, data []byte) string {
	id := oid.Sum(data)
	return fmt.Sprintf("k/2-%s-%d-%x", kind, len(data), id[:16])
}

// TestForgedKeys: who can write to the place and has no key can make nobody seal for his own, and nobody keep somebody out.
func TestForgedKeys(t *testing.T) {
	quickly(t)
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	secret, ana := person(t)
	evilSecret, evil := person(t)
	r, done := m.remote()
	id, first := r.ID, r.Recipient
	if _, err := r.AddPeople(t.Context(), []keyring.Person{ana}); err != nil {
		t.Fatal(err)
	}
	done()
	// A ring of the attacker's own: his key as the first, followed by another, sealed for him and for Ana.
	his, err := keyring.New()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Read(t.Context(), b, nil, id, his.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	put := func(n keyring.Made, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b.Overwrite(n.Name, n.Data)
		// The same, with the right first key in the head: the mark does not fit any more.
		line, rest, _ := bytes.Cut(n.Data, []byte("\n"))
		data := append(append(bytes.ReplaceAll(line, []byte(his.Recipient()), []byte(first)), '\n'), rest...)
		b.Overwrite(nameOf(strings.Split(n.Name, "-")[1], data), data)
	}
	chain, _ := ring.Chain(keyring.Secrets{Keys: keyring.Keys{his}}, nil)
	next, err := keyring.New()
	if err != nil {
		t.Fatal(err)
	}
	put(ring.Next(chain, next))
	put(ring.For(his, 1, evil))
	put(ring.For(his, 1, ana))
	put(ring.For(next, 2, ana))
	for i, junk := range []string{"", "{", "{}\n", "null\n", strings.Repeat("x", 60<<10)} {
		b.Overwrite(nameOf("next", []byte(junk)), []byte(junk))
		b.Overwrite(fmt.Sprintf("k/%d-for-%d-00000000000000000000000000000000", i+1, 1<<40), []byte(junk))
		b.Overwrite(fmt.Sprintf("k/junk%d", i), []byte(junk))
	}
	now = now.Add(time.Hour)
	m.write("f", "1")
	m.save()
	done2, _, err := m.push()
	if err != nil || done2.NewKey || done2.OldKey {
		t.Fatalf("a push beside forged keys: %+v, %v", done2, err)
	}
	rotated, err := m.rotate(remote.RotateOptions{})
	if err != nil || !slices.Equal(rotated.People, []string{ana.Text}) {
		t.Fatalf("a rotation beside forged keys: %+v, %v", rotated, err)
	}
	now = now.Add(time.Hour)
	m.write("f", "2")
	m.save()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	if c, err := m.cloned(secret); err != nil || c.count() != m.count() {
		t.Errorf("a clone with a person's key: %v", err)
	}
	if c, err := m.cloned(rotated.Key.String()); err != nil || c.count() != m.count() {
		t.Errorf("a clone with the new key: %v", err)
	}
	var refused *remote.KeyError
	for what, text := range map[string]string{"the old key": key, "a stranger's": evilSecret, "the attacker's": his.String()} {
		if _, err := m.cloned(text); !errors.As(err, &refused) {
			t.Errorf("a clone with %s: %v", what, err)
		}
	}
	// Without the object of the new key, who has it goes on with it, and nothing goes back to the old one.
	for _, name := range b.Names() {
		if strings.Contains(name, "-next-") {
			b.Overwrite(name, nil)
		}
	}
	r, done = m.remote()
	var bad *remote.BadObjectError
	if _, err := r.Keyring(t.Context(), remote.GivenKey{}); !errors.As(err, &bad) {
		t.Errorf("a key that is not there any more: %v", err)
	}
	done()
	now = now.Add(time.Hour)
	m.write("f", "3")
	m.save()
	if _, _, err := m.push(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.cloned(key); !errors.As(err, &bad) {
		t.Errorf("what is pushed then is sealed for the old key: %v", err)
	}
}

// TestPublicHalfOnly: a machine that has no key goes on with the first one, and is told of another.
func TestPublicHalfOnly(t *testing.T) {
	quickly(t)
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	m.add()
	sandbox := initialised(t, &now)
	p := sandbox.open()
	if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x", WithoutKey: true}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := m.rotate(remote.RotateOptions{Passphrase: "words"}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	done, log, err := sandbox.push()
	if err != nil || !done.OldKey || done.NewKey {
		t.Fatalf("a push without a key: %+v, %v", done, err)
	}
	other := &machine{t, filepath.Join(t.TempDir(), "clone"), t.TempDir(), &now}
	o := remote.CloneOptions{OpenOptions: other.options(), URL: "s3://fault/x", Dir: other.dir, Name: "origin", Key: remote.GivenKey{Passphrase: "word"}, Log: log}
	var refused *remote.KeyError
	if _, err := remote.Clone(t.Context(), o); !errors.As(err, &refused) {
		t.Errorf("another passphrase: %v", err)
	}
	o.Key.Passphrase = "words"
	c, err := remote.Clone(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.Project.Close()
	var unreachable *bucket.UnreachableError
	b.Fail = func(string, string, int) faultbucket.Fault { return faultbucket.Before }
	r, closed := m.remote()
	defer closed()
	if _, err := r.Keyring(context.Background(), remote.GivenKey{}); !errors.As(err, &unreachable) {
		t.Error(err)
	}
	if _, err := r.Key(); err != nil {
		t.Errorf("the key without the remote: %v", err)
	}
}
