package maintain

import (
	"encoding/json"
	"regexp"
	"testing"
)

// TestTextMark: escaped once or more, as a number, across lines of plain text; JSON stays JSON of the same length.
func TestTextMark(t *testing.T) {
	for _, c := range []struct{ pattern, in, want string }{
		{"hunter2hunter2", `{"a":"x hunter2hunter2 y"}`, `{"a":"x [forgotten]*** y"}`},
		{`se"cr\et`, `{"a":"se\"cr\\et"}`, `{"a":"**********"}`},
		{`se"cret`, `{"a":"{\"k\":\"se\\\"cret\"}"}`, `{"a":"{\"k\":\"**********\"}"}`},
		{"pässword/x", `{"a":"p\u00e4ssword\/x"}`, `{"a":"[forgotten]*****"}`},
		{"a<b>c&d", `{"a":"a\u003cb\u003ec\u0026d"}`, `{"a":"[forgotten]***********"}`},
		{"😀😀😀", `{"a":"\ud83d\ude00😀\ud83d\ude00"}`, `{"a":"[forgotten]*****************"}`},
		{"12345678", `{"n":12345678,"m":1}`, `{"n":11111111,"m":1}`},
		{"line one\nline two", "x line one\nline two y\n", "x [forgotten]****** y\n"},
		{"line one\nline two", `{"a":"line one\nline two"}`, `{"a":"[forgotten]*******"}`},
		{"secretkey", `{"secretkey":1}`, `{"*********":1}`},
		{"nothing here", `{"a":"b"}`, `{"a":"b"}`},
		{`":"`, `{"a":"b"}`, `{"a":"b"}`},
	} {
		b := []byte(c.in)
		n := textMark{regexp.MustCompile(regexp.QuoteMeta(c.pattern))}.lines(b)
		if string(b) != c.want || (n > 0) != (c.in != c.want) {
			t.Errorf("%q in %s: %s (%d), want %s", c.pattern, c.in, b, n, c.want)
		}
		if json.Valid([]byte(c.in)) != json.Valid(b) {
			t.Errorf("%s is no JSON any more", b)
		}
	}
}
