//go:build unix

package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

// writers are ways to write a file again and again, each time whole and of one
// letter, so that what was read while it was written can be told.
var writers = map[string]func(file string, text []byte) error{
	"in place": func(file string, text []byte) error {
		return inPlace(file, os.O_WRONLY|os.O_CREATE, text, len(text))
	},
	"in place, by blocks": func(file string, text []byte) error {
		return inPlace(file, os.O_WRONLY|os.O_CREATE, text, 4096)
	},
	"truncated and written": func(file string, text []byte) error {
		return inPlace(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, text, 16<<10)
	},
}

func inPlace(file string, flags int, text []byte, block int) error {
	f, err := os.OpenFile(file, flags, 0o644)
	if err != nil {
		return err
	}
	for len(text) > 0 && err == nil {
		n := min(block, len(text))
		_, err = f.Write(text[:n])
		text = text[n:]
	}
	return errors.Join(err, f.Close())
}

// TestWriterProcess is no test, but what others start: it writes until it is killed.
func TestWriterProcess(t *testing.T) {
	way, file := os.Getenv("SCAN_WRITER"), os.Getenv("SCAN_FILE")
	if way == "" {
		t.Skip("started by other tests")
	}
	size, _ := strconv.Atoi(os.Getenv("SCAN_SIZE"))
	text := make([]byte, size)
	for i := 0; ; i++ {
		for j := range text {
			text[j] = 'a' + byte(i%26)
		}
		if err := writers[way](file, text); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			time.Sleep(time.Duration(i/100%20) * 5 * time.Millisecond) // now and then at rest
		}
	}
}

// start runs this test's program as a writer until the test ends.
func startWriter(t *testing.T, way, file string, size int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestWriterProcess$")
	if _, err := os.Stat(cmd.Path); err != nil {
		t.Skip("needs /proc")
	}
	cmd.Env = append(os.Environ(), "SCAN_WRITER="+way, "SCAN_FILE="+file, "SCAN_SIZE="+strconv.Itoa(size))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(file); err == nil && info.Size() == int64(size) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the writer does not write")
		}
	}
}

// TestNoMixture: of a file that another process writes again and again, a scan
// has one of the versions, or says that it has not.
func TestNoMixture(t *testing.T) {
	scans := 50
	if os.Getenv("REWIND_SOAK") != "" {
		scans = 500
	} else if testing.Short() {
		scans = 15
	}
	for way := range writers {
		for _, size := range []int{8 << 10, 300 << 10, 3 << 20} {
			t.Run(fmt.Sprintf("%s/%d", way, size), func(t *testing.T) {
				p := newProject(t)
				p.sink.blank = true
				startWriter(t, way, p.path("file"), size)
				whole, torn := 0, 0
				scans := scans
				if size > 1<<20 { // each of them waits for the writer
					scans /= 3
				}
				for range scans {
					r := p.scan()
					text := []byte(p.sink.content(t, r.Root, "file"))
					said := len(r.Problems) == 1 && r.Problems[0] == problem.Read("file", "torn", true)
					switch {
					case said:
						torn++
					case len(r.Problems) != 0:
						t.Fatal(r.Problems)
					case len(text) != size || bytes.Count(text, text[:1]) != size:
						t.Fatalf("%d bytes, not of one letter, and nobody is told", len(text))
					default:
						whole++
					}
				}
				t.Logf("%d whole, %d torn", whole, torn)
			})
		}
	}
}

// TestGrowingWithoutEnd: a file that grows as fast as it is read is taken as long as it was, and named.
func TestGrowingWithoutEnd(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("log", strings.Repeat("y\n", 1000))
		p.write("other", "x")
		var opened int64
		p.sink.each = func(r io.Reader) { // before it is read
			c := r.(*content)
			if strings.HasSuffix(c.Path(), "log") {
				opened = c.left
				f, err := os.OpenFile(p.path("log"), os.O_APPEND|os.O_WRONLY, 0)
				p.do(err)
				_, err = f.WriteString(strings.Repeat("y\n", 1000))
				p.do(errors.Join(err, f.Close()))
			}
		}
		r := p.scan()
		p.wantProblems(r, problem.Read("log", "torn", true))
		if n := int64(len(p.sink.content(t, r.Root, "log"))); n != opened {
			t.Fatalf("%d bytes were read of %d", n, opened)
		}
		if n := len(p.sink.reads); n > 2+attempts {
			t.Fatalf("%d files were read: %q", n, p.sink.reads)
		}
	})
}

