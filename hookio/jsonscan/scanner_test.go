package jsonscan

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// flat is what the scanner finds in a line, with the oracle's meaning of it:
// top-level strings, and the strings of the top-level arrays' objects.
type flat map[string]string

func scanFlat(s *Scanner) (flat, bool) {
	out := flat{}
	if s.Peek() != '{' {
		s.Skip()
		return nil, false
	}
	s.Object()
	for {
		key, ok := s.Key()
		if !ok {
			break
		}
		name := string(key)
		if s.Peek() == '"' {
			v, _ := s.Value(1 << 30)
			out[name] = string(v)
			continue
		}
		delete(out, name)
		s.Skip()
	}
	return out, s.Finish()
}

func oracleFlat(line []byte) (flat, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil || m == nil {
		return nil, false
	}
	out := flat{}
	for k, raw := range m {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return nil, false
		}
		if t, ok := v.(string); ok {
			out[k] = t
		}
	}
	return out, true
}

func checkLine(t interface{ Fatalf(string, ...any) }, line []byte, s *Scanner) {
	got, ok := scanFlat(s)
	want, valid := oracleFlat(line)
	if valid && !ok {
		t.Fatalf("valid line refused: %q", line)
	}
	if !valid || !utf8.Valid(line) || bytes.Contains(line, []byte(`\u`)) || bytes.IndexByte(line, 0x7f) >= 0 {
		return
	}
	for k, v := range want {
		if len(k) < maxKey && got[k] != v {
			t.Fatalf("%q: key %q is %q, want %q", line, k, got[k], v)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":"b"}`, `{"a":"b\"c\\","d":[1,-2.5e+7,{"x":[[],{}]}],"e":null,"f":true}`, `{}`, `[]`, `{"a":}`, `{"a":"b",}`,
		`{"a":"\u00e4\ud83d\ude00\ud83d"}`, "{\"a\":\"b\x00\"}", ` { "a" : [ ] , "b" : "c" } `, `{"a":nul}`, `{"a":"b"}{"c":"d"}`,
		`{"m":{"r`, strings.Repeat("[", 200), `{"a":` + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat("}", 51),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') < 0 {
			checkLine(t, line, Line(line))
		}
		// The same through a stream of tiny reads: lines and their offsets.
		s := Lines(iotest.HalfReader(bytes.NewReader(line)))
		var at int64
		for {
			offset, ok := s.Line()
			if offset != at {
				t.Fatalf("line at %d, want %d", offset, at)
			}
			if !ok {
				break
			}
			end := len(line)
			if i := bytes.IndexByte(line[at:], '\n'); i >= 0 {
				end = int(at) + i
			}
			checkLine(t, line[at:end], s)
			next, complete := s.Rest()
			if complete != (end < len(line)) || next != int64(end)+map[bool]int64{true: 1}[complete] {
				t.Fatalf("line at %d: rest %d %v, want the line's end %d", at, next, complete, end)
			}
			at = next
			if !complete {
				break
			}
		}
		if at != int64(len(line)) {
			t.Fatalf("stopped at %d of %d", at, len(line))
		}
	})
}

// A tiny window gives the same as a big one, wherever its borders fall.
func TestScannerWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{`"`, `\`, `a`, `{`, `}`, `[`, `]`, `,`, `:`, "\n", `\n`, `\"`, `\\`, `"k":`, `"v"`, `true`, `null`, `1`, ` `, `ä`, `\u00e4`,
			`{"a":"b\\\"c","d":[1,{"e":"f"}]}`, `{"type":"user"}` + "\n"})
		data := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "data"), "")
		size := rapid.IntRange(1, 40).Draw(t, "window")
		type found struct {
			at    int64
			ok    bool
			flat  string
			whole bool
		}
		run := func(window int) (all []found) {
			s := Lines(strings.NewReader(data))
			s.buf = make([]byte, window)
			for {
				at, ok := s.Line()
				if !ok {
					return all
				}
				m, good := scanFlat(s)
				js, _ := json.Marshal(m)
				if !good {
					js = nil
				}
				_, whole := s.Rest()
				all = append(all, found{at, good, string(js), whole})
			}
		}
		a, b := run(size), run(1<<16)
		if len(a) != len(b) {
			t.Fatalf("%q: %v with a window of %d, %v with a big one", data, a, size, b)
		}
		for i := range a {
			if a[i] != b[i] {
				t.Fatalf("%q: %v with a window of %d, %v with a big one", data, a[i], size, b[i])
			}
		}
	})
}

// Decoded values are those of encoding/json, and a limit never breaks a character.
func TestScannerValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, `\\`, `\"`, "\n", "u00e4", "/"}))
		want := strings.Join(rapid.SliceOf(piece).Draw(t, "text"), "")
		js, _ := json.Marshal(map[string]string{"k": want})
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		s := Lines(bytes.NewReader(append(js, '\n')))
		s.buf = make([]byte, rapid.IntRange(1, 64).Draw(t, "window"))
		s.Line()
		s.Object()
		s.Key()
		got, whole := s.Value(limit)
		clean := strings.ToValidUTF8(want, "�")
		if whole && string(got) != clean || !strings.HasPrefix(clean, string(got)) || !utf8.Valid(got) {
			t.Fatalf("%q with limit %d: %q, whole %v", clean, limit, got, whole)
		}
	})
}

func TestScannerDeep(t *testing.T) {
	for _, depth := range []int{10, maxDepth, maxDepth + 1, 3 * maxDepth} {
		line := `{"a":` + strings.Repeat(`[`, depth-1) + strings.Repeat(`]`, depth-1) + `,"b":"c"}`
		s := Line([]byte(line))
		m, ok := scanFlat(s)
		if want := depth <= maxDepth+1; ok != want || ok && m["b"] != "c" {
			t.Errorf("depth %d: %v %v", depth, m, ok)
		}
	}
}

func TestScannerReadError(t *testing.T) {
	s := Lines(io.MultiReader(strings.NewReader("{\"a\":\"b\"}\n{\"a\""), iotest.ErrReader(io.ErrClosedPipe)))
	for n := 0; ; n++ {
		if _, ok := s.Line(); !ok {
			break
		}
		if _, ok := scanFlat(s); ok != (n == 0) {
			t.Errorf("line %d: %v", n, ok)
		}
	}
	if s.err != io.ErrClosedPipe {
		t.Errorf("error %v", s.err)
	}
}

// A number of 64 bits is read whole.
func TestLongNumber(t *testing.T) {
	for _, number := range []string{"9223372036854775807", "-9223372036854775808", "100000000"} {
		s := Line([]byte(number))
		if got := string(s.Literal()); got != number || !s.Finish() {
			t.Errorf("%s is read as %s", number, got)
		}
	}
}
