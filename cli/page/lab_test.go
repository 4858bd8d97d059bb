package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
)

// The program, which imports this package: main_test.go sets it.
var (
	commandLine func(ctx context.Context, args []string, env account.Env, stdio app.Stdio) int
	program     func(args []string, env account.Env, stdio app.Stdio) int
)

// SetProgram gives the tests the program.
func SetProgram(run func(ctx context.Context, args []string, env account.Env, stdio app.Stdio) int, main func(args []string, env account.Env, stdio app.Stdio) int) {
	commandLine, program = run, main
}

// lab is an account with projects, and a client of its page: no browser.
type lab struct {
	t     *testing.T
	env   account.Env // in the first project
	base  string      // of the page
	token string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a project is for Unix")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, env: account.Env{Home: filepath.Join(base, "home"), Getenv: func(key string) string {
		if key == "PATH" {
			return os.Getenv(key)
		}
		return ""
	}}}
	l.write(filepath.Join(base, "home", ".rewind", "config.json"), `{"durability": "fast"}`)
	if err := os.Chmod(filepath.Join(base, "home", ".rewind"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.env = l.project("one")
	return l
}

// project makes one beside the others.
func (l *lab) project(name string) account.Env {
	l.t.Helper()
	env := l.env
	env.Dir = filepath.Join(filepath.Dir(env.Home), name)
	l.write(filepath.Join(env.Dir, "a.txt"), name+"\n")
	l.run(env, "init")
	l.run(env, "save", "first of "+name)
	return env
}

func (l *lab) write(file, text string) {
	l.t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) run(env account.Env, args ...string) string {
	l.t.Helper()
	var out, errOut bytes.Buffer
	if code := commandLine(context.Background(), args, env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &errOut}); code != 0 {
		l.t.Fatalf("rewind %v: %d\n%s%s", args, code, &out, &errOut)
	}
	return out.String()
}

// hook is an agent's call.
func (l *lab) hook(agent string, payload []byte) {
	l.t.Helper()
	env := l.env
	env.Getenv = func(key string) string {
		if key == "COPILOT_CLI" && agent == "copilot" {
			return "1"
		}
		return l.env.Getenv(key)
	}
	var out, errOut bytes.Buffer
	if code := program([]string{"rewind", "hook", agent}, env, app.Stdio{In: bytes.NewReader(payload), Out: &out, Err: &errOut}); code != 0 || errOut.Len() > 0 {
		l.t.Fatalf("%s: %d %s%s", payload, code, &out, &errOut)
	}
}

// running is one rewind ui.
type running struct {
	PageView
	stop  func()
	ended chan int
	said  *bytes.Buffer // stderr, once it has ended
}

// ui runs rewind ui --no-open until the test ends.
func (l *lab) ui(env account.Env, flags ...string) *running {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &running{ended: make(chan int, 1), said: new(bytes.Buffer)}
	read, write := io.Pipe()
	var over sync.WaitGroup
	over.Go(func() {
		code := commandLine(ctx, append([]string{"ui", "--no-open", "--json"}, flags...), env, app.Stdio{In: strings.NewReader(""), Out: write, Err: r.said})
		write.Close()
		r.ended <- code
	})
	r.stop = sync.OnceFunc(func() { stop(); over.Wait() })
	l.t.Cleanup(r.stop)
	if err := json.NewDecoder(read).Decode(&r.PageView); err != nil {
		l.t.Fatal(err, <-r.ended, r.said)
	}
	go io.Copy(io.Discard, read)
	return r
}

// logIn takes the page of an address, and gives the place that it leads to.
func (l *lab) logIn(address string) (place string) {
	l.t.Helper()
	at, code, ok := strings.Cut(address, "#code=")
	host := strings.Index(at, "/p/")
	if !ok || host < 0 {
		l.t.Fatal("no address of a page: ", address)
	}
	l.base, l.token = at[:host], ""
	var v struct{ Token string }
	if code := l.ask("POST", "/api/v1/login", map[string]string{"code": code}, &v); code != 200 || v.Token == "" {
		l.t.Fatalf("%s does not log in: %d", address, code)
	}
	l.token = v.Token
	return at[host:]
}

// ask gives the status, and the answer into to.
func (l *lab) ask(method, path string, body, to any) int {
	l.t.Helper()
	r := l.request(method, path, body)
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		l.t.Fatal(method, path, err)
	}
	return r.StatusCode
}

// download gives an answer that is a file.
func (l *lab) download(path string, to io.Writer) error {
	l.t.Helper()
	r := l.request("GET", path, nil)
	defer r.Body.Close()
	_, err := io.Copy(to, r.Body)
	return err
}

func (l *lab) request(method, path string, body any) *http.Response {
	l.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	q, err := http.NewRequest(method, l.base+path, bytes.NewReader(data))
	if err != nil {
		l.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(q)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

type says struct{ Error, Hint string }

// fails holds an answer to a status, and to a message and a hint that have these words.
func (l *lab) fails(method, path string, body any, want int, message, hint string) {
	l.t.Helper()
	var v says
	if got := l.ask(method, path, body, &v); got != want || !strings.Contains(v.Error, message) || v.Error == "" || !strings.Contains(v.Hint, hint) {
		l.t.Errorf("%s %s: %d %+v, want %d %q %q", method, path, got, v, want, message, hint)
	}
}

func (l *lab) get(path string, to any) {
	l.t.Helper()
	var raw json.RawMessage
	if code := l.ask("GET", path, nil, &raw); code != 200 {
		l.t.Fatalf("%s: %d %s", path, code, raw)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		l.t.Fatal(path, err)
	}
}

func (l *lab) rows(place string) []rowView {
	l.t.Helper()
	var v timelineView
	l.get("/api/v1"+place+"/timeline", &v)
	return v.Rows
}

func (l *lab) projects() (names []string) {
	l.t.Helper()
	var v struct {
		Projects []struct{ ID, Name, Root string }
	}
	l.get("/api/v1/projects", &v)
	for _, p := range v.Projects {
		names = append(names, p.Name)
	}
	return names
}

func (l *lab) rename(from, to string) {
	l.t.Helper()
	if err := os.Rename(from, to); err != nil {
		l.t.Fatal(err)
	}
}

// events watches a project: what it gives waits for the next line that has a word.
func (l *lab) events(place string) func(word string) string {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l.t.Cleanup(stop)
	q, err := http.NewRequestWithContext(ctx, "GET", l.base+"/api/v1"+place+"/events", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		l.t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer r.Body.Close()
		defer close(lines)
		for s := bufio.NewScanner(r.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return func(word string) string {
		l.t.Helper()
		for over := time.After(20 * time.Second); ; {
			select {
			case line, ok := <-lines:
				if strings.Contains(line, word) {
					return line
				}
				if !ok {
					l.t.Fatal("the news ended before ", word)
				}
			case <-over:
				l.t.Fatal("no news of ", word)
			}
		}
	}
}
