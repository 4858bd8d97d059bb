package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// places opens an empty bucket of each kind.
var places = map[string]func(t *testing.T) bucket.Bucket{
	"dir":   func(t *testing.T) bucket.Bucket { return open(t, t.TempDir(), bucket.Options{}) },
	"fault": func(t *testing.T) bucket.Bucket { return faultbucket.New() },
}

func open(t *testing.T, url string, o bucket.Options) bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, b bucket.Bucket, name, body string) {
	t.Helper()
	if err := b.Put(t.Context(), name, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, b bucket.Bucket, name, body string) {
	t.Helper()
	if got, err := b.Get(t.Context(), name, 1<<20); err != nil || string(got) != body {
		t.Fatalf("%s: %q, %v; it should be %q", name, got, err, body)
	}
}

func names(t *testing.T, b bucket.Bucket, prefix string) string {
	t.Helper()
	objects, err := b.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range objects {
		out = append(out, fmt.Sprintf("%s=%d", o.Name, o.Size))
		if o.Time.IsZero() {
			t.Errorf("%s has no time", o.Name)
		}
	}
	return strings.Join(out, " ")
}

func each(t *testing.T, run func(t *testing.T, b bucket.Bucket)) {
	for kind, make := range places {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			run(t, make(t))
		})
	}
}

func TestContract(t *testing.T) {
	each(t, func(t *testing.T, b bucket.Bucket) {
		if got := names(t, b, ""); got != "" {
			t.Fatalf("it is not empty: %s", got)
		}
		if got := names(t, b, "w/none/"); got != "" {
			t.Fatalf("it is not empty: %s", got)
		}
		put(t, b, "rewind.json", "{}")
		put(t, b, "w/b/2-3", "two")
		put(t, b, "w/a/10-11-5-ff", "12345")
		put(t, b, "w/a/1-2-0-ee", "")
		put(t, b, "w/ab/1", "x")
		put(t, b, "w.x", "y")
		all := "rewind.json=2 w.x=1 w/a/1-2-0-ee=0 w/a/10-11-5-ff=5 w/ab/1=1 w/b/2-3=3"
		if got := names(t, b, ""); got != all {
			t.Fatalf("%s\nnot %s", got, all)
		}
		for prefix, want := range map[string]string{
			"w": "w.x=1 w/a/1-2-0-ee=0 w/a/10-11-5-ff=5 w/ab/1=1 w/b/2-3=3", "w/": "w/a/1-2-0-ee=0 w/a/10-11-5-ff=5 w/ab/1=1 w/b/2-3=3",
			"w/a": "w/a/1-2-0-ee=0 w/a/10-11-5-ff=5 w/ab/1=1", "w/a/": "w/a/1-2-0-ee=0 w/a/10-11-5-ff=5", "w/a/1": "w/a/1-2-0-ee=0 w/a/10-11-5-ff=5", "w/a/10-": "w/a/10-11-5-ff=5",
			"w/c/": "", "x": "", "w/a/1-2-0-ee": "w/a/1-2-0-ee=0", "w/a/1-2-0-ee/": "",
		} {
			if got := names(t, b, prefix); got != want {
				t.Errorf("below %q: %s\nnot %s", prefix, got, want)
			}
		}
		holds(t, b, "rewind.json", "{}")
		holds(t, b, "w/a/1-2-0-ee", "")

		put(t, b, "w/b/2-3", "two") // the same bytes once more
		holds(t, b, "w/b/2-3", "two")
		if got := names(t, b, ""); got != all {
			t.Fatalf("%s\nnot %s", got, all)
		}

		if _, err := b.Get(t.Context(), "w/b/4-5", 10); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "w/b/4-5") {
			t.Errorf("an object that is not there: %v", err)
		}
		if got, err := b.Get(t.Context(), "w/a/10-11-5-ff", 5); err != nil || len(got) != 5 {
			t.Errorf("an object as large as the limit: %q, %v", got, err)
		}
		var large *bucket.TooLargeError
		if _, err := b.Get(t.Context(), "w/a/10-11-5-ff", 4); !errors.As(err, &large) || large.Limit != 4 {
			t.Errorf("an object above the limit: %v", err)
		}

		for range 2 { // of what is not there too
			if err := b.Delete(t.Context(), "w/a/1-2-0-ee"); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Delete(t.Context(), "never/was"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Get(t.Context(), "w/a/1-2-0-ee", 10); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a deleted object: %v", err)
		}
		put(t, b, "w/a/1-2-0-ee", "again")
		holds(t, b, "w/a/1-2-0-ee", "again")
	})
}

func TestNamesAreRefused(t *testing.T) {
	bad := []string{"", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "../a", "a/..", ".hidden", "a/.b", "a.", "a./b", "A", "a b", "a\\b", "a\x00", "ä", "a%2e", "a+b", "c:", "a*", "~", strings.Repeat("a", 256), strings.Repeat("a/", 300) + "a"}
	each(t, func(t *testing.T, b bucket.Bucket) {
		var misnamed *bucket.NameError
		for _, name := range bad {
			_, err := b.Get(t.Context(), name, 1)
			for op, err := range map[string]error{"put": b.Put(t.Context(), name, nil), "get": err, "delete": b.Delete(t.Context(), name)} {
				if !errors.As(err, &misnamed) {
					t.Errorf("%s of %q: %v", op, name, err)
				}
			}
		}
		for _, prefix := range []string{"/", "../", "w/../", "w//", "W"} {
			if _, err := b.List(t.Context(), prefix); !errors.As(err, &misnamed) {
				t.Errorf("list %q: %v", prefix, err)
			}
		}
		if got := names(t, b, ""); got != "" {
			t.Errorf("there is %s", got)
		}
	})
}

