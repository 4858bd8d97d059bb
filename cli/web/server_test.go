package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fakeSource has one project, "p", that answers everything.
type fakeSource struct{ space *fakeSpace }

func (s fakeSource) Projects(context.Context) ([]Project, error) {
	return []Project{{ID: "p", Name: "p", Root: "/p"}}, nil
}

func (s fakeSource) Space(_ context.Context, id string) (Space, error) {
	if id != "p" {
		return nil, noProject{}
	}
	return s.space, nil
}

type noProject struct{}

func (noProject) Error() string { return "there is no such project" }
func (noProject) Status() int   { return http.StatusNotFound }
func (noProject) Hint() string  { return "" }

type fakeSpace struct {
	news    chan string
	stream  func(io.Writer) error // nil: a line
	apply   func()
	changed any
	err     error
}

type teapot struct{}

func (teapot) Error() string { return "no" }
func (teapot) Status() int   { return http.StatusTeapot }
func (teapot) Hint() string  { return "tea" }

func (s *fakeSpace) Start(context.Context) (any, error) { return nil, s.err }
func (s *fakeSpace) Looked() string                     { return "" }
func (s *fakeSpace) News(context.Context) (string, error) {
	select {
	case n := <-s.news:
		s.news <- n
		return n, nil
	default:
		return "0", nil
	}
}
func (s *fakeSpace) Ask(_ context.Context, what string, args Args) (any, error) {
	return map[string]string{"what": what, "id": args("id")}, s.err
}
func (s *fakeSpace) Stream(_ context.Context, _ string, _ Args, out io.Writer) error {
	if s.stream != nil {
		return s.stream(out)
	}
	_, err := io.WriteString(out, "{}\n")
	return errors.Join(err, s.err)
}
func (s *fakeSpace) Plan(context.Context, json.RawMessage) (any, error) { return "plan", s.err }
func (s *fakeSpace) Apply(context.Context, string) (any, any, error) {
	if s.apply != nil {
		s.apply()
	}
	return "done", s.changed, s.err
}
func (s *fakeSpace) Raw(_ context.Context, args Args) (*Raw, error) {
	const text = "<script>alert(1)</script>"
	return &Raw{args("path"), uint64(len(text)), io.NopCloser(strings.NewReader(text))}, s.err
}
func (s *fakeSpace) Mark(context.Context, json.RawMessage) (any, error) { return "marked", s.err }

type lab struct {
	t     *testing.T
	s     *Server
	space *fakeSpace
	clock time.Time
	token string
}

func newLab(t *testing.T, readOnly bool) *lab {
	l := &lab{t: t, space: &fakeSpace{news: make(chan string, 1)}, clock: time.Unix(1e9, 0)}
	l.s = New(Options{Source: fakeSource{l.space}, ReadOnly: readOnly, Now: func() time.Time { return l.clock }})
	l.token = l.logIn(l.code())
	if l.token == "" {
		t.Fatal("no token")
	}
	return l
}

func (l *lab) code() string {
	_, code, ok := strings.Cut(l.s.Link(""), "#code=")
	if !ok || len(code) < 20 {
		l.t.Fatalf("a link without a code: %s", l.s.Link(""))
	}
	return code
}

func (l *lab) logIn(code string) string {
	r := l.do("POST", "/api/v1/login", func(r *http.Request) { r.Header.Del("Authorization") }, `{"code":"`+code+`"}`)
	var v struct{ Token string }
	_ = json.Unmarshal(r.Body.Bytes(), &v)
	return v.Token
}

func (l *lab) do(method, path string, change func(*http.Request), body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:1234"
	r.Header.Set("Authorization", "Bearer "+l.token)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	l.s.handler().ServeHTTP(w, r)
	return w
}

