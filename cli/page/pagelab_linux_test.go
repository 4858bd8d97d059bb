package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/internal/testkit/browser"
)

// pageLab is a project that an agent has worked in, the page of it, and a browser that looks.
type pageLab struct {
	*browser.Browser
	fox  *browser.Firefox // that looks instead
	t    *testing.T
	root string
	env  account.Env
	url  string

	session string
	turns   int    // that were played
	last    string // event of the transcript
}

const pageSession = "5ba1c0de-0000-4000-8000-000000000001"

// newPageLab makes a project with turns of which the third breaks something, serves its page, and opens it.
// Without a browser the test is skipped, unless REWIND_BROWSER=required.
func newPageLab(t *testing.T, flags ...string) *pageLab {
	t.Helper()
	return newPageLabOf(t, []pageTurn{
		{"add a test", "calc_test.go", "package calc\n", "Done 1 <img src=x onerror=alert(1)>."},
		{"make Add faster", "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "Done 2 <img src=x onerror=alert(1)>."},
		{"write a README", "README.md", "# calc\n", "Done 3 <img src=x onerror=alert(1)>."},
	}, flags...)
}

// pageTurn is what a person asked for, the file that the agent wrote, and what it said then.
type pageTurn struct{ prompt, file, text, said string }

func newPageLabOf(t *testing.T, turns []pageTurn, flags ...string) *pageLab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	l := newTurnsLab(t)
	l.play(turns...)
	l.serve(flags...)
	l.look()
	return l
}

// newTurnsLab is a project in which a session has begun, without a page of it.
func newTurnsLab(t *testing.T) *pageLab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &pageLab{t: t, root: filepath.Join(base, "proj"), session: pageSession}
	for _, dir := range []string{l.root, filepath.Join(base, "home", ".rewind")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.env = account.Env{Home: filepath.Join(base, "home"), Dir: l.root, Getenv: func(key string) string {
		if key == "PATH" {
			return os.Getenv(key)
		}
		return ""
	}}
	l.write("../home/.rewind/config.json", `{"durability": "fast"}`)
	l.write("calc.go", "package calc\n\nfunc Add(a, b int) int { return a + b }\n")
	l.rewind("init")
	if err := os.MkdirAll(filepath.Dir(l.transcript()), 0o755); err != nil {
		t.Fatal(err)
	}
	l.hook(map[string]any{"hook_event_name": "SessionStart", "source": "startup", "transcript_path": l.transcript()})
	return l
}

const otherSession = "0dd5e551-0000-4000-8000-000000000002"

// other is the same project for the agent of another session.
func (l *pageLab) other() *pageLab {
	l.t.Helper()
	o := *l
	o.session, o.last, o.turns = otherSession, "", 100
	o.hook(map[string]any{"hook_event_name": "SessionStart", "source": "startup", "transcript_path": o.transcript()})
	return &o
}

// play lets the session's agent do turns. One without a file changes none.
func (l *pageLab) play(turns ...pageTurn) {
	l.t.Helper()
	t, transcript, last := l.t, l.transcript(), l.last
	for _, turn := range turns {
		l.turns++
		n := l.turns
		said := func(id, role, content string) {
			var parent any
			if last != "" {
				parent = last
			}
			line, err := json.Marshal(map[string]any{"parentUuid": parent, "isSidechain": false, "type": role, "uuid": id, "sessionId": l.session, "version": "2.1.329",
				"promptId": fmt.Sprint("prompt-", n), "cwd": l.root, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "message": json.RawMessage(content)})
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				_, err = f.Write(append(line, '\n'))
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			last = id
		}
		event := func(name string, more map[string]any) {
			e := map[string]any{"hook_event_name": name, "transcript_path": transcript, "prompt_id": fmt.Sprint("prompt-", n)}
			for k, v := range more {
				e[k] = v
			}
			l.hook(e)
		}
		event("UserPromptSubmit", map[string]any{"prompt": turn.prompt})
		said(fmt.Sprintf("e%d-1", n), "user", fmt.Sprintf(`{"role":"user","content":%q}`, turn.prompt))
		if turn.file == "" {
			said(fmt.Sprintf("e%d-4", n), "assistant", fmt.Sprintf(`{"role":"assistant","id":"n%d","content":[{"type":"text","text":%q}]}`, n, turn.said))
			event("Stop", nil)
			continue
		}
		call := fmt.Sprint("toolu_", n)
		said(fmt.Sprintf("e%d-2", n), "assistant", fmt.Sprintf(`{"role":"assistant","id":"m%d","content":[{"type":"tool_use","id":%q,"name":"Write","input":{"file_path":%q}}]}`, n, call, turn.file))
		event("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": call, "tool_input": map[string]any{"file_path": filepath.Join(l.root, turn.file), "content": turn.text}})
		l.write(turn.file, turn.text)
		event("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": call, "tool_input": map[string]any{"file_path": filepath.Join(l.root, turn.file), "content": turn.text}})
		said(fmt.Sprintf("e%d-3", n), "user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"written"}]}`, call))
		said(fmt.Sprintf("e%d-4", n), "assistant", fmt.Sprintf(`{"role":"assistant","id":"n%d","content":[{"type":"text","text":%q}]}`, n, turn.said))
		event("Stop", nil)
	}
	l.last = last
}

