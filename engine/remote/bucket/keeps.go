package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"net/url"
)

// Keeper is a Bucket that can say whether it keeps what is overwritten or deleted.
type Keeper interface {
	Bucket
	// Keeps reports whether older versions of objects stay, and whether objects can be locked against removal for a time. What the server
	// does not tell, or not to these credentials, is nil.
	Keeps(ctx context.Context) (versioned, locked *bool, err error)
}

var _ Keeper = (*s3)(nil)

// Keeps asks for two settings of the bucket.
func (b *s3) Keeps(ctx context.Context) (versioned, locked *bool, err error) {
	ask := func(what string, answer any) (known bool, err error) {
		a, err := b.send(ctx, request{method: "GET", op: "list", query: url.Values{what: {""}}, limit: maxPage})
		if errors.As(err, new(*UnreachableError)) || ctx.Err() != nil {
			return false, err
		}
		return err == nil && xml.Unmarshal(a.body, answer) == nil, nil
	}
	var versioning struct {
		XMLName xml.Name `xml:"VersioningConfiguration"`
		Status  string
	}
	if known, err := ask("versioning", &versioning); err != nil {
		return nil, nil, err
	} else if known {
		versioned = new(versioning.Status == "Enabled")
	}
	var lock struct {
		XMLName           xml.Name `xml:"ObjectLockConfiguration"`
		ObjectLockEnabled string
	}
	if known, err := ask("object-lock", &lock); err != nil {
		return versioned, nil, err
	} else if known {
		locked = new(lock.ObjectLockEnabled == "Enabled")
	}
	return versioned, locked, nil
}
