package faultbucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Fault is how one call fails.
type Fault int

const (
	None   Fault = iota
	Before       // nothing was done: *bucket.UnreachableError
	After        // all was done, and the answer is lost: *bucket.UnreachableError
	Torn         // Put: the first half is there under the name, *bucket.UnreachableError. Get: the first half, and no error. List: the first half of the names, and no error. Delete: as After
	Denied       // nothing was done: *bucket.DeniedError
	Hang         // nothing was done, and the call ends with its context: *bucket.UnreachableError, or context.Canceled
	Stale        // the server does not see the object, or for List any, yet: Get is fs.ErrNotExist. Put and Delete: as None
)

// The operations, as Bucket.Fail gets them.
const (
	Put    = "put"
	Get    = "get"
	List   = "list"
	Delete = "delete"
)

// ErrInjected is the cause of the errors that a Fault makes.
var ErrInjected = errors.New("injected fault")

// Conditions are what a server makes of a request that must not overwrite.
type Conditions int

const (
	Honoured    Conditions = iota
	Ignored                // it overwrites
	Unsupported            // it answers 501: errors.ErrUnsupported
)

// Bucket is safe for concurrent use. Its exported fields are set before that.
type Bucket struct {
	// Fail is called before each call, by one goroutine at a time: n is its number, from 1; name is the prefix for List. nil: nothing fails.
	Fail func(op, name string, n int) Fault
	// Lag is how many of the newest objects a listing does not show yet.
	Lag int
	// Unsorted makes List break its promise, to see who relies on the order: newest first.
	Unsorted bool
	// Conditions is how PutNew behaves.
	Conditions Conditions
	// WriteOnce refuses to overwrite and to delete, as a bucket's policy can: *bucket.DeniedError from Put and Delete.
	WriteOnce bool
	// Now is the clock of the server; nil: a second passes with each Put, from 2026-01-01.
	Now func() time.Time

	mu      sync.Mutex
	calls   int
	counts  map[string]int
	written int // how many objects were ever written
	objects map[string]object
}

type object struct {
	body  []byte
	time  time.Time
	order int // of writing
}

var _ bucket.Conditional = (*Bucket)(nil)

// New returns an empty bucket that works.
func New() *Bucket {
	return &Bucket{counts: map[string]int{}, objects: map[string]object{}}
}

// Fork returns a bucket with the same objects, and no faults: what another machine sees from now on if a server was copied.
func (b *Bucket) Fork() *Bucket {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := New()
	c.written, c.objects = b.written, maps.Clone(b.objects)
	return c
}

// Calls returns how many calls of an operation there were; "" counts all.
func (b *Bucket) Calls(op string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if op == "" {
		return b.calls
	}
	return b.counts[op]
}

// Names returns the names of all objects, sorted; no call fails or is counted for it.
func (b *Bucket) Names() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.objects))
}

// Peek returns a copy of an object, nil if there is none.
func (b *Bucket) Peek(name string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.objects[name].body)
}

// Overwrite puts bytes under a name as an attacker, or the owner of the bucket, can; nil removes the object.
func (b *Bucket) Overwrite(name string, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body == nil {
		delete(b.objects, name)
		return
	}
	b.store(name, body)
}

func (b *Bucket) store(name string, body []byte) {
	b.written++
	now := time.Date(2026, 1, 1, 0, 0, b.written, 0, time.UTC)
	if b.Now != nil {
		now = b.Now()
	}
	b.objects[name] = object{append([]byte{}, body...), now, b.written}
}

// call counts a call and says how it fails. An error is that of a call that did nothing.
func (b *Bucket) call(ctx context.Context, op, name string) (Fault, error) {
	if err := ctx.Err(); err != nil {
		return None, ended(err)
	}
	b.mu.Lock()
	b.calls++
	b.counts[op]++
	fault := None
	if b.Fail != nil {
		fault = b.Fail(op, name, b.calls)
	}
	b.mu.Unlock()
	switch fault {
	case Before:
		return fault, lost(op, name)
	case Denied:
		return fault, denied(op, name)
	case Hang:
		<-ctx.Done()
		return fault, ended(ctx.Err())
	}
	return fault, nil
}