// look opens the page in the browser.
func (l *pageLab) look() {
	l.t.Helper()
	t, err := l.t, error(nil)
	if l.Browser, err = sharedBrowser(); errors.Is(err, browser.ErrMissing) && os.Getenv("REWIND_BROWSER") != "required" {
		t.Skip("NOT TESTED HERE: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	l.ok(l.Fresh(1280, 800))
	l.ok(l.Go(l.url))
	l.until(`document.querySelectorAll(".row").length >= 3`)
}

// sharedBrowser is one for all tests, which come one after the other. It ends with the process.
var sharedBrowser = sync.OnceValues(func() (*browser.Browser, error) {
	profile, err := os.MkdirTemp("", "rewind-browser-")
	if err != nil {
		return nil, err
	}
	b, err := browser.Start(profile, 1280, 800)
	if b == nil {
		err = errors.Join(err, os.RemoveAll(profile))
	}
	return b, err
})

func (l *pageLab) ok(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err, l.Logged())
	}
}

func (l *pageLab) write(name, text string) {
	l.t.Helper()
	err := os.MkdirAll(filepath.Dir(filepath.Join(l.root, name)), 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(l.root, name), []byte(text), 0o644)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *pageLab) read(name string) string {
	data, err := os.ReadFile(filepath.Join(l.root, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (l *pageLab) rewind(args ...string) string {
	l.t.Helper()
	var out, errOut bytes.Buffer
	if code := commandLine(context.Background(), args, l.env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut}); code != 0 {
		l.t.Fatalf("rewind %v: %d\n%s%s", args, code, &out, &errOut)
	}
	return out.String()
}

func (l *pageLab) hook(event map[string]any) {
	l.t.Helper()
	event["cwd"] = l.root
	if event["session_id"] == nil {
		event["session_id"] = l.session
	}
	data, err := json.Marshal(event)
	if err != nil {
		l.t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	if code := program([]string{"rewind", "hook", "claude"}, l.env, app.Stdio{In: bytes.NewReader(data), Out: &out, Err: &errOut}); code != 0 {
		l.t.Fatalf("hook: %d %s", code, &errOut)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // on a busy machine a hook leaves its save to a process
		if _, err := os.Lstat(filepath.Join(l.root, ".agent", "rewind", account.TmpName, "hooks")); err != nil {
			return
		}
		if time.Now().After(until) {
			l.t.Fatalf("%v: its save did not end", event)
		}
	}
}

// serve runs rewind ui until the test ends.
func (l *pageLab) serve(flags ...string) {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	read, write := io.Pipe()
	var ended sync.WaitGroup
	ended.Go(func() {
		code := commandLine(ctx, append([]string{"ui", "--no-open", "--json"}, flags...), l.env, app.Stdio{In: strings.NewReader(""), Out: write, Err: io.Discard})
		write.Close()
		if code != 0 && ctx.Err() == nil {
			l.t.Errorf("ui ended with %d", code)
		}
	})
	l.t.Cleanup(func() { stop(); ended.Wait() })
	var doc struct{ URL string }
	if err := json.NewDecoder(read).Decode(&doc); err != nil {
		l.t.Fatal(err)
	}
	go io.Copy(io.Discard, read)
	l.url = doc.URL
}

func (l *pageLab) until(expression string) {
	l.t.Helper()
	if err := l.Until(expression); err != nil {
		var text string
		_ = l.Eval("document.body.innerText", &text)
		l.picture("failed")
		l.t.Fatalf("%v\n%s\n%v", err, text, l.Logged())
	}
}

// reload loads the page again, once its address has nothing more to give.
func (l *pageLab) reload() {
	l.t.Helper()
	l.until(`sessionStorage.getItem("rewind-token") && !location.hash`)
	l.ok(l.Eval(`(window.old = true, location.reload())`, nil))
	l.until(`!window.old && document.querySelector(".row")`)
}

func (l *pageLab) press(keys ...string) {
	l.t.Helper()
	for _, k := range keys {
		l.ok(l.Key(k))
	}
}

// click clicks the first element that a selector finds, of those with a text.
func (l *pageLab) click(selector, text string) {
	l.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((e) => e.textContent.includes(%q))`, selector, text)
	l.until(find)
	l.ok(l.Eval(find+".click()", nil))
}

// picture keeps what the page looks like in the directory that REWIND_PICTURES names.
func (l *pageLab) picture(name string) {
	dir := os.Getenv("REWIND_PICTURES")
	if dir == "" {
		return
	}
	data, err := l.Picture()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
	if err != nil {
		l.t.Error(err)
	}
}

// clean fails where the page reported an error or a violation, or asked anybody else for something.
func (l *pageLab) clean() {
	l.t.Helper()
	if logged := l.Logged(); len(logged) > 0 {
		l.t.Errorf("the page reported %q", logged)
	}
	if l.fox != nil {
		return
	}
	host := l.url[:strings.Index(l.url, "/p/")]
	for _, url := range l.Asked() {
		if !strings.HasPrefix(url, host) && !strings.HasPrefix(url, "about:") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			l.t.Errorf("the page asked %s", url)
		}
	}
}
