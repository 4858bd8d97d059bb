//go:build unix

package remote_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// beside is another project on another machine, with a remote in the same place.
func beside(t *testing.T, key string, now *time.Time, files map[string]string) *machine {
	t.Helper()
	m := &machine{t, t.TempDir(), t.TempDir(), now}
	made, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: m.env(), Root: m.dir}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	for name, text := range files {
		m.write(name, text)
	}
	m.save()
	p := m.open()
	defer p.Close()
	if _, err := remote.Add(t.Context(), p, remote.AddOptions{Name: "origin", URL: "s3://fault/x", Key: remote.GivenKey{Text: key}}); err != nil {
		t.Fatal(err)
	}
	return m
}

// two are a project that has pushed, in packs, and another one with the same files that has not.
func two(t *testing.T, now *time.Time) (b *faultbucket.Bucket, key, log string, one, other *machine) {
	t.Helper()
	b = faultbucket.New()
	b.Now = func() time.Time { return *now }
	t.Cleanup(remote.OpenAs(b))
	t.Cleanup(small())
	r := rand.New(rand.NewPCG(2, 27))
	files := map[string]string{}
	for n := range 12 {
		files[fmt.Sprintf("d%d/f%d", n%3, n)] = noise(r, 4000)
	}
	if key == "" {
		first := initialised(t, now) // which makes the remote
		key = first.add()
	}
	one = beside(t, key, now, files)
	_, log, err := one.push()
	if err != nil {
		t.Fatal(err)
	}
	if count(b, "i/") != 1 {
		t.Fatalf("no index: %v", b.Names())
	}
	return b, key, log, one, beside(t, key, now, files)
}

