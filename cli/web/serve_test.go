package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// live is a server on a port of its own, and a client that is logged in.
type live struct {
	t     *testing.T
	s     *Server
	space *fakeSpace
	base  string
	token string
	stop  func()
	ended chan error
}

func newLive(t *testing.T, idle time.Duration) *live {
	t.Helper()
	l := &live{t: t, space: &fakeSpace{news: make(chan string, 1)}, ended: make(chan error, 1)}
	l.s = New(Options{Source: fakeSource{l.space}, Idle: idle})
	l.s.writeTime = 300 * time.Millisecond
	all, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	t.Cleanup(stop)
	l.base = fmt.Sprintf("http://127.0.0.1:%d", Port(all[0]))
	go func() { l.ended <- l.s.Serve(ctx, all...) }()
	_, code, _ := strings.Cut(l.s.Link(""), "#code=")
	r := l.do("POST", "/api/v1/login", `{"code":"`+code+`"}`)
	defer r.Body.Close()
	var v struct{ Token string }
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil || v.Token == "" {
		t.Fatal("not logged in:", err)
	}
	l.token = v.Token
	return l
}

func (l *live) do(method, path, body string) *http.Response {
	l.t.Helper()
	q, err := http.NewRequest(method, l.base+path, strings.NewReader(body))
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

func (l *live) within(what string, done <-chan error) {
	l.t.Helper()
	select {
	case err := <-done:
		if err != nil {
			l.t.Error(what, err)
		}
	case <-time.After(20 * time.Second):
		l.t.Fatal("never: ", what)
	}
}

// Both addresses of this machine have one port; without IPv6 there is one of them.
func TestListen(t *testing.T) {
	all, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		defer l.Close()
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() || Port(l) != Port(all[0]) {
			t.Errorf("listens on %s", l.Addr())
		}
	}
	if _, err := Listen(Port(all[0])); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: %v", err)
	}
	on := func(six error, times int) func(string, string) (net.Listener, error) {
		return func(network, address string) (net.Listener, error) {
			if network == "tcp4" {
				return net.Listen(network, address)
			}
			if times--; times < 0 {
				return net.Listen("tcp4", "127.0.0.1:0") // in place of one on ::1
			}
			return nil, six
		}
	}
	for _, c := range []struct {
		name  string
		six   error
		times int
		want  int // listeners
	}{
		{"no IPv6", syscall.EAFNOSUPPORT, 99, 1},
		{"no ::1", syscall.EADDRNOTAVAIL, 99, 1},
		{"another program has the port on ::1", syscall.EADDRINUSE, 3, 2},
		{"others have all ports on ::1", syscall.EADDRINUSE, 99, 0},
	} {
		all, err := listen(0, on(&net.OpError{Err: c.six}, c.times))
		if len(all) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %d listeners, %v", c.name, len(all), err)
		}
		for _, l := range all {
			l.Close()
		}
	}
}

// ::1 answers as 127.0.0.1 does.
func TestServeIPv6(t *testing.T) {
	l := newLive(t, 0)
	base, code := strings.Replace(l.base, "127.0.0.1", "[::1]", 1), ""
	if c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err != nil {
		t.Skip("NOT TESTED HERE: no IPv6:", err)
	} else {
		c.Close()
	}
	l.base = base
	_, code, _ = strings.Cut(l.s.Link(""), "#code=")
	r := l.do("POST", "/api/v1/login", `{"code":"`+code+`"}`)
	if r.Body.Close(); r.StatusCode != 200 {
		t.Error(r.Status)
	}
}

// Who is not logged in keeps nothing alive, however often it asks; who looks does.
func TestIdle(t *testing.T) {
	l := newLive(t, 400*time.Millisecond)
	events := l.do("GET", "/api/v1/p/p/events", "")
	time.Sleep(600 * time.Millisecond)
	select {
	case err := <-l.ended:
		t.Fatal("ended while somebody looks:", err)
	default:
	}
	token := l.token
	l.token = ""
	events.Body.Close()
	over := time.After(20 * time.Second)
	for {
		select {
		case err := <-l.ended:
			if err != nil {
				t.Error(err)
			}
			if l.s.Link("") != "" {
				t.Error("an address of a server that has ended")
			}
			l.token = token
			return
		case <-over:
			t.Fatal("whoever asks for the page keeps it alive")
		case <-time.After(20 * time.Millisecond):
			q, _ := http.NewRequest("GET", l.base+"/api/v1/projects", nil)
			if r, err := http.DefaultTransport.RoundTrip(q); err == nil {
				r.Body.Close()
			}
		}
	}
}

// The stream of news ends whole when the server does, and says so.
func TestEventsEnd(t *testing.T) {
	l := newLive(t, 0)
	r := l.do("GET", "/api/v1/p/p/events", "")
	lines := bufio.NewScanner(r.Body)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	l.stop()
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if lines.Err() != nil || !strings.Contains(last, `"ended"`) {
		t.Errorf("%q %v", last, lines.Err())
	}
	l.within("the end", l.ended)
}

