package jsonscan

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What a stream's reading forgives, and what it says of the rest; byte by byte it is the same.
func TestStream(t *testing.T) {
	for _, c := range []struct {
		data, want string
		err        error
	}{
		{"{\n \"a\" : \"b\" ,\r\n\"c\":\"d\"}\n", "a=b c=d", nil},
		{`{"a":"b",}`, "a=b", nil},
		{`{"x":NaN,"y":[Infinity,-1e5],"a":"b"}`, "a=b", nil},
		{`{"` + strings.Repeat("k", 100) + `":"v"}`, strings.Repeat("k", 100) + "=v", nil},
		{`{"a":"b"`, "a=b", io.ErrUnexpectedEOF},
		{`{"a":"b","c":"d`, "a=b", io.ErrUnexpectedEOF},
		{`{"a":"b" "c":"d"}`, "a=b", ErrSyntax},
		{`{"a":"\u00zz","c":"d"}`, "", ErrSyntax},
		{`{"a":[1,]}`, "", ErrSyntax},
		{`[1]`, "", nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.data), iotest.OneByteReader(strings.NewReader(c.data))} {
			s := Stream(r)
			var got []string
			s.Inside(func(key []byte) {
				name := string(key)
				if v, ok := s.Text(1 << 20); ok {
					got = append(got, name+"="+v.Kept)
				}
			})
			if text := strings.Join(got, " "); text != c.want || s.Err() != c.err {
				t.Errorf("%s: %q, %v; want %q, %v", c.data, text, s.Err(), c.want, c.err)
			}
		}
	}
	s := Stream(io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(io.ErrClosedPipe)))
	if s.Inside(func([]byte) { s.Skip() }); s.Err() != io.ErrClosedPipe {
		t.Error(s.Err())
	}
}

// A text is what encoding/json reads, cut after the limit and not inside a character, and its
// characters are counted to the end.
func TestStreamText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, "\n", "é", "😀", "u00e4"}))
		want := strings.ToValidUTF8(strings.Join(rapid.SliceOf(piece).Draw(t, "text"), ""), "\ufffd")
		js, _ := json.Marshal(want)
		if rapid.Bool().Draw(t, "ascii") {
			js = []byte(strings.ReplaceAll(string(js), "😀", `\ud83d\ude00`))
		}
		limit := rapid.IntRange(0, 200).Draw(t, "limit")
		s := Stream(strings.NewReader(string(js)))
		s.buf = make([]byte, rapid.IntRange(1, 64).Draw(t, "window"))
		got, ok := s.Text(limit)
		if !ok || s.Err() != nil || got.Chars != utf8.RuneCountInString(want) || !utf8.ValidString(got.Kept) || !strings.HasPrefix(want, got.Kept) {
			t.Fatalf("%s with limit %d: %+v, %v", js, limit, got, s.Err())
		}
		if !got.Truncated && got.Kept != want || len(got.Kept) > limit {
			t.Fatalf("%s with limit %d: %+v", js, limit, got)
		}
	})
}
