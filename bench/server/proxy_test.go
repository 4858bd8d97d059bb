package server_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is how the proxy treats one request.
type fault int

const (
	pass    fault = iota
	refused       // answered with 503; the server never sees it
	failed        // the server does it, and the answer is 500
	before        // the connection breaks, and the server never sees it
	after         // the server does it, and the connection breaks
	tornPut       // half of the body reaches the server, and both connections break
	tornGet       // half of the answer's body comes back, and the connection breaks
	late          // the server gets it after a pause
	faults        // how many there are
)

// faultProxy passes requests on to a server, and has some of them fail.
type faultProxy struct {
	url  string // of the proxy
	to   *url.URL
	pass http.RoundTripper

	mu       sync.Mutex
	random   *rand.Rand
	percent  int // of the requests fail
	requests int
	counts   [faults]int
}

func newFaultProxy(t *testing.T, server string, seed uint64) *faultProxy {
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	p := &faultProxy{to: to, pass: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32}, random: rand.New(rand.NewPCG(seed, 3))}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// fail sets how many of a hundred requests fail from now on.
func (p *faultProxy) fail(percent int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.percent = percent
}

// report says how many requests there were, and how many of them failed in each way.
func (p *faultProxy) report() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d requests: %d passed, %d refused, %d failed after they were done, %d lost before and %d after that, %d torn uploads, %d torn answers, %d late",
		p.requests, p.counts[pass], p.counts[refused], p.counts[failed], p.counts[before], p.counts[after], p.counts[tornPut], p.counts[tornGet], p.counts[late])
}

// choose decides how a request fares.
func (p *faultProxy) choose(put bool) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	f := pass
	if p.random.IntN(100) < p.percent {
		f = refused + fault(p.random.IntN(int(faults-refused)))
	}
	switch {
	case f == tornPut && !put:
		f = tornGet
	case f == tornGet && put:
		f = tornPut
	}
	p.counts[f]++
	return f
}

func (p *faultProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	f := p.choose(r.Method == http.MethodPut)
	switch f {
	case refused:
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "<Error><Code>SlowDown</Code><Message>the proxy refuses</Message></Error>")
		return
	case before:
		panic(http.ErrAbortHandler) // which closes the connection
	case tornPut:
		p.tear(r, body)
		panic(http.ErrAbortHandler)
	case late:
		time.Sleep(300 * time.Millisecond)
	}
	out := r.Clone(r.Context())
	out.RequestURI, out.URL.Scheme, out.URL.Host = "", p.to.Scheme, p.to.Host // the header Host stays: requests are signed for it
	out.Body = http.NoBody
	if len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	answer, err := p.pass.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || f == after {
		panic(http.ErrAbortHandler)
	}
	if f == failed {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "<Error><Code>InternalError</Code><Message>the proxy lost the answer</Message></Error>")
		return
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if f == tornGet {
		w.Write(data[:len(data)/2]) // the header has the whole length
		if flusher, ok := w.(http.Flusher); ok {
			flusher.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	w.Write(data)
}

// tear sends the head of a request with the length of its body, and half of that. Some servers then have half an object.
func (p *faultProxy) tear(r *http.Request, body []byte) {
	conn, err := net.Dial("tcp", p.to.Host)
	if err != nil {
		return
	}
	defer conn.Close()
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", r.Method, r.URL.RequestURI(), r.Host, len(body))
	r.Header.WriteSubset(&head, map[string]bool{"Content-Length": true})
	head.WriteString("\r\n")
	conn.Write(append([]byte(head.String()), body[:len(body)/2]...))
	conn.(*net.TCPConn).CloseWrite()
	conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	io.Copy(io.Discard, conn) // until the server has seen the end
}