// TestRelies: a large push of a project relies on the packs of another one that hold nothing but what it needs, and these stay for it, whatever becomes
// of the other project.
func TestRelies(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	b, key, log, one, other := two(t, &now)
	was := count(b, "d/")
	done, mine, err := other.push()
	if err != nil || done.Relied == 0 || done.Bytes > 20_000 || count(b, "d/")-was > 1 {
		t.Fatalf("%d bytes, %d packs beside %d: %v", done.Bytes, count(b, "d/"), was, err)
	}
	other.holds(b, key, mine)
	if checked, err := other.check(); err != nil || len(checked.Damaged) > 0 {
		t.Fatalf("%+v, %v", checked, err)
	}
	// what it relies on is damaged: it sends that itself
	damaged := b.Fork()
	damaged.Now = b.Now
	for _, name := range damaged.Names() {
		if strings.HasPrefix(name, "d/") {
			damaged.Overwrite(name, append([]byte("x"), damaged.Peek(name)[1:]...))
		}
	}
	remote.OpenAs(damaged)
	copied := &machine{t, t.TempDir(), other.home, &now}
	cp(t, other.dir, copied.dir)
	r, free := copied.remote()
	if pushed, err := r.Repair(t.Context()); err != nil || !pushed.Lost || pushed.Relied > 0 {
		t.Fatalf("%+v, %v", pushed, err)
	}
	again, _ := remote.NewestLog(r)
	free()
	copied.holds(damaged, key, again)
	remote.OpenAs(b)
	// the other project is given up
	if _, err := other.gc(remote.GCOptions{Log: log}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		now = now.Add(8 * day)
		if _, err := other.gc(remote.GCOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	other.holds(b, key, mine)
	if done, _, err := one.push(); err != nil || done.Bytes != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	now = now.Add(time.Hour)
	// a pack is lost: the project that relies on it sends it itself
	for _, name := range b.Names() {
		if strings.HasPrefix(name, "d/") {
			b.Overwrite(name, nil)
		}
	}
	r, free = other.remote()
	pushed, err := r.Push(t.Context(), true)
	if err != nil || !pushed.Lost {
		t.Fatalf("%+v, %v", pushed, err)
	}
	again, _ = remote.NewestLog(r)
	free()
	other.holds(b, key, again)
}

// TestReliesOnNothingCondemned: what gc has condemned, before the push or while it is under way, is sent again.
func TestReliesOnNothingCondemned(t *testing.T) {
	for _, when := range []string{"before", "meanwhile", "gone meanwhile"} {
		t.Run(when, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			b, key, log, _, other := two(t, &now)
			collector := beside(t, key, &now, map[string]string{"a": "b"})
			if when != "before" {
				b.Fail = func(op, name string, _ int) faultbucket.Fault {
					if op == faultbucket.Put && strings.HasPrefix(name, "w/") {
						return faultbucket.Before
					}
					return faultbucket.None
				}
				var unreachable *bucket.UnreachableError
				if _, _, err := other.push(); !errors.As(err, &unreachable) {
					t.Fatal(err)
				}
				b.Fail = nil
			}
			if _, err := collector.gc(remote.GCOptions{Log: log}); err != nil {
				t.Fatal(err)
			}
			if when == "gone meanwhile" {
				now = now.Add(8 * day)
				if _, err := collector.gc(remote.GCOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			done, mine, err := other.push()
			if err != nil || done.Bytes < 48_000 {
				t.Fatalf("%+v, %v", done, err)
			}
			for range 3 {
				now = now.Add(8 * day)
				if _, err := collector.gc(remote.GCOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			other.holds(b, key, mine)
		})
	}
}

// TestReliesOnNothingElse: packs with anything that this project lacks, packs for an earlier key, and an index that somebody without the key has made, or changed, do not
// count.
func TestReliesOnNothingElse(t *testing.T) {
	quickly(t)
	for what, change := range map[string]func(b *faultbucket.Bucket, one, other *machine){
		"rotated": func(_ *faultbucket.Bucket, one, other *machine) {
			if _, err := one.rotate(remote.RotateOptions{}); err != nil {
				t.Fatal(err)
			}
			r, free := other.remote()
			defer free()
			if _, err := r.Keyring(t.Context(), remote.GivenKey{Text: one.keyText("")}); err != nil {
				t.Fatal(err)
			}
		},
		"changed": func(b *faultbucket.Bucket, _, _ *machine) {
			for _, name := range b.Names() {
				if strings.HasPrefix(name, "i/") {
					b.Overwrite(name, append([]byte("x"), b.Peek(name)[1:]...))
				}
			}
		},
		"forged": func(b *faultbucket.Bucket, one, _ *machine) {
			var stamps []string
			for _, name := range b.Names() {
				if strings.HasPrefix(name, "i/") {
					b.Overwrite(name, nil)
				}
				if strings.HasPrefix(name, "d/") {
					stamps = append(stamps, strings.TrimPrefix(name, "d/"))
				}
			}
			r, free := one.remote()
			defer free()
			for _, k := range []bool{false, true} { // by a key of somebody else; as a segment is marked
				name, sealed, err := remote.ForgeIndex(r, stamps, k)
				if err != nil {
					t.Fatal(err)
				}
				b.Overwrite(name, sealed)
			}
		},
		"less": func(*faultbucket.Bucket, *machine, *machine) {},
	} {
		t.Run(what, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			b, key, log, one, other := two(t, &now)
			change(b, one, other)
			now = now.Add(time.Hour)
			had := map[string]bool{}
			for _, name := range b.Names() {
				had[name] = true
			}
			if what == "less" { // a project of its own, which never had the others
				some := map[string]string{}
				for n := range 12 {
					name := fmt.Sprintf("d%d/f%d", n%3, n)
					text, err := os.ReadFile(filepath.Join(other.dir, name))
					if err != nil {
						t.Fatal(err)
					}
					if n < 9 { // of each directory, the last one is missing
						some[name] = string(text)
					}
				}
				other = beside(t, key, &now, some)
			}
			done, mine, err := other.push()
			if err != nil {
				t.Fatal(err)
			}
			if done.Relied > 0 || what != "less" && done.Bytes < 48_000 {
				t.Errorf("it relied on something: %+v", done)
			}
			if _, err := other.gc(remote.GCOptions{Log: log}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				now = now.Add(8 * day)
				if _, err := other.gc(remote.GCOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			other.holds(b, other.keyText(key), mine)
			for _, name := range b.Names() { // what only the other project had is not kept by this one
				if had[name] && (strings.HasPrefix(name, "d/") || strings.HasPrefix(name, "i/")) {
					t.Errorf("%s is still there", name)
				}
			}
		})
	}
}

// TestReliesWhereRequestsFail: whichever request of the push fails, and however, the next push ends it, and what it has reported is there for good.
func TestReliesWhereRequestsFail(t *testing.T) {
	relied := 0
	for _, fault := range []faultbucket.Fault{faultbucket.Before, faultbucket.After, faultbucket.Torn, faultbucket.Stale} {
		for at := 1; ; at += every(3) {
			now := time.Unix(1_800_000_000, 0)
			b, key, log, _, other := two(t, &now)
			if at%2 == 0 {
				b.Lag = 2
			}
			calls, failed := 0, false
			b.Fail = func(string, string, int) faultbucket.Fault {
				if calls++; calls != at {
					return faultbucket.None
				}
				failed = true
				return fault
			}
			done, mine, err := other.push()
			relied += done.Relied
			b.Fail = nil
			if err != nil {
				if done, mine, err = other.push(); err != nil {
					t.Fatalf("%v at %d: %v", fault, at, err)
				}
				relied += done.Relied
			}
			b.Lag = 0
			if _, err := other.gc(remote.GCOptions{Log: log}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				now = now.Add(8 * day)
				if _, err := other.gc(remote.GCOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			other.holds(b, key, mine)
			if !failed {
				break
			}
		}
	}
	if relied < 8 {
		t.Errorf("only %d packs were relied on", relied)
	}
}

// TestPullsWhatWasReliedOn: a machine with a project of its own pulls a log whose packs are another project's.
func TestPullsWhatWasReliedOn(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	_, key, log, _, other := two(t, &now)
	if done, _, err := other.push(); err != nil || done.Relied == 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := other.gc(remote.GCOptions{Log: log}); err != nil {
		t.Fatal(err)
	}
	third := beside(t, key, &now, map[string]string{"own": "own"})
	if done, err := third.pull(remote.PullOptions{}); err != nil || len(done.Logs) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	p := third.open()
	defer p.Close()
	if v, err := maintain.Verify(t.Context(), p, true); err != nil || !v.OK() {
		t.Fatalf("%+v, %v", v, err)
	}
	for _, l := range third.pullAll(p) {
		if !l.Whole {
			t.Errorf("%+v", l)
		}
	}
}