// What changes something is done before the server ends.
func TestApplyIsNotCutOff(t *testing.T) {
	l := newLive(t, 0)
	begun, proceed, done := make(chan error), make(chan bool), false
	l.space.apply = func() {
		begun <- nil
		<-proceed
		done = true
	}
	go func() {
		q, _ := http.NewRequest("POST", l.base+"/api/v1/p/p/plans/1/apply", nil)
		q.Header.Set("Authorization", "Bearer "+l.token)
		if r, err := http.DefaultTransport.RoundTrip(q); err == nil {
			r.Body.Close()
		}
	}()
	l.within("apply", begun)
	l.stop()
	select {
	case <-l.ended:
		t.Fatal("ended in the middle of it")
	case <-time.After(leaveTime + 300*time.Millisecond):
	}
	close(proceed)
	if l.within("the end", l.ended); !done {
		t.Error("not done")
	}
}

// A client that takes nothing is given up, one that says nothing too, and there are so many streams and no more.
func TestBounds(t *testing.T) {
	l := newLive(t, 0)
	gone := make(chan error, 1)
	l.space.stream = func(out io.Writer) error {
		line := []byte(strings.Repeat("x", 1<<16) + "\n")
		for {
			if _, err := out.Write(line); err != nil {
				gone <- nil
				return err
			}
		}
	}
	r := l.do("GET", "/api/v1/p/p/search", "")
	l.within("a client that takes nothing is given up", gone)
	r.Body.Close()

	for range maxStreams {
		r := l.do("GET", "/api/v1/p/p/events", "")
		defer r.Body.Close()
	}
	r = l.do("GET", "/api/v1/p/p/events", "")
	text, _ := io.ReadAll(r.Body)
	if r.Body.Close(); r.StatusCode != 429 || !strings.Contains(string(text), `"hint"`) {
		t.Errorf("one stream too many: %s %s", r.Status, text)
	}

	c, err := net.Dial("tcp", strings.TrimPrefix(l.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*maxHeader))
	answer, err := bufio.NewReader(c).ReadString('\n')
	if !strings.Contains(answer, " 431 ") {
		t.Errorf("a long header: %q %v", answer, err)
	}
}

// There are so many connections and no more; those that end make room.
func TestConnections(t *testing.T) {
	inner, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	l := &bounded{inner, make(chan struct{}, 1)}
	accepted := make(chan net.Conn, 2)
	go func() {
		for range 2 {
			c, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			accepted <- c
		}
	}()
	for range 2 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	first := <-accepted
	select {
	case <-accepted:
		t.Fatal("one too many")
	case <-time.After(100 * time.Millisecond):
	}
	first.Close()
	first.Close() // gives one place back, not two
	<-accepted
}

// The bytes of a version are to be kept, and never shown.
func TestRaw(t *testing.T) {
	l := newLab(t, false)
	w := l.do("GET", "/api/v1/p/p/raw?path="+"a%22%0d%0aX-Evil:1.html", nil, "")
	if w.Code != 200 || w.Body.String() != "<script>alert(1)</script>" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for name, want := range map[string]string{"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Content-Length": "25", "X-Evil": ""} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := w.Header().Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || strings.ContainsAny(got, "\r\n") {
		t.Errorf("it is shown: %q", got)
	}
	l.space.err = teapot{}
	if w := l.do("GET", "/api/v1/p/p/raw", nil, ""); w.Code != http.StatusTeapot {
		t.Error(w.Code)
	}
}

// A session that is exported is to be kept, too. An error before its first byte says what it is; after it, the client gets no end.
func TestExport(t *testing.T) {
	l := newLab(t, false)
	page := func(end error) func(io.Writer) error {
		return func(out io.Writer) error {
			_, err := io.WriteString(out, "<!doctype html>")
			return errors.Join(err, end)
		}
	}
	l.space.stream = page(nil)
	w := l.do("GET", "/api/v1/p/p/export?session=s", nil, "")
	if h := w.Header(); w.Code != 200 || w.Body.String() != "<!doctype html>" || h.Get("Content-Type") != "application/octet-stream" || h.Get("Content-Disposition") != "attachment" {
		t.Errorf("%d %s %v", w.Code, w.Body, h)
	}
	l.space.stream = func(io.Writer) error { return teapot{} }
	w = l.do("GET", "/api/v1/p/p/export", nil, "")
	if h := w.Header(); w.Code != http.StatusTeapot || h.Get("Content-Type") != "application/json" || h.Get("Content-Disposition") != "" {
		t.Errorf("%d %s %v", w.Code, w.Body, h)
	}
	l.space.stream = page(teapot{})
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("a part was sent as the whole")
		}
	}()
	l.do("GET", "/api/v1/p/p/export", nil, "")
}
