package transcript

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// discard is a Store that keeps lists only.
type discard struct{ *memory }

func (d discard) Put(r io.Reader) (oid.ID, int64, error) {
	n, err := io.Copy(io.Discard, r)
	if err != nil || n < 1<<20 {
		return oid.ID{1}, n, err
	}
	return oid.ID{2}, n, nil
}

// A capture and an index hold windows of a file, never its lines: 64 MiB in
// lines of 16 MiB cost less than 8 MiB of allocations.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MiB")
	}
	s := newSession(t, Claude, t.TempDir())
	s.Store = discard{newMemory()}
	f, err := os.Create(s.file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 4 {
		io.WriteString(f, `{"type":"user","uuid":"u","parentUuid":null,"toolUseResult":{"stdout":"`)
		io.WriteString(f, strings.Repeat("0123456789abcdef", 1<<20))
		io.WriteString(f, "\"}}\n")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := s.run()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 || got.Added < 64<<20 || got.Leaf != "u" {
		t.Errorf("%d bytes allocated to capture %d, leaf %q", used, got.Added, got.Leaf)
	}
}
