//go:build unix

package scan

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/problem"
)

// TestEmptiedAndFilledAgain: a file that its writer has just emptied is looked at once more.
func TestEmptiedAndFilledAgain(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.opts.Workers = 1
		p.write("a", "precious")
		p.write("b", "1")
		p.write("dir/c", "precious")
		settle()
		p.scan()
		p.write("b", "2")
		for _, name := range []string{"a", "dir/c"} {
			p.do(os.Truncate(p.path(name), 0))
		}
		p.sink.during = func(_ *os.File, name string) {
			if name == "dir/c" { // the last one: its writers go on
				p.sink.during = nil
				p.do(os.WriteFile(p.path("a"), []byte("new text"), 0o644))
				p.do(os.Remove(p.path("b"))) // it stays as it was read
			}
		}
		r := p.scan()
		p.want(r, map[string]string{"a": `file 644 "new text"`, "b": `file 644 "2"`, "dir": "dir 755", "dir/c": `file 644 ""`})
		p.wantProblems(r)
		p.check()
	})
}

// TestWritersAtWork scans while files are appended to, replaced, rewritten,
// and while directories are renamed and deleted with all that is in them.
func TestWritersAtWork(t *testing.T) {
	scans := 60
	if testing.Short() {
		scans = 20
	}
	both(t, func(t *testing.T, p *project) {
		still := map[string]string{}
		for i := range 30 {
			name := fmt.Sprintf("still/%02d/file", i)
			p.write(name, name)
			still[name] = fmt.Sprintf("file 644 %q", name)
		}
		// version is a text of which any part can be told from the whole.
		version := func(i int) string { return strings.Repeat(fmt.Sprintf("%06d.", i), 200) + "end" }
		p.write("replaced", version(0))
		p.write("log", "")
		var stop atomic.Bool
		var writers sync.WaitGroup
		edits := make([]int, 4)
		writer := func(n int, edit func(i int)) {
			writers.Go(func() {
				for ; !stop.Load(); edits[n]++ {
					edit(edits[n])
				}
			})
		}
		writer(0, func(i int) { // as editors save
			_ = os.WriteFile(p.path("replaced.new"), []byte(version(i)), 0o644)
			_ = os.Rename(p.path("replaced.new"), p.path("replaced"))
		})
		writer(1, func(i int) { // as logs grow
			if i%1000 == 0 {
				_ = os.Truncate(p.path("log"), 0)
			}
			f, err := os.OpenFile(p.path("log"), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, _ = f.WriteString("a line\n")
				_ = f.Close()
			}
		})
		writer(2, func(i int) { // a directory that moves about
			_ = os.MkdirAll(p.path("here/sub"), 0o755)
			_ = os.WriteFile(p.path("here/sub/file"), []byte(version(i)), 0o644)
			_ = os.Rename(p.path("here"), p.path("there"))
			_ = os.RemoveAll(p.path("there"))
		})
		writer(3, func(i int) { // a tree that a build makes and deletes
			for j := range 10 {
				_ = os.MkdirAll(p.path(fmt.Sprintf("build/%d/%d", j%3, j)), 0o755)
				_ = os.WriteFile(p.path(fmt.Sprintf("build/%d/%d/out", j%3, j)), []byte(version(i)), 0o644)
			}
			_ = os.RemoveAll(p.path("build"))
		})
		torn := 0
		for range scans {
			r := p.scan()
			flagged := map[string]bool{}
			for _, found := range r.Problems {
				flagged[found.Path] = true
				if found.Code == problem.Torn {
					torn++
				}
			}
			got := p.sink.tree(t, r.Root)
			for name, want := range still {
				if got[name] != want {
					t.Fatalf("%s: %q", name, got[name])
				}
			}
			if text := got["replaced"]; !strings.HasSuffix(text, `end"`) && !flagged["replaced"] {
				t.Fatalf("half a file, and nobody is told: %.60q", text)
			}
			// A write that crosses a page can be seen half done, while its status says nothing.
			text, err := strconv.Unquote(strings.TrimPrefix(got["log"], "file 644 "))
			p.do(err)
			if !strings.HasPrefix(strings.Repeat("a line\n", len(text)/7+1), text) && !flagged["log"] {
				t.Fatalf("the log holds %q", text)
			}
		}
		stop.Store(true)
		writers.Wait()
		p.check()
		p.check()
		t.Logf("%d scans beside %v edits, %d times torn", scans, edits, torn)
	})
}

// TestTimesPutBack: an edit of the same size whose mtime was put back is seen by
// the ctime that it leaves, and so is a file that was put in the place of another.
func TestTimesPutBack(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("edited", "one")
		p.write("replaced", "one")
		old := time.Now().Add(-time.Hour)
		for _, name := range []string{"edited", "replaced"} {
			p.do(os.Chtimes(p.path(name), old, old))
		}
		settle()
		p.check()
		p.write("edited", "two")
		p.write("new", "two")
		p.do(os.Rename(p.path("new"), p.path("replaced")))
		for _, name := range []string{"edited", "replaced"} {
			p.do(os.Chtimes(p.path(name), old, old))
		}
		settle()
		p.want(p.check(), map[string]string{"edited": `file 644 "two"`, "replaced": `file 644 "two"`})
	})
}