// Every address, by every method, from everywhere: who is not logged in, or was sent by another site, gets nothing.
func TestWhoGetsThrough(t *testing.T) {
	l := newLab(t, false)
	reads := []string{"/api/v1/projects", "/api/v1/p/p/search", "/api/v1/p/p/raw", "/api/v1/p/p/export"}
	for _, what := range questions {
		reads = append(reads, "/api/v1/p/p/"+what)
	}
	writes := []string{"/api/v1/p/p/plans", "/api/v1/p/p/plans/1/apply", "/api/v1/p/p/marks"}
	for _, from := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"the page", nil, 200},
		{"ssh -L at another port", func(r *http.Request) { r.Host = "localhost:9999" }, 200},
		{"IPv6", func(r *http.Request) { r.Host = "[::1]:9999" }, 200},
		{"the page, as browsers say it", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			r.Header.Set("Origin", "http://127.0.0.1:1234")
		}, 200},
		{"without a token", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"a wrong token", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		{"the token as a cookie", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "token", Value: l.token})
		}, 401},
		{"a name that was pointed here", func(r *http.Request) { r.Host = "evil.example:1234" }, 421},
		{"an address of the network", func(r *http.Request) { r.Host = "192.168.0.2:1234" }, 421},
		{"no host", func(r *http.Request) { r.Host = "" }, 421},
		{"another site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"another port's page", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
	} {
		for _, path := range reads {
			if w := l.do("GET", path, from.change, ""); w.Code != from.want {
				t.Errorf("GET %s from %s: %d, want %d", path, from.name, w.Code, from.want)
			}
			if w := l.do("POST", path, from.change, ""); w.Code < 400 {
				t.Errorf("POST %s from %s: %d", path, from.name, w.Code)
			}
		}
		for _, path := range writes {
			if w := l.do("POST", path, from.change, "{}"); w.Code != from.want {
				t.Errorf("POST %s from %s: %d, want %d", path, from.name, w.Code, from.want)
			}
			if w := l.do("GET", path, from.change, ""); w.Code < 400 {
				t.Errorf("GET %s from %s: %d", path, from.name, w.Code)
			}
		}
	}
	foreign := func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }
	for _, path := range writes {
		if w := l.do("POST", path, foreign, "{}"); w.Code != 403 {
			t.Errorf("POST %s from another origin: %d", path, w.Code)
		}
	}
}

// A code is good once, and for a minute; what is made up is none.
func TestLogin(t *testing.T) {
	l := newLab(t, false)
	code := l.code()
	if l.logIn(code) == "" || l.logIn(code) != "" {
		t.Error("a code can be used twice, or not once")
	}
	code = l.code()
	l.clock = l.clock.Add(codeTime + time.Second)
	if l.logIn(code) != "" {
		t.Error("an old code")
	}
	for _, body := range []string{"", "{}", `{"code":""}`, `{"code":"` + strings.Repeat("A", 26) + `"}`, "[1"} {
		w := l.do("POST", "/api/v1/login", nil, body)
		if w.Code != 401 && w.Code != 400 {
			t.Errorf("%q: %d", body, w.Code)
		}
	}
	for range maxTokens {
		l.logIn(l.code())
	}
	if w := l.do("GET", "/api/v1/projects", nil, ""); w.Code != 401 {
		t.Errorf("the oldest of too many tokens: %d", w.Code)
	}
}