// TestEndWithinAFile: the end of a scan is seen within a large file.
func TestEndWithinAFile(t *testing.T) {
	p := newProject(t)
	p.do(os.WriteFile(p.path("large"), nil, 0o644))
	p.do(os.Truncate(p.path("large"), 1<<40)) // hours of zeros
	ctx, cancel := context.WithCancel(t.Context())
	o := p.options(false)
	ended := make(chan struct{})
	o.Sink = slowReader{p.sink, cancel, ended}
	done := make(chan error, 1)
	go func() {
		_, err := Run(ctx, o)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it reads on")
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("a worker reads on")
	}
}

// slowReader reads all of a file, and calls begun after the first part.
type slowReader struct {
	*memory
	begun func()
	ended chan struct{}
}

func (r slowReader) Content(_ int, f io.Reader, _ int64, _ oid.ID) (manifest.Kind, oid.ID, int64, error) {
	defer close(r.ended)
	b := make([]byte, 64<<10)
	var n int64
	for {
		k, err := f.Read(b)
		n += int64(k)
		r.begun()
		if err == io.EOF {
			return manifest.File, oid.ID{1}, n, nil
		}
		if err != nil {
			return 0, oid.ID{}, n, err
		}
	}
}

// TestAtRest: which files are read a second time, by their age and by who has them open.
func TestAtRest(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		age    time.Duration
		size   int64
		writer writer
		coarse bool
		ok     bool
	}{
		{time.Minute, 1, someWriter, false, true},
		{-time.Hour, 1, someWriter, false, true}, // a clock that was set back
		{210 * time.Millisecond, 1, someWriter, false, true},
		{150 * time.Millisecond, 1, someWriter, false, false},
		{60 * time.Millisecond, 1, unknownWriter, false, true},
		{40 * time.Millisecond, 1, unknownWriter, false, false},
		{40 * time.Millisecond, 1, noWriter, false, true},
		{5 * time.Millisecond, 1, noWriter, false, false}, // a second write within the tick
		{-5 * time.Millisecond, 1, noWriter, false, false},
		{500 * time.Millisecond, 1 << 30, someWriter, false, false}, // one long write
		{500 * time.Millisecond, 1 << 30, unknownWriter, false, false},
		{500 * time.Millisecond, 1 << 30, noWriter, false, true},
		{20 * time.Millisecond, 1, noWriter, true, false},
		{500 * time.Millisecond, 0, someWriter, false, false}, // emptied, to be filled
		{500 * time.Millisecond, 0, noWriter, false, true},
		{500 * time.Millisecond, 0, unknownWriter, false, true},
	} {
		w := &walk{start: now, began: now}
		at := w.now().Add(-c.age)
		s := stat{mode: modeRegular, size: c.size, ctime: at.Unix(), ctimeNs: int64(at.Nanosecond())}
		if c.coarse {
			for w.now().Nanosecond() < 30e6 {
				w.start = w.start.Add(30 * time.Millisecond)
			}
			s.ctime, s.ctimeNs = w.now().Unix(), 0
			w.start = w.start.Add(-time.Duration(w.now().Nanosecond()) + c.age)
		}
		wait, ok := w.settled(&s, func() writer { return c.writer })
		if ok != c.ok || wait > fineGrain || !ok && wait <= 0 {
			t.Errorf("%+v: %v, %v", c, ok, wait)
		}
	}
}

// TestSecondReading: a file that is open for writing is read until two readings agree,
// and one that does not come to rest is torn. Its status alone would not tell.
func TestSecondReading(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		for name, changes := range map[string]int{"once": 1, "for ever": 1000} {
			p.write("file", "old")
			left := changes
			p.opts.writerOf = func(*os.File) writer { return someWriter }
			p.sink.other = func(_, text string) string { // what the reader saw was half a write
				if left > 0 {
					left--
					return fmt.Sprintf("o%dd", left%10)
				}
				return text
			}
			r := p.scan()
			if changes == 1 {
				p.wantProblems(r)
				p.want(r, map[string]string{"file": `file 644 "old"`})
			} else {
				p.wantProblems(r, problem.Read("file", "torn", true))
			}
			p.sink.other = nil
			if name == "for ever" {
				settle()
				p.want(p.scan(), map[string]string{"file": `file 644 "old"`}) // read again, though its status is the same
			}
		}
	})
}
