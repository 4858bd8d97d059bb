package hookio

import (
	"fmt"
	"strings"
	"testing"
)

// What would become huge is not made, and what says too much is not kept.
func TestRewriteIsBounded(t *testing.T) {
	decode := func(input string) *Rewrite {
		e := decodeAs(strings.NewReader(`{"hook_event_name":"PostToolUse","cwd":"/p","tool_name":"Edit","tool_input":{"file_path":"/p/a",`+input+`}}`), Claude, "", noEnv)
		return e.Tool.Rewrite
	}
	text := []byte(strings.Repeat("e", 1<<20))
	for _, all := range []string{"true", "false"} {
		r := decode(`"old_string":"e","new_string":"` + strings.Repeat("x", maxEditText) + `","replace_all":` + all)
		if r == nil || r.Explains(text, text) {
			t.Errorf("%s: %v", all, r)
		}
	}
	many := strings.Repeat(`{"old_string":"a","new_string":"b"},`, maxSwaps)
	if decode(`"edits":[`+many+`{"old_string":"a","new_string":"b"}]`) != nil || decode(`"edits":[`+strings.TrimSuffix(many, ",")+`]`) == nil {
		t.Error("many edits")
	}
	long := `{"old_string":"a","new_string":"` + strings.Repeat("x", maxEditText) + `"},`
	if decode(`"edits":[`+strings.TrimSuffix(strings.Repeat(long, 5), ",")+`]`) != nil {
		t.Error("long edits")
	}
}

func TestRewrite(t *testing.T) {
	const text = "one\ntwo\ntwo\nthree\n"
	for _, c := range []struct {
		name, input, after string
		want               string // of Explains; "unknown": the call does not say all
	}{
		{"a swap", `"old_string":"one","new_string":"1"`, "1\ntwo\ntwo\nthree\n", "true"},
		{"and somebody beside it", `"old_string":"one","new_string":"1"`, "1\ntwo\ntwo\nmine\n", "false"},
		{"the first of two", `"old_string":"two","new_string":"2"`, "one\n2\ntwo\nthree\n", "true"},
		{"all of them", `"old_string":"two","new_string":"2","replace_all":true`, "one\n2\n2\nthree\n", "true"},
		{"all of them, unasked", `"old_string":"two","new_string":"2"`, "one\n2\n2\nthree\n", "true"},
		{"one of all", `"old_string":"two","new_string":"2","replace_all":true`, "one\n2\ntwo\nthree\n", "false"},
		{"a text that goes", `"old_string":"one\n","new_string":""`, "two\ntwo\nthree\n", "true"},
		{"several", `"edits":[{"old_string":"one","new_string":"1"},{"old_string":"three","new_string":"3"}]`, "1\ntwo\ntwo\n3\n", "true"},
		{"one after the other", `"edits":[{"old_string":"one","new_string":"1"},{"old_string":"1","new_string":"I"}]`, "I\ntwo\ntwo\nthree\n", "true"},
		{"a whole file", `"content":"all new\n"`, "all new\n", "true"},
		{"a whole file, and a line more", `"content":"all new\n"`, "all new\nmine\n", "false"},
		{"its place is not there", `"old_string":"four","new_string":"4"`, "one\ntwo\ntwo\n4\n", "false"},
		{"ends of lines", `"old_string":"one\ntwo","new_string":"1  \n2"`, "1\r\n2\r\ntwo\r\nthree", "true"},
		{"an insertion", `"insert_line":1,"insert_text":"1"`, "one\n1\ntwo\ntwo\nthree\n", "unknown"},
		{"other names", `"edits":[{"oldText":"one","newText":"1"}]`, "1\ntwo\ntwo\nthree\n", "true"},
		{"names of its own", `"edits":[{"was":"one","becomes":"1"}]`, "1\ntwo\ntwo\nthree\n", "unknown"},
		{"half of it", `"new_string":"1"`, "1\n", "unknown"},
		{"a cell", `"new_source":"1"`, "1\n", "unknown"},
		{"two ways", `"old_string":"one","new_string":"1","content":"x"`, "x\n", "unknown"},
		{"twice", `"old_string":"one","old_string":"two","new_string":"1"`, "1\n", "unknown"},
		{"another file, too", `"old_string":"one","new_string":"1","notebook_path":"/p/b"`, "1\n", "unknown"},
		{"nothing", ``, text, "unknown"},
		{"too long", `"content":"` + strings.Repeat("x", maxEditText+1) + `"`, "x", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, event := range []string{"PostToolUse", "PreToolUse"} {
				input := `"file_path":"/p/a"`
				if c.input != "" {
					input += "," + c.input
				}
				e := decodeAs(strings.NewReader(fmt.Sprintf(`{"hook_event_name":%q,"cwd":"/p","tool_name":"Edit","tool_input":{%s}}`, event, input)), Claude, "", noEnv)
				got := "unknown"
				if e.Tool.Rewrite != nil {
					got = fmt.Sprint(e.Tool.Rewrite.Explains([]byte(text), []byte(c.after)))
				}
				if got != c.want {
					t.Errorf("%s: %s, want %s", event, got, c.want)
				}
			}
		})
	}
}
