package bucket

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// Below is the part of a bucket whose names begin with prefix, a name, and "/": callers give and get names without it. In a git repository it
// has refs of its own, which a listing of the whole does not show.
func Below(b Bucket, prefix string) Bucket {
	if g, ok := b.(*gitPlace); ok {
		return &gitPlace{url: g.url, prefix: g.prefix + refText(prefix) + "/", env: g.env, timeout: g.timeout, existing: g.existing}
	}
	return &below{b, prefix + "/"}
}

type below struct {
	whole  Bucket
	prefix string
}

func (b *below) Put(ctx context.Context, name string, body []byte) error {
	return b.whole.Put(ctx, b.prefix+name, body)
}

func (b *below) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	return b.whole.Get(ctx, b.prefix+name, limit)
}

func (b *below) List(ctx context.Context, prefix string) ([]Object, error) {
	all, err := b.whole.List(ctx, b.prefix+prefix)
	for i := range all {
		all[i].Name = strings.TrimPrefix(all[i].Name, b.prefix)
	}
	return all, err
}

func (b *below) Delete(ctx context.Context, name string) error {
	return b.whole.Delete(ctx, b.prefix+name)
}

// AddressBelow is the URL of Below for somebody else: it names the place without the environment of this account, and without secrets. Error: *URLError.
func AddressBelow(address, prefix string, o Options) (string, error) {
	switch scheme, _, _ := strings.Cut(address, ":"); {
	case scheme == "git":
		at, err := Resolve(address, o)
		if err != nil {
			return "", err
		}
		at = withoutSecrets(at)
		if strings.Contains(at, "#") {
			return at + "/" + prefix, nil
		}
		return at + "#" + prefix, nil
	case scheme == "s3", scheme == "file":
		u, err := url.Parse(address)
		if err != nil {
			return "", &URLError{address, "it cannot be read", ""}
		}
		u.Path = path.Join("/", u.Path, prefix)
		if scheme == "file" {
			return u.String(), nil
		}
		q := u.Query()
		q.Del("profile")
		for key, from := range map[string][]string{"endpoint": {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, "region": {"AWS_REGION", "AWS_DEFAULT_REGION"}} {
			for _, name := range from {
				if text := o.getenv(name); text != "" && !q.Has(key) {
					q.Set(key, text)
				}
			}
		}
		u.RawQuery = q.Encode()
		return u.String(), nil
	case strings.HasPrefix(address, "~/") && o.Home != "":
		address = filepath.Join(o.Home, address[2:])
	}
	return filepath.Join(address, filepath.FromSlash(prefix)), nil
}
