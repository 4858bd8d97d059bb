package bucket_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

// TestLimit: what is put and got takes as long as the limit says, on a server and in a directory, and comes whole.
func TestLimit(t *testing.T) {
	s := s3server.New(t)
	body := bytes.Repeat([]byte("0123456789abcdef"), 6<<10) // 96 KiB
	for _, address := range []string{"s3://backup/x", t.TempDir()} {
		b, err := bucket.Open(address, bucket.Options{Getenv: s.Env(), Limit: 400 << 10})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := b.Put(t.Context(), "a", body); err != nil {
			t.Fatal(err)
		}
		got, err := b.Get(t.Context(), "a", 1<<20)
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: %d bytes, %v", address, len(got), err)
		}
		// 192 KiB, of which 16 go at once.
		if d := time.Since(begin); d < 430*time.Millisecond {
			t.Errorf("%s: 192 KiB at 400 KiB a second took %v", address, d)
		}
	}
}
