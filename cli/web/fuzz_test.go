package web

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Whatever a request says: who is not logged in gets the files of the page and nothing else, no answer can be
// taken for a document but the page itself, and nothing fails.
func FuzzRequest(f *testing.F) {
	for _, target := range []string{"/", "/app.js", "/p/p", "/dist/app.js", "//evil.example/x", "/../../etc/passwd", "/%2e%2e/%00", "/api/v1/projects", "/api/v1/p/p/look?id=@&other=%ff",
		"/api/v1/p/p/raw?path=../../x", "/api/v1/p/../p/timeline", "/api/v1/p/%2e%2e/timeline", "/api/v1/p/p%2ftimeline/timeline", "/api/v1/p//timeline", "/API/v1/projects",
		"/api/v1/p/p/plans/%2f/apply", "http://evil.example/api/v1/projects", "*", "/api/v1/p/p/file?id=1&id=2&path=;"} {
		for _, head := range []string{"Host: localhost", "Host: [::1]:1\r\nOrigin: null", "Host: evil.example", "Host: 127.0.0.1:1\r\nSec-Fetch-Site: cross-site"} {
			f.Add("GET", target, head, false, "")
			f.Add("POST", target, head, true, `{"code":"x"}`)
		}
	}
	f.Add("HEAD", "/api/v1/p/p/timeline", "Host: localhost\r\nAuthorization: Bearer ", false, "")
	f.Add("OPTIONS", "/api/v1/p/p/marks", "Host: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST", false, "")
	token, files := "", map[string]bool{}
	space := &fakeSpace{news: make(chan string, 1)}
	s := New(Options{Source: fakeSource{space}})
	{
		_, code, _ := strings.Cut(s.Link(""), "#code=")
		token, _ = s.login.exchange(code)
		packed, err := dist.ReadDir("dist")
		for _, f := range packed {
			data, ferr := file(strings.TrimSuffix(f.Name(), ".gz"))
			err = errors.Join(err, ferr)
			files[string(data)] = true
		}
		files[string(styled().page)] = true
		if err != nil || len(files) < 3 {
			f.Fatal(len(files), err)
		}
	}
	f.Fuzz(func(t *testing.T, method, target, head string, loggedIn bool, body string) {
		if strings.Contains(target+head, token) {
			t.Skip()
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + target + " HTTP/1.1\r\n" + head + "\r\n\r\n")))
		if err != nil {
			t.Skip("no request")
		}
		r.Body = http.NoBody
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(nil, readCloser{strings.NewReader(body)}, 1<<20)
		}
		if loggedIn {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Millisecond) // or news go on
		defer stop()
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, r.WithContext(ctx))
		kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		isFile := files[w.Body.String()]
		switch {
		case w.Code >= 500:
			t.Errorf("%d %s", w.Code, w.Body)
		case w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Access-Control-Allow-Origin") != "":
			t.Errorf("headers: %v", w.Header())
		case w.Code >= 300: // nothing is told but why, and where the same is at a clean path
		case !loopback(r.Host):
			t.Errorf("%q is answered", r.Host)
		case r.Method == http.MethodHead:
		case kind == "text/html" || kind == "text/javascript" || kind == "text/css":
			if !isFile {
				t.Errorf("no file of the page: %s %.300s", kind, w.Body)
			}
		case !loggedIn:
			t.Errorf("who is not logged in gets %s %.300s", kind, w.Body)
		case kind != "application/json" && kind != "application/x-ndjson" && kind != "application/octet-stream":
			t.Errorf("%q", kind)
		}
		if location := w.Header().Get("Location"); location != "" && (!strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") || strings.HasPrefix(location, `/\`)) {
			t.Errorf("it leads to %q", location)
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
