package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"
)

// TestCoarseTimes plays the racy loop on a file system that counts whole seconds:
// an ext2 with the small inodes of its first years.
func TestCoarseTimes(t *testing.T) {
	base := scratchfs.Mounted(t, 8<<20, "noatime", "mkfs.ext2", "-q", "-I", "128")
	both(t, func(t *testing.T, p *project) {
		p.dir = filepath.Join(base, filepath.Base(t.Name()))
		p.sink.root = p.dir + "/"
		p.do(os.Mkdir(p.dir, 0o755))
		p.write("dir/file", "---")
		before, err := os.Stat(p.path("dir/file"))
		p.do(err)
		if before.ModTime().Nanosecond() != 0 {
			t.Fatal("this file system knows nanoseconds")
		}
		for i := range 100 {
			text := fmt.Sprintf("%03d", i)
			p.write("dir/file", text)
			p.do(os.Chtimes(p.path("dir/file"), time.Time{}, before.ModTime()))
			r := p.scan()
			if got := p.sink.tree(t, r.Root)["dir/file"]; got != fmt.Sprintf("file 644 %q", text) {
				t.Fatalf("round %d: %s", i, got)
			}
		}
		// Two seconds and a tick later it is trusted.
		for range 2 {
			o := p.options(true)
			o.Start = o.Start.Add(coarseGrain + time.Second)
			p.sink.reads = nil
			r, err := Run(t.Context(), o)
			p.do(err)
			p.do(r.Publish(p.cache, Stamp{1}, nil))
		}
		if len(p.sink.reads) != 0 {
			t.Fatalf("read %q", p.sink.reads)
		}
	})
}
