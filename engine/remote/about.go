package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// about is the remote's own description, the object rewind.json.
type about struct {
	Format    int    `json:"format"`
	ID        string `json:"id"`
	Recipient string `json:"recipient"`
	Share     bool   `json:"share,omitempty"` // it has one checkpoint, and nothing is pushed there
}

// format is the newest that this program reads and writes.
const format = 1

// parseAbout reads rewind.json.
func parseAbout(url string, data []byte) (a about, err error) {
	if err := json.Unmarshal(data, &a); err != nil {
		return a, &BadObjectError{aboutName, "it is not readable: " + err.Error()}
	}
	if a.Format < 1 {
		return a, &BadObjectError{aboutName, "it names no format"}
	}
	if a.Format != format {
		return a, &FutureError{url, a.Format}
	}
	if _, err := account.ParseStoreID(a.ID); err != nil {
		return a, &BadObjectError{aboutName, err.Error()}
	}
	return a, nil
}

// describe reads the remote's description. The error is fs.ErrNotExist where there is none.
func describe(ctx context.Context, b bucket.Bucket, url string) (a about, err error) {
	data, err := b.Get(ctx, aboutName, maxConfig)
	if err != nil {
		return a, err
	}
	return parseAbout(url, data)
}

// described reads the description, which is to be the one that this store knows. Errors: *GoneError where it is not there, or another remote's;
// *BadObjectError where a part of it differs.
func (r *Remote) described(ctx context.Context, b bucket.Bucket) (a about, err error) {
	a, err = describe(ctx, b, r.URL)
	switch is, key := a.ID == r.ID, a.Recipient == r.Recipient; {
	case errors.Is(err, fs.ErrNotExist), err == nil && !is && !key:
		err = &GoneError{r.URL}
	case err == nil && !is:
		err = &BadObjectError{aboutName, "it names another remote than this store knows, and the same key"}
	case err == nil && !key:
		err = &BadObjectError{aboutName, "it names another key than this store knows, as where somebody has changed it"}
	}
	return a, err
}

// describeAgain writes what this store knows of the description, in the place of a damaged one.
func (r *Remote) describeAgain(ctx context.Context) error {
	b, err := r.openAs(false)
	if err != nil {
		return err
	}
	return about{Format: format, ID: r.ID, Recipient: r.Recipient}.put(ctx, b)
}

func (a about) put(ctx context.Context, b bucket.Bucket) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return b.Put(ctx, aboutName, append(data, '\n'))
}

// GoneError: the place of a remote does not hold it any more, or holds another one.
type GoneError struct{ URL string }

func (e *GoneError) Error() string { return e.URL + " does not hold this remote any more" }

// FutureError: the remote has a format that a later version writes.
type FutureError struct {
	URL    string
	Format int
}

func (e *FutureError) Error() string {
	return fmt.Sprintf("the remote at %s has format %d: a later version of rewind made it", e.URL, e.Format)
}
