package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
)

// What is told of long work never goes past its total, never goes back, and of an
// export ends with the total.
func TestProgressKeepsToItsTotals(t *testing.T) {
	l := newLab(t)
	random := rand.NewChaCha8([32]byte{1})
	for i := range 30 {
		data := make([]byte, 60<<10)
		random.Read(data)
		l.Write(fmt.Sprintf("a/b/c/d%d/f%d", i%5, i), string(data))
	}
	large := make([]byte, 9<<20) // in chunks
	random.Read(large)
	l.Write("a/large", string(large))
	l.Init()
	for i := range 3 {
		l.Write("a/small", fmt.Sprint(i))
		l.Save()
	}
	units := map[string]int{}
	var last project.ProgressInfo
	o := l.Options()
	o.Progress = func(now project.ProgressInfo) {
		if now.Phase+now.Unit == last.Phase+last.Unit && (now.Files < last.Files || now.Bytes < last.Bytes) {
			t.Errorf("%+v after %+v", now, last)
		}
		if now.TotalFiles > 0 && now.Files > now.TotalFiles || now.TotalBytes > 0 && now.Bytes > now.TotalBytes {
			t.Errorf("past the total: %+v", now)
		}
		last = now
		units[now.Phase+" "+now.Unit]++
	}
	run := func(what string, call func(ctx context.Context, p *project.Project) error) project.ProgressInfo {
		t.Helper()
		last = project.ProgressInfo{}
		p, err := project.Open(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := call(context.Background(), p); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return last
	}
	for _, paths := range [][]string{nil, {"a/b"}, {"a/large"}, {"*.none", "a/small"}} {
		var out bytes.Buffer
		end := run("export", func(ctx context.Context, p *project.Project) error {
			c, err := inspect.Resolve(ctx, p, "last")
			if err != nil {
				return err
			}
			return port.Export(ctx, p, io.Writer(&out), port.ExportOptions{Checkpoint: c.Checkpoint, Format: "tar", Paths: paths})
		})
		if end.Files != end.TotalFiles || end.Bytes != end.TotalBytes || end.Files == 0 {
			t.Errorf("export %v ends with %+v", paths, end)
		}
		if end.Bytes > int64(out.Len()) {
			t.Errorf("export %v: %d bytes of content in an archive of %d", paths, end.Bytes, out.Len())
		}
	}
	for _, readData := range []bool{false, true} {
		end := run("verify", func(ctx context.Context, p *project.Project) error {
			_, err := maintain.Verify(ctx, p, readData)
			return err
		})
		if end.Unit != "checkpoint" || end.TotalFiles != 4 {
			t.Errorf("verify ends with %+v", end)
		}
	}
	end := run("gc", func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
		return err
	})
	if end.Phase != "gc" || end.Bytes != end.TotalBytes || end.Bytes == 0 {
		t.Errorf("gc ends with %+v", end)
	}
	for _, unit := range []string{"export ", "verify pack", "verify checkpoint", "gc checkpoint", "gc "} {
		if units[unit] == 0 {
			t.Errorf("nothing was told of %q: %v", unit, units)
		}
	}
}
