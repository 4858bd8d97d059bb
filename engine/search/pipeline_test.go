package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// world is a timeline over objects in memory.
type world struct {
	*timeline
	objects map[oid.ID][]byte
	known   map[oid.ID]uint32
}

func newWorld(states int) *world {
	w := &world{timeline: &timeline{contents: make([]content, 1), first: []int{0}}, objects: map[oid.ID][]byte{}, known: map[oid.ID]uint32{}}
	for i := range states {
		w.states = append(w.states, state{seq: uint64(i + 1)})
	}
	return w
}

// file adds a path with a content for each state, "" for its absence.
func (w *world) file(path string, contents ...string) {
	w.paths = append(w.paths, path)
	w.precious = append(w.precious, strings.HasPrefix(path, ".env"))
	last := uint32(0)
	for i, text := range contents {
		n := uint32(0)
		if text != "" {
			n = w.put(manifest.File, []byte(text))
		}
		if n != last {
			w.versions = append(w.versions, version{uint32(i), n})
		}
		last = n
	}
	w.first = append(w.first, len(w.versions))
}

func (w *world) put(kind manifest.Kind, data []byte) uint32 {
	id := oid.Sum(data)
	w.objects[id] = data
	if w.known[id] == 0 {
		w.known[id] = uint32(len(w.contents))
		w.contents = append(w.contents, content{id: id, size: uint64(len(data)), kind: kind})
	}
	return w.known[id]
}

func (w *world) get(id oid.ID) ([]byte, error) {
	if data, ok := w.objects[id]; ok {
		return data, nil
	}
	return nil, &cas.NotFoundError{ID: id}
}