func TestAnswers(t *testing.T) {
	l := newLab(t, false)
	for _, c := range []struct {
		method, path, body string
		code               int
		says               string
	}{
		{"GET", "/api/v1/p/p/look?id=x", "", 200, `"id":"x"`},
		{"GET", "/api/v1/p/other/look?id=x", "", 404, "no such project"},
		{"GET", "/api/v1/p/p/%2e%2e", "", 404, "no such address"},
		{"GET", "/api/v1/nothing", "", 404, "no such address"},
		{"POST", "/api/v1/p/p/plans", `"` + strings.Repeat("x", maxBody) + `"`, 200, ""},
		{"POST", "/api/v1/p/p/plans", strings.Repeat("x", maxPlan+1), 413, "too long"},
		{"POST", "/api/v1/p/p/marks", strings.Repeat("x", maxBody+1), 413, "too long"},
		{"POST", "/api/v1/login", strings.Repeat("x", maxBody+1), 413, "too long"},
		{"GET", "/", "", 200, "<!doctype html>"},
		{"GET", "/p/anything/at/all", "", 200, "<!doctype html>"},
		{"GET", "/app.js", "", 200, ""},
		{"GET", "/server.go", "", 200, "<!doctype html>"},
		{"POST", "/", "", 405, ""},
		{"GET", "/vendor/x.js", "", 404, ""},
	} {
		w := l.do(c.method, c.path, nil, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %.200s", c.method, c.path, w.Code, w.Body)
		}
		allowed := policy
		if strings.HasPrefix(w.Body.String(), "<!doctype html>") {
			// Its style stands within, by its sum, and by nothing else.
			_, style, _ := strings.Cut(w.Body.String(), "<style>")
			style, _, _ = strings.Cut(style, "</style>")
			allowed = strings.Replace(policy, "style-src 'self'", "style-src 'self' '"+sourceSum([]byte(style))+"'", 1)
			_, begin, _ := strings.Cut(w.Body.String(), "<script>")
			begin, _, _ = strings.Cut(begin, "</script>")
			allowed = strings.Replace(allowed, "script-src 'self'", "script-src 'self' '"+sourceSum([]byte(begin))+"'", 1)
			if begin == "" || style == "" || strings.Contains(w.Body.String(), "app.css") {
				t.Errorf("%s: without its style", c.path)
			}
		}
		for name, want := range map[string]string{"Content-Security-Policy": allowed, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store", "Access-Control-Allow-Origin": ""} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", c.path, name, got)
			}
		}
	}
	l.space.err = teapot{}
	if w := l.do("GET", "/api/v1/p/p/look", nil, ""); w.Code != http.StatusTeapot || !strings.Contains(w.Body.String(), `"hint":"tea"`) {
		t.Errorf("a failure: %d %s", w.Code, w.Body)
	}
	l.space.err, l.space.changed = nil, "other plan"
	if w := l.do("POST", "/api/v1/p/p/plans/1/apply", nil, ""); w.Code != 409 || !strings.Contains(w.Body.String(), "other plan") {
		t.Errorf("a plan that changed: %d %s", w.Code, w.Body)
	}
	r := newLab(t, true)
	for _, path := range []string{"/api/v1/p/p/plans", "/api/v1/p/p/plans/1/apply", "/api/v1/p/p/marks"} {
		if w := r.do("POST", path, nil, "{}"); w.Code != 403 {
			t.Errorf("--read-only: POST %s: %d", path, w.Code)
		}
	}
}

// News come while somebody looks; the server ends with its context, or when nobody has looked for long, and
// leaves nothing running.
func TestServe(t *testing.T) {
	before := runtime.NumGoroutine()
	space := &fakeSpace{news: make(chan string, 1)}
	s := New(Options{Source: fakeSource{space}, Idle: 300 * time.Millisecond})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	base := "http://" + l.Addr().String()
	_, code, _ := strings.Cut(s.Link(""), "#code=")
	client := &http.Client{Transport: &http.Transport{}}
	r, err := client.Post(base+"/api/v1/login", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Token string }
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	q, _ := http.NewRequest("GET", base+"/api/v1/p/p/events", nil)
	q.Header.Set("Authorization", "Bearer "+v.Token)
	if r, err = client.Do(q); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(r.Body)
	for i := range 3 {
		var e map[string]string
		if err := lines.Decode(&e); err != nil || e["news"] != fmt.Sprint(i) {
			t.Fatalf("news %d: %v %v", i, e, err)
		}
		if i > 0 {
			<-space.news
		}
		space.news <- fmt.Sprint(i + 1)
	}
	time.Sleep(500 * time.Millisecond)
	select {
	case err := <-ended:
		t.Fatal("ended while somebody looks:", err)
	default:
	}
	r.Body.Close()
	client.CloseIdleConnections()
	if err := <-ended; err != nil {
		t.Error("ended by itself:", err)
	}
	stop()
	for i := 0; runtime.NumGoroutine() > before && i < 100; i++ {
		time.Sleep(20 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left", n-before)
	}
}
