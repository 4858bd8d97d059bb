//go:build unix

package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

func (m *machine) check() (*remote.Checked, error) {
	m.t.Helper()
	p := m.open()
	defer p.Close()
	r, err := remote.Find(p, "")
	if err != nil {
		m.t.Fatal(err)
	}
	return r.Check(m.t.Context())
}

// TestCheck: whatever is missing or changed is named; what is not needed is none of it; push --check sends again what is missing, and
// push --repair also what is damaged.
func TestCheck(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	restore := remote.OpenAs(b)
	defer restore()
	defer small()()
	m := initialised(t, &now)
	key := m.add()
	m.write("big", noise(rand.New(rand.NewPCG(1, 1)), 30_000))
	log := m.pushes(5)
	if _, err := m.merge(); err != nil {
		t.Fatal(err)
	}
	whole, err := m.check()
	if err != nil || len(whole.Damaged) > 0 || len(whole.Logs) != 1 || !whole.Logs[0].Signed || whole.Logs[0].Machine == "" || whole.Segments != 5 || whole.Objects.Objects != 3 ||
		whole.Packs.Objects == 0 || whole.Unneeded.Objects != 3 || !whole.Can.Delete || !whole.Can.Overwrite {
		t.Fatalf("%+v, %v", whole, err)
	}
	held, err := remote.HeldBy(b)
	if err != nil {
		t.Fatal(err)
	}
	unneeded := strings.Join(held, " ")
	tip := log
	for _, name := range b.Names() {
		if !strings.HasPrefix(name, "w/") && !strings.HasPrefix(name, "d/") {
			continue
		}
		for what, body := range map[string][]byte{"removed": nil, "torn": b.Peek(name)[:9], "changed": append(b.Peek(name)[1:], 1)} {
			c := b.Fork()
			c.Now = b.Now
			c.Overwrite(name, body)
			remote.OpenAs(c)
			done, err := m.check()
			if err != nil {
				t.Fatal(err)
			}
			end := strings.Contains(name, tip) // that the newest push is gone, only the machine that pushed it can see
			quiet := what == "changed" && strings.HasPrefix(name, "d/") || what != "changed" && (strings.Contains(unneeded, name) || strings.Count(name, "-") == 5)
			if (len(done.Damaged) == 0) != quiet && !(what == "changed" && strings.Contains(unneeded, name)) {
				t.Errorf("%s, %s: %v", name, what, done.Damaged)
			}
			if what == "torn" && strings.HasPrefix(name, "w/") && (len(done.Torn) == 1) == end {
				t.Errorf("%s is torn: %v", name, done.Torn)
			}
			if strings.Contains(unneeded, name) || strings.Count(name, "-") == 5 {
				continue
			}
			copied := &machine{t, t.TempDir(), m.home, &now}
			cp(t, m.dir, copied.dir)
			p := copied.open()
			r, err := remote.Find(p, "")
			if err != nil {
				t.Fatal(err)
			}
			push := r.Repair
			if what != "changed" {
				push = func(ctx context.Context) (*remote.Pushed, error) { return r.Push(ctx, true) }
			}
			pushed, err := push(t.Context())
			p.Close()
			if err != nil || !pushed.Lost || (pushed.Old == log) != (what == "changed" || !end) {
				t.Errorf("%s, %s: %+v, %v", name, what, pushed, err)
			}
			log, err := remote.NewestLog(r)
			if err != nil {
				t.Fatal(err)
			}
			copied.holds(c, key, log)
		}
	}
	remote.OpenAs(b)
	b.WriteOnce = true
	locked, err := m.check()
	if err != nil || locked.Can.Delete || locked.Can.Overwrite {
		t.Errorf("%+v, %v", locked, err)
	}
	b.WriteOnce = false
	b.Overwrite("rewind.json", nil)
	var gone *remote.GoneError
	if _, err := m.check(); !errors.As(err, &gone) {
		t.Errorf("a remote that is gone: %v", err)
	}
}

// TestDamagedDescription: whichever bit of the description is another one, a check says that it is damaged, or it says the same.
func TestDamagedDescription(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { now = now.Add(time.Second); return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	m.add()
	m.pushes(1)
	whole := b.Peek("rewind.json")
	var said map[string]any
	if err := json.Unmarshal(whole, &said); err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) * 8 {
		body := bytes.Clone(whole)
		body[i/8] ^= 1 << (i % 8)
		b.Overwrite("rewind.json", body)
		done, err := m.check()
		var future *remote.FutureError
		if err != nil && !errors.As(err, &future) {
			t.Errorf("%s: %v", body, err)
		}
		if err != nil || len(done.Damaged) > 0 {
			continue
		}
		var says map[string]any
		if err := json.Unmarshal(bytes.ToLower(body), &says); err != nil || !reflect.DeepEqual(says, said) {
			t.Errorf("nothing is wrong with %s", body)
		}
	}
}

func TestPolicy(t *testing.T) {
	r := &remote.Remote{Config: remote.Config{URL: "s3://backups/a/b?region=eu-central-1"}}
	text, err := r.Policy()
	if err != nil || !strings.Contains(text, `"arn:aws:s3:::backups/a/b/*"`) || !strings.Contains(text, `"s3:prefix": "a/b/*"`) || strings.Contains(text, "Delete") {
		t.Errorf("%s, %v", text, err)
	}
}
