//go:build unix

package bucket_test

import (
	"testing"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// TestBelow: a part of a bucket is a bucket of its own, and what is put beside it by the name of the whole is not lost.
func TestBelow(t *testing.T) {
	each(t, func(t *testing.T, b bucket.Bucket) {
		put(t, b, "w/other", "other")
		part := bucket.Below(b, "s/0123456789abcdef")
		put(t, part, "rewind.json", "{}")
		put(t, part, "w/a/1", "one")
		put(t, b, "s/0123456789abcdef/share", "note")
		holds(t, part, "w/a/1", "one")
		holds(t, b, "s/0123456789abcdef/share", "note")
		if got := names(t, part, "w/"); got != "w/a/1=3" {
			t.Errorf("a listing of the part: %q", got)
		}
		if err := part.Delete(t.Context(), "w/a/1"); err != nil {
			t.Fatal(err)
		}
		if got := names(t, part, "w/"); got != "" {
			t.Errorf("what was deleted is listed: %q", got)
		}
		holds(t, b, "w/other", "other")
	})
}

func TestAddressBelow(t *testing.T) {
	env := map[string]string{"AWS_ENDPOINT_URL_S3": "https://s3.here", "AWS_REGION": "auto"}
	for _, c := range []struct{ address, want string }{
		{"s3://b/p?profile=mine&style=path", "s3://b/p/s/1?endpoint=https%3A%2F%2Fs3.here&region=auto&style=path"},
		{"s3://b?endpoint=http%3A%2F%2Fx&region=eu", "s3://b/s/1?endpoint=http%3A%2F%2Fx&region=eu"},
		{"git:https://me:secret@host/r.git", "git:https://host/r.git#s/1"},
		{"git:https://host/r.git#p", "git:https://host/r.git#p/s/1"},
		{"/mnt/nas/p", "/mnt/nas/p/s/1"},
		{"file:///mnt/nas/p", "file:///mnt/nas/p/s/1"},
		{"~/nas", "/home/me/nas/s/1"},
	} {
		got, err := bucket.AddressBelow(c.address, "s/1", bucket.Options{Home: "/home/me", Getenv: func(name string) string { return env[name] }})
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; it should be %s", c.address, got, err, c.want)
		}
	}
}
