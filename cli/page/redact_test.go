package page

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// What is known to be secret goes, in each place where it can stand; what only looks like it stays.
func TestRedactor(t *testing.T) {
	r, err := newRedactor([]string{`ACME-\d+`}, []string{".env", "*.pem", "*.key"})
	if err != nil {
		t.Fatal(err)
	}
	r.marked["conf/prod.env"] = true
	r.learn("# PASSWORD=not this comment\nDB_PASSWORD = 'hunter \\\"two\"\nAPI_URL=https://api.example/v2\nMODE=development\nPORT=8080\nSECRET=abc\nlongwordwithoutdigitsatall\nMIIEvQIBADANBgkqhkiG9w0BAQ\n")
	r.learn("TOKEN=binary-secret\x00")
	r.learned()
	const mark = redactedMark
	for in, want := range map[string]string{
		"nothing at all, development on 8080, abc": "nothing at all, development on 8080, abc",
		"see ACME-42.":                                                     "see " + mark + ".",
		"the url https://api.example/v2!":                                  "the url " + mark + "!",
		"x MIIEvQIBADANBgkqhkiG9w0BAQ y":                                   "x " + mark + " y",
		"ghp_abcdefghijklmnopqrstuvwxyz0123456789":                         mark,
		"sk-" + "ant-" + strings.Repeat("a1", 12):                          mark,
		"task-list-item-checkbox-wrapper-element":                          "task-list-item-checkbox-wrapper-element",
		"git clone https://me:pa55@host/x.git":                             "git clone https" + mark + "host/x.git",
		"http://localhost:8080/@scope":                                     "http://localhost:8080/@scope",
		"Authorization: Bearer abcdefghijklmnopqrstuvwxyz":                 "Authorization: " + mark,
		"-----BEGIN RSA PRIVATE KEY-----\nab\ncd\n":                        mark,
		"a\n-----BEGIN PRIVATE KEY-----\nab\n-----END PRIVATE KEY-----\nb": "a\n" + mark + "\nb",
		"bytes \xff\xfe ACME-1 \xff":                                       "bytes \xff\xfe " + mark + " \xff",
		"binary-secret":                                                    "binary-secret",
	} {
		if got := r.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	patch := "@@ -1 +1,4 @@\n-x\n+-----BEGIN PRIVATE KEY-----\n+ab\n+-----END PRIVATE KEY-----\n y\n"
	if got, want := r.patch(patch), "@@ -1 +1,4 @@\n-x\n+"+mark+"\n+\n+\n y\n"; got != want {
		t.Errorf("patch: %q, want %q", got, want)
	}
	for in, want := range map[string]string{
		"echo ghp_abc…":                "echo " + mark,
		"echo ghp_abc":                 "echo ghp_abc",
		"curl https://api.exam…":       "curl " + mark,
		"curl http://me:…":             "curl http" + mark,
		"cat .env":                     mark,
		"cat ./.env | head":            mark,
		"source '/p/conf/prod.env'":    mark,
		"conf/prod.env":                mark,
		"a.key":                        mark,
		"print(self.key, process.env)": "print(self.key, process.env)",
		"vim main.go":                  "vim main.go",
		"/elsewhere/.env":              mark,
		"cat .env.example README.md …": "cat .env.example README.md …",
	} {
		if got := r.summary(in, "/p"); got != want {
			t.Errorf("summary %q: %q, want %q", in, got, want)
		}
	}
	for input, want := range map[string]bool{
		`{"file_path":"/p/.env","content":"X=1"}`: true, `{"notebook_path":"/p/a.pem"}`: true, `{"path":"x.go"}`: false, `{"path":7}`: false, "": false, "not json": false,
	} {
		if got := r.call("c"+input, input, "", "/p"); got != want || r.calls["c"+input] != want {
			t.Errorf("%s: %v", input, got)
		}
	}
	if _, err := newRedactor([]string{"("}, nil); err == nil {
		t.Error("a pattern that is none")
	}
	if got := r.text(strings.Repeat("a", 1<<18) + "ACME-1"); !strings.HasSuffix(got, "a"+mark) {
		t.Error("a long line")
	}
}

// A value is found in JSON, however its writer spells it.
func TestRedactorJSON(t *testing.T) {
	for _, secret := range []string{`Kj4\"mQ9<pw>&zT7'vbnW2`, "gehäimniß99", "пароль-секрет", "日本語パス", "emoji😀pass1", `a/b\c<"é😀>`} {
		r, err := newRedactor(nil, []string{".env"})
		if err != nil {
			t.Fatal(err)
		}
		r.learn("PW=" + secret + "\n")
		r.learned()
		told, err := json.Marshal(map[string]string{"content": `pw = "` + secret + `"`})
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(told))
		quoted := func(s string) string { // as Python does, but for what is beyond 16 bits
			var out strings.Builder
			for _, c := range s {
				switch {
				case c < 0x80:
					out.WriteRune(c)
				case c < 0x10000:
					fmt.Fprintf(&out, `\u%04x`, c)
				default:
					a, b := utf16.EncodeRune(c)
					fmt.Fprintf(&out, `\u%04x\u%04x`, a, b)
				}
			}
			return out.String()
		}
		for _, in := range []string{secret, string(told), plain, quoted(string(told)), quoted(plain), strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(quoted(plain), "/", `\/`),
			regexp.MustCompile(`\\u[0-9a-f]{4}`).ReplaceAllStringFunc(quoted(plain), func(u string) string { return `\u` + strings.ToUpper(u[2:]) })} {
			if got := r.text(in); !strings.Contains(got, redactedMark) || strings.Contains(got, secret[len(secret)-4:]) {
				t.Errorf("%s: %s", in, got)
			}
		}
	}
}

