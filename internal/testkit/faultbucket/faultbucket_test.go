package faultbucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// What each fault leaves of each call, and what its caller hears.
func TestFaults(t *testing.T) {
	is := map[string]func(error) bool{
		"done": func(err error) bool { return err == nil },
		"lost": func(err error) bool {
			var unreachable *bucket.UnreachableError
			return errors.As(err, &unreachable) && errors.Is(err, ErrInjected)
		},
		"denied": func(err error) bool {
			var denied *bucket.DeniedError
			return errors.As(err, &denied)
		},
		"late": func(err error) bool {
			var unreachable *bucket.UnreachableError
			return errors.As(err, &unreachable) && errors.Is(err, context.DeadlineExceeded)
		},
		"none": func(err error) bool { return errors.Is(err, fs.ErrNotExist) },
	}
	for _, c := range []struct {
		fault    Fault
		op       string
		err      string
		after    string // the objects after it
		answered string
	}{
		{None, Put, "done", "a=four b=four", ""}, {Before, Put, "lost", "a=four", ""}, {After, Put, "lost", "a=four b=four", ""}, {Torn, Put, "lost", "a=four b=fo", ""},
		{Denied, Put, "denied", "a=four", ""}, {Hang, Put, "late", "a=four", ""},
		{None, Get, "done", "a=four", "four"}, {Before, Get, "lost", "a=four", ""}, {After, Get, "lost", "a=four", ""}, {Torn, Get, "done", "a=four", "fo"},
		{Denied, Get, "denied", "a=four", ""}, {Hang, Get, "late", "a=four", ""}, {Stale, Get, "none", "a=four", ""},
		{None, List, "done", "a=four", "a4"}, {Before, List, "lost", "a=four", ""}, {Torn, List, "done", "a=four", ""}, {Stale, List, "done", "a=four", ""}, {Hang, List, "late", "a=four", ""},
		{None, Delete, "done", "", ""}, {Before, Delete, "lost", "a=four", ""}, {After, Delete, "lost", "", ""}, {Denied, Delete, "denied", "a=four", ""},
	} {
		t.Run(fmt.Sprintf("%s %d", c.op, c.fault), func(t *testing.T) {
			b := New()
			b.Overwrite("a", []byte("four"))
			b.Fail = func(op, name string, n int) Fault {
				if op != c.op || n != 1 {
					t.Errorf("%s %s is call %d", op, name, n)
				}
				return c.fault
			}
			ctx := t.Context()
			if c.fault == Hang { // no other call has a time limit: a busy machine may take long for it
				limited, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				defer cancel()
				ctx = limited
			}
			var err error
			var answered string
			switch c.op {
			case Put:
				err = b.Put(ctx, "b", []byte("four"))
			case Get:
				var body []byte
				body, err = b.Get(ctx, "a", 10)
				answered = string(body)
			case List:
				var all []bucket.Object
				all, err = b.List(ctx, "")
				for _, o := range all {
					answered += fmt.Sprintf("%s%d", o.Name, o.Size)
				}
			case Delete:
				err = b.Delete(ctx, "a")
			}
			if !is[c.err](err) || answered != c.answered {
				t.Errorf("%q, %v", answered, err)
			}
			var holds []string
			for _, name := range b.Names() {
				holds = append(holds, name+"="+string(b.Peek(name)))
			}
			if got := strings.Join(holds, " "); got != c.after {
				t.Errorf("it holds %q, not %q", got, c.after)
			}
			if b.Calls("") != 1 || b.Calls(c.op) != 1 {
				t.Errorf("%d calls", b.Calls(""))
			}
		})
	}
}

func TestListings(t *testing.T) {
	b := New()
	for _, name := range []string{"c", "a", "b", "d"} {
		if err := b.Put(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	list := func() (out string) {
		all, err := b.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			out += o.Name
		}
		return out
	}
	if got := list(); got != "abcd" {
		t.Error(got)
	}
	b.Lag = 1
	if got := list(); got != "abc" {
		t.Error(got)
	}
	b.Unsorted = true
	if got := list(); got != "bac" {
		t.Error(got)
	}
	other := b.Fork()
	if err := other.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(b.Names(), other.Names()) != "[a b c d] [b c d]" {
		t.Error(b.Names(), other.Names())
	}
}

func TestConditions(t *testing.T) {
	b := New()
	if err := errors.Join(b.PutNew(t.Context(), "a", []byte("1")), b.Put(t.Context(), "a", []byte("2"))); err != nil {
		t.Fatal(err)
	}
	if err := b.PutNew(t.Context(), "a", []byte("3")); !errors.Is(err, fs.ErrExist) || string(b.Peek("a")) != "2" {
		t.Errorf("%v, %s", err, b.Peek("a"))
	}
	b.Conditions = Unsupported
	if err := b.PutNew(t.Context(), "b", nil); !errors.Is(err, errors.ErrUnsupported) || len(b.Names()) != 1 {
		t.Errorf("%v, %v", err, b.Names())
	}
	b.Conditions = Ignored
	if err := b.PutNew(t.Context(), "a", []byte("3")); err != nil || string(b.Peek("a")) != "3" {
		t.Errorf("%v, %s", err, b.Peek("a"))
	}
	b.WriteOnce = true
	var denied *bucket.DeniedError
	if err := b.Put(t.Context(), "a", []byte("4")); !errors.As(err, &denied) {
		t.Error(err)
	}
	if err := b.Delete(t.Context(), "a"); !errors.As(err, &denied) {
		t.Error(err)
	}
	if err := b.Put(t.Context(), "a", []byte("3")); err != nil || string(b.Peek("a")) != "3" {
		t.Error(err)
	}
}