func (w *world) search(t *testing.T, ctx context.Context, pattern string, visit func(Span) error) (*Summary, error) {
	t.Helper()
	m, err := Compile(Query{Patterns: []string{pattern}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	sum := &Summary{}
	r := &runner{ctx: ctx, t: w.timeline, m: m, sum: sum, visit: visit, get: func(content) source { return w.get },
		listed: func(n uint32) (*project.Listed, error) {
			if int(n) >= len(w.states) {
				return nil, nil
			}
			return &project.Listed{Checkpoint: manifest.Checkpoint{Seq: w.states[n].seq}}, nil
		}}
	err = r.run()
	cancel()
	r.workers.Wait()
	sum.Problems = w.problems
	return sum, err
}

func (w *world) spans(t *testing.T, pattern string) (string, *Summary) {
	t.Helper()
	var out []string
	sum, err := w.search(t, t.Context(), pattern, func(s Span) error {
		from, to := "now", "…"
		if s.Appeared != nil {
			from = fmt.Sprint(s.Appeared.Seq)
		}
		switch {
		case s.Vanished != nil:
			to = fmt.Sprint(s.Vanished.Seq)
		case !s.Now:
			to = "now"
		}
		out = append(out, fmt.Sprintf("%s:%d:%s %s-%s", s.Path, s.Line, s.Text, from, to))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", "), sum
}

// TestSpans: lines come, go, come again, move within their file, and are told of by themselves.
func TestSpans(t *testing.T) {
	w := newWorld(4)
	w.file(".env", "secret x", "secret x")
	w.file("a", "x", "y\nx", "y", "x\n", "x\n")
	w.file("b", "", "x", "", "", "x2")
	w.file("c", "x", "x", "", "", "")
	w.file("d", "x\nx\n", "x")
	w.file("e", "none")
	got, sum := w.spans(t, "x")
	want := ".env:1: 1-…, a:1:x 1-3, a:1:x 4-…, b:1:x 2-3, b:1:x2 now-…, c:1:x 1-3, d:1:x 1-…"
	if got != want || sum.Spans != 7 {
		t.Errorf("%s\nwant %s; %+v", got, want, sum)
	}
}

// TestDamagedContent: a content that cannot be read is told of, and says nothing of its lines: they
// have neither come nor gone.
func TestDamagedContent(t *testing.T) {
	w := newWorld(4)
	w.file("a", "x", "x\nlost", "x")
	w.file("b", "x")
	delete(w.objects, oid.Sum([]byte("x\nlost")))
	got, sum := w.spans(t, "x")
	if got != "a:1:x 1-…, b:1:x 1-…" || len(sum.Problems) != 1 || sum.Problems[0].Path != "a" || sum.Problems[0].Seq != 2 {
		t.Errorf("%s; %+v", got, sum)
	}
}

// chunked makes the only content of a path of chunks.
func (w *world) chunked(path string, chunks ...[]byte) {
	var list cas.List
	for _, c := range chunks {
		id := oid.Sum(c)
		w.objects[id] = c
		list.Chunks = append(list.Chunks, cas.Chunk{ID: id, Size: uint32(len(c))})
		list.Size += int64(len(c))
	}
	data := list.Append(nil)
	w.paths, w.precious = append(w.paths, path), append(w.precious, false)
	w.versions = append(w.versions, version{0, w.put(manifest.Chunked, data)})
	w.first = append(w.first, len(w.versions))
}

// TestChunks: a match may lie across the border of two chunks, of a line that spans many too.
func TestChunks(t *testing.T) {
	w := newWorld(1)
	long := bytes.Repeat([]byte("-"), 1<<20)
	w.chunked("a", []byte("one\nnee"), []byte("dle 1\ntwo\nneedle 2"), []byte("!\nneedle 3"))
	w.chunked("b", []byte("\x00needle"), []byte("needle\n"))
	chunks := [][]byte{}
	for range 12 {
		chunks = append(chunks, long)
	}
	w.chunked("c", append(chunks, []byte("need"), []byte("le"), long, []byte("\nneedle 4\n"))...)
	var got []string
	_, err := w.search(t, t.Context(), "needle", func(s Span) error {
		got = append(got, fmt.Sprintf("%s:%d %v %d", s.Path, s.Line, s.Clipped, len(s.Text)))
		if s.Text[s.Start:s.End] != "needle" {
			t.Errorf("%s:%d: the match is %q", s.Path, s.Line, s.Text[s.Start:s.End])
		}
		return nil
	})
	want := "[a:2 false 8 a:4 false 9 a:5 false 8 c:1 true 4096 c:2 false 8]"
	if fmt.Sprint(got) != want || err != nil {
		t.Errorf("%v, want %s; %v", got, want, err)
	}
}

// TestBounded: with more lines than are kept, contents that several paths have are searched again, and
// nobody waits for ever.
func TestBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // it holds much, and make test collects garbage seldom
	w := newWorld(2)
	texts, long := make([]string, 6), strings.Repeat("a line that is long, so that few of them are too many; ", 18)
	for i := range texts {
		var b strings.Builder
		b.Grow(20 << 20)
		for n := range 18_000 {
			fmt.Fprintf(&b, "%d %d %s\n", i, n, long)
		}
		texts[i] = b.String()
	}
	for i, text := range texts {
		w.file(fmt.Sprintf("a%02d", i), text, text)
	}
	for i, text := range texts {
		w.file(fmt.Sprintf("b%02d", i), text, text)
	}
	n := 0
	sum, err := w.search(t, t.Context(), "", func(Span) error { n++; return nil })
	if err != nil || n < 12*14_000 || len(sum.Clipped) != 12 {
		t.Errorf("%d spans, clipped %d, %v", n, len(sum.Clipped), err)
	}
}

// TestEndsEarly: an error of the visitor ends a search, and so does its context.
func TestEndsEarly(t *testing.T) {
	w := newWorld(1)
	for i := range 2000 {
		w.file(fmt.Sprintf("f%04d", i), fmt.Sprintf("x %d", i))
	}
	enough := errors.New("enough")
	n := 0
	if _, err := w.search(t, t.Context(), "x", func(Span) error {
		if n++; n == 10 {
			return enough
		}
		return nil
	}); err != enough || n != 10 {
		t.Errorf("%v after %d", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.search(t, ctx, "x", func(Span) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