// Files are told from the project's root on, or from ~; what only begins like them is another.
func TestMachinePlaces(t *testing.T) {
	r, err := newRedactor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.places = newMachinePlaces("/home/alice/proj \"x\"", "/home/alice")
	r.learned()
	for in, want := range map[string]string{
		`/home/alice/proj "x"/src/a.go`:               "src/a.go",
		`{"file_path":"/home/alice/proj \"x\"/a.go"}`: `{"file_path":"a.go"}`,
		`cd /home/alice/proj "x" && ls`:               "cd . && ls",
		`/home/alice/proj "x"-old/a`:                  `~/proj "x"-old/a`,
		"/home/alice/.ssh/config":                     "~/.ssh/config",
		"file:///home/alice/a":                        "file://~/a",
		"/home/alice":                                 "~",
		"in /home/alice.":                             "in ~.",
		"/home/alice2/a /home/alice-b":                "/home/alice2/a /home/alice-b",
		"/mnt/home/alice/a":                           "/mnt~/a",
		"~/.claude/projects/-home-alice-other/x":      "~/.claude/projects/-~-other/x",
		"/home/alice/a:/home/alice/b":                 "~/a:~/b",
		"/home/alice/\xff\xfe\n/home/alice/b":         "~/\xff\xfe\n~/b",
	} {
		if got := r.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := r.summary("ls /home/ali…", "/home/alice/p"); got != "ls ~…" {
		t.Errorf("cut: %q", got)
	}
	r.places = newMachinePlaces("/", "/root")
	for in, want := range map[string]string{"/root/a": "~/a", "https://host/root/a": "https://host/root/a", "/": "/", "/etc": "/etc"} {
		if got := r.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if r.count > 0 {
		t.Errorf("%d places count as secrets", r.count)
	}
}

// A value that is too short to be looked for goes beside its name, and is counted.
func TestRedactorShortValues(t *testing.T) {
	r, err := newRedactor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.learn("PIN=4711\nexport K='abc'\nMODE=debug\nOK=true\nEMPTY=\nSEP=-\nLONG=long-enough\n")
	r.learned()
	if got := r.text("PIN=4711 and K='abc', but 4711 and abc"); got != redactedMark+" and "+redactedMark+", but 4711 and abc" {
		t.Errorf("%q", got)
	}
	if len(r.short) != 2 {
		t.Errorf("%d values are too short: %v", len(r.short), r.short)
	}
}

// What stands in a precious file goes, however it is written there.
func TestRedactorLearns(t *testing.T) {
	r, err := newRedactor(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := "A=correct-horse-battery\nB='single quoted one'\nexport C=letmeinplease\nD=with comment # this\nE=73519264\nF=Passw0rd!\nG={\"k\":\"injson0s\"}\nH=postgres://me:urlpassw@host/db\nI=true\nM=\"first part\nsecond part\"\nN=4711\n"
	r.learn(env)
	r.learn("//registry.example/:_authToken=npmtoken99\n")
	r.learn("{\"list\":[\"inanarray\",\n{\"clientkey\":\"esc\\\"aped1\"}]}")
	r.learn("list:\n  - listitem\n")
	r.learned()
	for _, s := range []string{"correct-horse-battery", "single quoted one", "letmeinplease", "with comment", "73519264", "Passw0rd!", "injson0s", "urlpassw", "first part", "second part", "npmtoken99",
		"inanarray", `esc"aped1`, "listitem", "dop_v1_" + strings.Repeat("0a", 20), "hooks.slack.com/services/T00000000/B00000000/XXXX", "AccountKey=Eby8vdM02xNOcqFlqUwJ", "PASSWORD=plainpassword", "password: plainpassword",
		"123456789:AAH" + strings.Repeat("aB", 16), "aws_secret_access_key = " + strings.Repeat("wJal", 8)} {
		if got := r.text("x " + s + " y"); strings.Contains(got, s) || !strings.Contains(got, redactedMark) {
			t.Errorf("%q: %q", s, got)
		}
	}
	for _, s := range []string{"true", "4711", "clientkey", "a list of things"} {
		if got := r.text(s); got != s {
			t.Errorf("%q: %q", s, got)
		}
	}
	coded := base64.StdEncoding.EncodeToString([]byte(env))
	if got := r.text(coded); strings.Contains(got, coded[:20]) || strings.Contains(got, coded[100:120]) {
		t.Errorf("base64: %q", got)
	}
	for i := range maxValues + 1 {
		r.keep("value" + strconv.Itoa(i))
	}
	if got := r.text("anything"); got != redactedMark {
		t.Errorf("past the bound: %q", got)
	}
}