func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &bucket.UnreachableError{Host: "fault", Err: err}
	}
	return err
}

func lost(op, name string) error {
	return &bucket.UnreachableError{Host: "fault", Err: fmt.Errorf("%s %s: %w", op, name, ErrInjected)}
}

func denied(op, name string) error {
	return &bucket.DeniedError{Host: "fault", Next: "Take the fault away.", Err: fmt.Errorf("%s %s: %w", op, name, ErrInjected)}
}

// Put implements bucket.Bucket.
func (b *Bucket) Put(ctx context.Context, name string, body []byte) error {
	return b.put(ctx, name, body, b.WriteOnce, denied(Put, name))
}

// PutNew implements bucket.Conditional.
func (b *Bucket) PutNew(ctx context.Context, name string, body []byte) error {
	if b.Conditions == Unsupported {
		if err := bucket.CheckName(name); err != nil {
			return err
		}
		if _, err := b.call(ctx, Put, name); err != nil {
			return err
		}
		return fmt.Errorf("put %s: %w", name, errors.ErrUnsupported)
	}
	return b.put(ctx, name, body, b.Conditions == Honoured, fmt.Errorf("put %s: %w", name, fs.ErrExist))
}

// put stores an object; where there is one of other bytes and once is set, taken is the error.
func (b *Bucket) put(ctx context.Context, name string, body []byte, once bool, taken error) error {
	if err := bucket.CheckName(name); err != nil {
		return err
	}
	fault, err := b.call(ctx, Put, name)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.objects[name]; ok && once && (errors.Is(taken, fs.ErrExist) || !bytes.Equal(old.body, body)) {
		return taken
	}
	if fault == Torn {
		body = body[:len(body)/2]
	}
	b.store(name, body)
	if fault == After || fault == Torn {
		return lost(Put, name)
	}
	return nil
}

// Get implements bucket.Bucket.
func (b *Bucket) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := bucket.CheckName(name); err != nil {
		return nil, err
	}
	fault, err := b.call(ctx, Get, name)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[name]
	switch {
	case fault == After:
		return nil, lost(Get, name)
	case !ok || fault == Stale:
		return nil, fmt.Errorf("get %s: %w", name, fs.ErrNotExist)
	}
	body := append([]byte{}, o.body...)
	if fault == Torn {
		body = body[:len(body)/2]
	}
	if int64(len(body)) > limit {
		return nil, &bucket.TooLargeError{Name: name, Limit: limit}
	}
	return body, nil
}

// List implements bucket.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string) ([]bucket.Object, error) {
	if err := bucket.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	fault, err := b.call(ctx, List, prefix)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if fault == After {
		return nil, lost(List, prefix)
	}
	if fault == Stale {
		return nil, nil
	}
	names := slices.SortedFunc(maps.Keys(b.objects), func(x, y string) int { return b.objects[x].order - b.objects[y].order })
	names = names[:max(0, len(names)-b.Lag)]
	slices.Reverse(names)
	if !b.Unsorted {
		slices.Sort(names)
	}
	var out []bucket.Object
	for _, name := range names {
		if o := b.objects[name]; strings.HasPrefix(name, prefix) {
			out = append(out, bucket.Object{Name: name, Size: int64(len(o.body)), Time: o.time})
		}
	}
	if fault == Torn {
		out = out[:len(out)/2]
	}
	return out, nil
}

// Delete implements bucket.Bucket.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := bucket.CheckName(name); err != nil {
		return err
	}
	fault, err := b.call(ctx, Delete, name)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.objects[name]; ok && b.WriteOnce {
		return denied(Delete, name)
	}
	delete(b.objects, name)
	if fault == After || fault == Torn {
		return lost(Delete, name)
	}
	return nil
}
