package ignore_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

const redactedWord = "hunter2"

// mark writes over the word, as forget does.
func mark(b []byte) (n int) {
	for {
		i := bytes.Index(b, []byte(redactedWord))
		if i < 0 {
			return n
		}
		copy(b[i:], "[forgotten]"[:len(redactedWord)])
		n++
	}
}

func TestRedact(t *testing.T) {
	r := compile(t, ignore.Config{
		Ignore: []string{"a-hunter2.key", "!keep-hunter2", "plain"}, ForceInclude: []string{"hunter2.env", ".env"}, Precious: []string{"x/hunter2/*.db"},
		Exclude: []ignore.Source{{Name: "/home/hunter2/excludes", Text: []byte("\xef\xbb\xbf# hunter2\r\n*.o\n!hunter2.o\n[ab]/hunter2\n/dir/a-hunter2-b-hunter2/x?/\n")}},
	}, nil)
	got, changed, err := r.Redact(mark)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	again, err := ignore.Decode(got.Encode())
	if err != nil || !bytes.Equal(again.Encode(), got.Encode()) {
		t.Errorf("what was redacted cannot be read: %v", err)
	}
	if text := string(got.Encode()); strings.Contains(text, redactedWord) {
		t.Errorf("%q", text)
	}
	for _, want := range []string{"a-*.key", "plain", "x/*/*.db", "#\r\n*.o\n*\n/dir/a-*/x?/\n", ".env"} {
		if !strings.Contains(string(got.Encode()), want) {
			t.Errorf("%q has no %q", got.Encode(), want)
		}
	}
	if same, changed, err := got.Redact(mark); changed || err != nil || same != got {
		t.Errorf("a second time it changes again: %v", err)
	}
}

// TestRedactedLeavesOutAsMuch: what the rules left out, those without a word leave out, too.
func TestRedactedLeavesOutAsMuch(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	parts := []string{"hunter2", "a", "b", "*", "?", "/", "**", "!", "#", `\`, "[ab]", "[!h]", ".x", " ", "hunter", "2"}
	names := []string{"hunter2", "a", "b", "ahunter2", "hunter2.x", "a.x", "#hunter2", "!hunter2", "h", "ab"}
	text := func() (s string) {
		for range 1 + rnd.IntN(5) {
			s += parts[rnd.IntN(len(parts))]
		}
		return s
	}
	lines := func() (list []string) {
		for range rnd.IntN(4) {
			list = append(list, text())
		}
		return list
	}
	left := 0
	for range 20000 {
		c := ignore.Config{
			Ignore: lines(), ForceInclude: lines(), Precious: lines(), CaptureIgnored: []string{"none", "precious"}[rnd.IntN(2)],
			Exclude: []ignore.Source{{Name: "e", Text: []byte(strings.Join(lines(), "\n")), Below: []string{"", "hunter2/a/", "b/"}[rnd.IntN(3)]}, {Name: "f", Text: []byte(text() + "\r\n")}},
		}
		if rnd.IntN(4) == 0 {
			c.StorePath, c.AccountPath, c.SessionPaths = "a/hunter2", "hunter2/b", []string{"b/hunter2*", "b/a"}
		}
		r := compile(t, c, nil)
		redacted, changed, err := r.Redact(mark)
		if err != nil {
			t.Fatal(err)
		}
		if !changed {
			continue
		}
		if bytes.Contains(redacted.Encode(), []byte(redactedWord)) {
			t.Fatalf("%+v: %q", c, redacted.Encode())
		}
		for range 6 {
			var way []string
			for range 1 + rnd.IntN(3) {
				way = append(way, names[rnd.IntN(len(names))])
			}
			path, dir := strings.Join(way, "/"), rnd.IntN(2) == 0
			was, by := r.Decide(path, dir, func(string) []byte { return nil })
			is, now := redacted.Decide(path, dir, func(string) []byte { return nil })
			if was == ignore.Skip {
				left++
			}
			careful := []ignore.Decision{ignore.Skip, ignore.Precious, ignore.Marked}
			if slices.Contains(careful, was) && !slices.Contains(careful, is) && is != ignore.Descend {
				t.Fatalf("%q is %v by %q, and %v by %q then: %+v", path, was, by, is, now, c)
			}
		}
	}
	if left == 0 {
		t.Error("nothing was left out")
	}
}
