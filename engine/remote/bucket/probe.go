package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Capabilities are what a bucket lets the holder of its credentials do. That objects can be put is no question: Probe fails where it is not so.
type Capabilities struct {
	Conditional bool // PutNew leaves an object that is there alone: Options.Conditional may be set
	Overwrite   bool // Put replaces an object that is there by other bytes
	Read        bool
	List        bool
	Delete      bool
}

// Probe finds out what a bucket can do, by a small object of a new random name below "probe/": it is put, put again with and without a condition,
// read, listed and deleted. Where deleting is not allowed, it stays. The bucket is one that was opened without Options.Conditional.
//
// What a bucket refuses by *DeniedError is a capability that it has not; any other failure of a request is an error, and so is a bucket that
// gives back other bytes than were put.
func Probe(ctx context.Context, b Bucket) (Capabilities, error) {
	var can Capabilities
	name := "probe/" + strings.ToLower(rand.Text())
	body := func(n int) []byte { return fmt.Appendf(nil, "rewind probes what this place can do (%d)\n", n) }
	holds := body(1)

	first := errors.ErrUnsupported
	conditional, ok := b.(Conditional)
	if ok {
		first = conditional.PutNew(ctx, name, holds)
	}
	switch {
	case errors.Is(first, errors.ErrUnsupported):
		if err := b.Put(ctx, name, holds); err != nil {
			return can, err
		}
	case errors.Is(first, fs.ErrExist):
		// The request was sent again after its answer was lost: what is there is ours, since the name is random.
	case first != nil:
		return can, first
	}
	if !errors.Is(first, errors.ErrUnsupported) {
		switch err := conditional.PutNew(ctx, name, body(2)); {
		case err == nil:
			holds = body(2)
		case errors.Is(err, fs.ErrExist):
			can.Conditional = true
		case !errors.Is(err, errors.ErrUnsupported):
			return can, err
		}
	}
	// allowed sorts the answer of a request: refused, failed, or done.
	allowed := func(err error) (bool, error) {
		if errors.As(err, new(*DeniedError)) {
			return false, nil
		}
		return err == nil, err
	}
	var err error
	if can.Overwrite, err = allowed(b.Put(ctx, name, body(3))); err != nil {
		return can, err
	}
	if can.Overwrite {
		holds = body(3)
	}
	got, err := b.Get(ctx, name, int64(len(holds)))
	if can.Read, err = allowed(err); err != nil {
		return can, err
	}
	if can.Read && !bytes.Equal(got, holds) {
		return can, fmt.Errorf("get %s: the bytes are not those that were put", name)
	}
	objects, err := b.List(ctx, "probe/")
	if can.List, err = allowed(err); err != nil {
		return can, err
	}
	if slices.ContainsFunc(objects, func(o Object) bool { return o.Name == name && o.Size != int64(len(holds)) }) { // a listing may lag, and not show it yet
		return can, fmt.Errorf("list probe/*: %s has not the length that was put", name)
	}
	can.Delete, err = allowed(b.Delete(ctx, name))
	return can, err
}
