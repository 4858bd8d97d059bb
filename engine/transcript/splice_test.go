package transcript

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestSplice(t *testing.T) {
	edits := []edit{{key: "sessionId", value: []byte(`"new"`), add: true}, {key: "timestamp", value: []byte(`"now"`)}}
	for _, c := range [][2]string{
		{`{}`, `{"sessionId":"new"}`},
		{`{"a":1.50e-1}`, `{"a":1.50e-1,"sessionId":"new"}`},
		{`{"sessionId":"old"}`, `{"sessionId":"new"}`},
		{`{"sessionId" : "old" , "timestamp":null}`, `{"sessionId" : "new" , "timestamp":"now"}`},
		{`{"x":{"sessionId":"old"},"y":["sessionId",{"timestamp":"t"}],"sessionId":{"a":"}"}} `, `{"x":{"sessionId":"old"},"y":["sessionId",{"timestamp":"t"}],"sessionId":"new"} `},
		{`{"sessionId":"a","b":"\"sessionId\":\"a\"","sessionId":"c"}`, `{"sessionId":"new","b":"\"sessionId\":\"a\"","sessionId":"new"}`},
		{`{"session\u0049d":"a"}`, `{"session\u0049d":"new"}`},
	} {
		got, err := splice(nil, []byte(c[0]), edits...)
		if err != nil || string(got) != c[1] {
			t.Errorf("%s: %s %v, want %s", c[0], got, err, c[1])
		}
	}
	deep := edit{in: "a/b", key: "c", value: []byte(`1`)}
	for _, c := range [][2]string{
		{`{"a":{"b":{"c":0,"d":{"c":0}},"c":0},"c":0}`, `{"a":{"b":{"c":1,"d":{"c":0}},"c":0},"c":0}`}, {`{"a":{"b":[{"c":0}]}}`, `{"a":{"b":[{"c":0}]}}`}, {`{"a":"b"}`, `{"a":"b"}`}, {`{"b":{"c":0}}`, `{"b":{"c":0}}`},
	} {
		if got, err := splice(nil, []byte(c[0]), deep); err != nil || string(got) != c[1] {
			t.Errorf("%s: %s %v, want %s", c[0], got, err, c[1])
		}
	}
	for _, bad := range []string{``, `[]`, `{`, `{"a"}`, `{"a":1}}`, `null`} {
		if _, err := splice(nil, []byte(bad), edits...); err == nil {
			t.Errorf("%q was edited", bad)
		}
	}
}

func FuzzSplice(f *testing.F) {
	f.Add([]byte(`{"a":1,"sessionId":"x","b":{"sessionId":"y"}}`), "new")
	f.Fuzz(func(t *testing.T, line []byte, id string) {
		got, err := splice(nil, line, edit{key: "sessionId", value: quote(id), add: true})
		if err != nil || !json.Valid(line) {
			return
		}
		var was, is map[string]json.RawMessage
		if json.Unmarshal(line, &was) != nil || was == nil {
			return
		}
		if err := json.Unmarshal(got, &is); err != nil {
			t.Fatalf("%q became %q: %v", line, got, err)
		}
		if string(is["sessionId"]) != string(quote(id)) {
			t.Fatalf("%q became %q", line, got)
		}
		delete(is, "sessionId")
		delete(was, "sessionId")
		if len(is) != len(was) {
			t.Fatalf("%q became %q", line, got)
		}
		for k, v := range was {
			if !bytes.Equal(v, is[k]) {
				t.Fatalf("%q: member %q became %q", line, k, is[k])
			}
		}
	})
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/srv/p": "/srv/p", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a\nb": "'a\nb'", "--resume": "--resume", "ä": "'ä'", "~": "'~'",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