func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b bucket.Bucket) {
		var all sync.WaitGroup
		var want []string
		writers, rounds := 8, 6
		if strings.Contains(t.Name(), "/git") { // each request is some processes there
			writers, rounds = 3, 1
		}
		for i := range writers {
			for n := range rounds {
				want = append(want, fmt.Sprintf("w/%d/%d=3000", i, n))
			}
			all.Go(func() {
				for n := range rounds {
					name := fmt.Sprintf("w/%d/%d", i, n)
					body := bytes.Repeat([]byte{byte(i), byte(n), 'x'}, 1000)
					shared := fmt.Sprintf("d/%d", n) // eight writers of the same bytes
					if err := errors.Join(b.Put(t.Context(), name, body), b.Put(t.Context(), shared, []byte(shared))); err != nil {
						t.Error(err)
					}
					if got, err := b.Get(t.Context(), name, 3000); err != nil || !bytes.Equal(got, body) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
					if got, err := b.Get(t.Context(), shared, 3000); err != nil || string(got) != shared {
						t.Errorf("%s: %q, %v", shared, got, err)
					}
					if _, err := b.List(t.Context(), "w/"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		slices.Sort(want)
		if got := names(t, b, "w/"); got != strings.Join(want, " ") {
			t.Errorf("%s\nnot %s", got, want)
		}
	})
}

func TestCancelled(t *testing.T) {
	each(t, func(t *testing.T, b bucket.Bucket) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, get := b.Get(ctx, "a", 1)
		_, list := b.List(ctx, "")
		for op, err := range map[string]error{"put": b.Put(ctx, "a", nil), "get": get, "list": list, "delete": b.Delete(ctx, "a")} {
			var unreachable *bucket.UnreachableError
			if !errors.Is(err, context.Canceled) || errors.As(err, &unreachable) {
				t.Errorf("%s: %v", op, err)
			}
		}
		if got := names(t, b, ""); got != "" {
			t.Errorf("there is %s", got)
		}
	})
}

func TestProbe(t *testing.T) {
	each(t, func(t *testing.T, b bucket.Bucket) {
		can, err := bucket.Probe(t.Context(), b)
		_, conditional := b.(bucket.Conditional)
		if want := (bucket.Capabilities{Conditional: conditional, Overwrite: true, Read: true, List: true, Delete: true}); err != nil || can != want {
			t.Errorf("%+v, %v", can, err)
		}
		if got := names(t, b, ""); got != "" {
			t.Errorf("the probe left %s", got)
		}
	})
}

func TestProbeOfOddPlaces(t *testing.T) {
	all := bucket.Capabilities{Conditional: true, Overwrite: true, Read: true, List: true, Delete: true}
	deny := func(denied string) func(string, string, int) faultbucket.Fault {
		return func(op, _ string, _ int) faultbucket.Fault {
			if op == denied {
				return faultbucket.Denied
			}
			return faultbucket.None
		}
	}
	for kind, c := range map[string]struct {
		set  func(b *faultbucket.Bucket)
		want func(can *bucket.Capabilities)
		left bool
	}{
		"501":        {set: func(b *faultbucket.Bucket) { b.Conditions = faultbucket.Unsupported }, want: func(can *bucket.Capabilities) { can.Conditional = false }},
		"ignores":    {set: func(b *faultbucket.Bucket) { b.Conditions = faultbucket.Ignored }, want: func(can *bucket.Capabilities) { can.Conditional = false }},
		"write once": {set: func(b *faultbucket.Bucket) { b.WriteOnce = true }, want: func(can *bucket.Capabilities) { can.Overwrite, can.Delete = false, false }, left: true},
		"lagging":    {set: func(b *faultbucket.Bucket) { b.Lag = 1 }, want: func(can *bucket.Capabilities) {}},
		"no get":     {set: func(b *faultbucket.Bucket) { b.Fail = deny(faultbucket.Get) }, want: func(can *bucket.Capabilities) { can.Read = false }},
		"no list":    {set: func(b *faultbucket.Bucket) { b.Fail = deny(faultbucket.List) }, want: func(can *bucket.Capabilities) { can.List = false }},
		"no delete":  {set: func(b *faultbucket.Bucket) { b.Fail = deny(faultbucket.Delete) }, want: func(can *bucket.Capabilities) { can.Delete = false }, left: true},
	} {
		t.Run(kind, func(t *testing.T) {
			b, want := faultbucket.New(), all
			c.set(b)
			c.want(&want)
			if can, err := bucket.Probe(t.Context(), b); err != nil || can != want {
				t.Errorf("%+v, %v; it should be %+v", can, err, want)
			}
			if left := b.Names(); len(left) > 0 != c.left {
				t.Errorf("the probe left %v", left)
			}
		})
	}
	for _, op := range []string{faultbucket.Put, faultbucket.Get, faultbucket.List, faultbucket.Delete} {
		b := faultbucket.New()
		b.Fail = func(o, _ string, _ int) faultbucket.Fault {
			if o == op {
				return faultbucket.Before
			}
			return faultbucket.None
		}
		var unreachable *bucket.UnreachableError
		if _, err := bucket.Probe(t.Context(), b); !errors.As(err, &unreachable) {
			t.Errorf("%s fails: %v", op, err)
		}
	}
	for _, fault := range []struct {
		op   string
		kind faultbucket.Fault
	}{{faultbucket.Get, faultbucket.Torn}, {faultbucket.Put, faultbucket.Denied}} {
		b := faultbucket.New()
		b.Fail = func(op, _ string, _ int) faultbucket.Fault {
			if op == fault.op {
				return fault.kind
			}
			return faultbucket.None
		}
		if can, err := bucket.Probe(t.Context(), b); err == nil {
			t.Errorf("%s is %v: %+v", fault.op, fault.kind, can)
		}
	}
}
