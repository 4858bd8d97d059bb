package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// prompt N TEXT: what an agent does at its session's N-th prompt, in the session
// $S with the transcript $F: its hook runs, then it writes the prompt and its
// answer. TEXT is the inside of a JSON string.
func cmdPrompt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: prompt N TEXT")
	}
	n, text := args[0], args[1]
	file, session := ts.Getenv("F"), ts.Getenv("S")
	payload := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"transcript_path":%q,"cwd":%q,"prompt_id":"p%s","prompt":"%s"}`,
		session, file, ts.MkAbs("."), n, text)
	name := ts.MkAbs("../payload.json")
	ts.Check(os.WriteFile(name, []byte(payload), 0o600))
	hookOf(ts, "claude", name)
	old, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("%v", err)
	}
	parent := "null"
	var last struct {
		UUID string `json:"uuid"`
	}
	for _, line := range bytes.Split(bytes.TrimSpace(old), []byte("\n")) {
		if json.Unmarshal(line, &last) == nil && last.UUID != "" { // a title has none
			parent = `"` + last.UUID + `"`
		}
	}
	var out strings.Builder
	for i, role := range []string{"user", "assistant"} {
		id := fmt.Sprintf("00000000-0000-4000-8000-%06s%06d", n, i)
		said := text
		if role == "assistant" {
			said = "an answer"
		}
		fmt.Fprintf(&out, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":"%s"},"uuid":%q,"timestamp":%q,"promptId":"p%s","cwd":%q,"sessionId":%q,"version":"2.1.329"}`+"\n",
			parent, role, role, said, id, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n, ts.MkAbs("."), session)
		parent = `"` + id + `"`
	}
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, append(old, out.String()...), 0o600))
}

// cmdTypes plays a line that the person types into the agent; the hook's answer is the stdout.
func cmdTypes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: types TEXT")
	}
	payload, err := json.Marshal(map[string]string{
		"hook_event_name": "UserPromptSubmit", "session_id": ts.Getenv("S"), "transcript_path": ts.Getenv("F"), "cwd": ts.MkAbs("."),
		"prompt_id": "typed", "prompt": strings.ReplaceAll(args[0], `\n`, "\n"), "source": ts.Getenv("SOURCE"),
	})
	ts.Check(err)
	name := ts.MkAbs("../typed.json")
	ts.Check(os.WriteFile(name, payload, 0o600))
	hookOf(ts, cmp.Or(ts.Getenv("AGENT"), "claude"), name)
}

// event NAME [MEMBER=VALUE…]: the agent's hook runs for the session $S with the
// transcript $F.
func cmdEvent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: event NAME [MEMBER=VALUE…]")
	}
	payload := map[string]string{
		"hook_event_name": args[0], "session_id": ts.Getenv("S"), "transcript_path": ts.Getenv("F"), "cwd": ts.MkAbs("."),
	}
	for _, word := range args[1:] {
		name, value, _ := strings.Cut(word, "=")
		payload[name] = value
	}
	data, err := json.Marshal(payload)
	ts.Check(err)
	name := ts.MkAbs("../payload.json")
	ts.Check(os.WriteFile(name, data, 0o600))
	hookOf(ts, cmp.Or(ts.Getenv("AGENT"), "claude"), name)
}
