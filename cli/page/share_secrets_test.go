package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forms are a secret of each form that is known, by the beginning of its rule in secretForms, and the part of it that must not
// be shared.
var forms = map[string][2]string{
	`-----BEGIN`:               {"-----BEGIN RSA PRIVATE KEY-----\nMIIkeyLINEone\nMIIkeyLINEtwo\n-----END RSA PRIVATE KEY-----", "MIIkeyLINE"},
	`AKIA`:                     {"AKIAQWERTYUIOPASDFGH", ""},
	`ASIA`:                     {"ASIAQWERTYUIOPASDFGH", ""},
	`gh[pousr]_`:               {"ghs_" + strings.Repeat("aB3", 12), ""},
	`github_pat_`:              {"github_pat_" + strings.Repeat("aB3_", 11), ""},
	`glpat-`:                   {"glpat-" + strings.Repeat("aB3-", 6), ""},
	`\bsk-(?:ant`:              {"sk-ant-" + strings.Repeat("Xy9", 8), ""},
	`\bsk-[A`:                  {"sk-" + strings.Repeat("Xy9k", 9), ""},
	`[rs]k_live_`:              {"rk_live_" + strings.Repeat("Xy9k", 5), ""},
	`xox[`:                     {"xoxb-" + strings.Repeat("12ab-", 4), ""},
	`AIza`:                     {"AIza" + strings.Repeat("Zy8xW", 7), ""},
	`npm_`:                     {"npm_" + strings.Repeat("Zy8xWv", 6), ""},
	`pypi-`:                    {"pypi-" + strings.Repeat("Zy8xW", 11), ""},
	`hf_`:                      {"hf_" + strings.Repeat("Zy8xW", 7), ""},
	`SG\.`:                     {"SG." + strings.Repeat("Zy8x", 5) + "." + strings.Repeat("Wv7u", 5), ""},
	`AGE-SECRET-KEY-1`:         {"AGE-SECRET-KEY-1" + strings.Repeat("Q9W8E", 11), ""},
	`eyJ`:                      {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl", ""},
	`://`:                      {"https://alice:pa55phrase@git.example/x.git", "pa55phrase"},
	`[Bb]earer`:                {"Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz012345"},
	`(?i:aws_secret`:           {"AWS_SECRET_ACCESS_KEY=" + strings.Repeat("wJal", 10), strings.Repeat("wJal", 10)},
	`dop_v1_`:                  {"dop_v1_" + strings.Repeat("0a1b", 12), ""},
	`hooks\.slack`:             {"https://hooks.slack.com/services/T0A1B2C3D/B0A1B2C3D/Zy8xWv7uTs6r", "Zy8xWv7uTs6r"},
	`AccountKey=`:              {"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1", "Eby8vdM02xNOcqFlqUwJ"},
	`\b\d{8,10}:AA`:            {"123456789:AAH" + strings.Repeat("aBcD", 8), ""},
	`(?i:password`:             {"password: opens-each-door-7", "opens-each-door-7"},
	"setting":                  {"ACME-4711-INTERNAL", ""},           // what the setting redact names
	"value":                    {"correct-horse-battery", ""},        // of a precious file
	"value, in quotes":         {`he mumbled "open" äöü`, "mumbled"}, // and as JSON writes it
	"value of another key":     {"letmein-please-now", ""},
	"file of a name, its text": {"-kept-in-a-pem-file-9", ""},
}

// In the page of a session that is shared is nothing that the rules know, wherever it was: in prompts, answers, calls, what they
// answered, files, names and diffs; and no directory of this machine, and nothing with which a page that is served is opened.
func TestSharedPageHasNoSecret(t *testing.T) {
	for _, form := range secretForms {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(forms)), func(begin string) bool { return strings.HasPrefix(form, begin) })
		if !known {
			t.Errorf("no secret of the form %s is tried", form)
		}
	}
	l := newLab(t)
	l.run(l.env, "config", "redact", `ACME-\d+-INTERNAL`)
	l.write(filepath.Join(l.env.Dir, ".env"), "A="+forms["value"][0]+"\nB='"+forms["value, in quotes"][0]+"'\nexport C="+forms["value of another key"][0]+"\nPIN=4711\n")
	l.write(filepath.Join(l.env.Dir, "conf", "server.pem"), forms["file of a name, its text"][0]+"\n")
	place := l.logIn(l.ui(l.env).URL) // with a token, and a code
	const session = "5ba1c0de-0000-4000-8000-000000000001"
	file := filepath.Join(l.env.Home, ".claude", "projects", "p", session+".jsonl")
	names := slices.Sorted(maps.Keys(forms))
	var lines []string
	say := func(role string, content any) {
		var parent any
		if len(lines) > 0 {
			parent = fmt.Sprint("e", len(lines))
		}
		id := fmt.Sprint("e", len(lines)+1)
		line, err := json.Marshal(map[string]any{"parentUuid": parent, "type": role, "uuid": id, "sessionId": session, "cwd": l.env.Dir, "promptId": "p", "timestamp": "2026-11-30T10:00:00Z", "message": map[string]any{"role": role, "id": "m" + id, "content": content}})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
		l.write(file, strings.Join(lines, "\n")+"\n")
	}
	hook := func(event string, more map[string]any) {
		e := map[string]any{"hook_event_name": event, "session_id": session, "transcript_path": file, "cwd": l.env.Dir, "prompt_id": "p"}
		maps.Copy(e, more)
		payload, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		l.hook("claude", payload)
	}
	all := "in " + l.env.Dir + "/a.txt and " + l.env.Home + "/notes\n"
	for _, name := range names {
		all += name + " is " + forms[name][0] + " there\n"
	}
	hook("UserPromptSubmit", map[string]any{"prompt": all})
	say("user", all)
	for i, name := range names { // each by itself, too: in a prompt, a call and its name, an answer, a file, and what is replaced and removed
		secret, call := forms[name][0], fmt.Sprint("toolu_", i)
		text := map[string]any{"command": "echo '" + secret + "' > " + l.env.Dir + "/out.txt", "file_path": l.env.Dir + "/src/f.txt"}
		say("assistant", []any{map[string]any{"type": "text", "text": "I use " + secret + "."}, map[string]any{"type": "thinking", "thinking": secret}, map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": text}})
		hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": call, "tool_input": text})
		l.write(filepath.Join(l.env.Dir, "src", "f.txt"), "x\n\t\""+secret+"\"\ny\n"+strings.ReplaceAll(secret, `"`, `\"`)+"\n")
		l.write(filepath.Join(l.env.Dir, fmt.Sprint("coded", i, ".txt")), base64.StdEncoding.EncodeToString([]byte(".env:\nA="+forms["value"][0]+"\n"))+"\n")
		hook("PostToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": call, "tool_input": text})
		say("user", []any{map[string]any{"type": "tool_result", "tool_use_id": call, "is_error": i%2 == 0, "content": []any{map[string]any{"type": "text", "text": "answer " + secret}}}})
	}
	hook("Stop", nil)

	export := filepath.Join(l.env.Home, "session.html")
	l.run(l.env, "ui", "--export-html", export, "-q")
	shared, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	var served strings.Builder // the same by the page itself
	if err := l.download("/api/v1"+place+"/export?session="+session, &served); err != nil {
		t.Fatal(err)
	}
	for from, page := range map[string]string{"ui --export-html": string(shared), "the page": served.String()} {
		held := page + unpacked(t, page)
		if !strings.Contains(held, redactedMark) || !strings.Contains(held, "src/f.txt") {
			t.Fatalf("%s: nothing is in it", from)
		}
		for _, name := range names {
			kept := forms[name][1]
			if kept == "" {
				kept = forms[name][0]
			}
			if at := strings.Index(held, kept); at >= 0 {
				t.Errorf("%s: %s: …%q…", from, name, held[max(0, at-80):at+len(kept)])
			}
		}
		for what, text := range map[string]string{"the project's directory": l.env.Dir, "home": l.env.Home, "the directory of both": filepath.Dir(l.env.Home), "the token": l.token, "the address of the page": l.base, "the value that is short": "PIN=4711"} {
			if at := strings.Index(held, text); at >= 0 {
				t.Errorf("%s: %s: …%q…", from, what, held[max(0, at-80):at+len(text)])
			}
		}
	}
}
