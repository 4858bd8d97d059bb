package measure

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// Traffic is what went through a Proxy.
type Traffic struct {
	Requests atomic.Int64
	Bytes    atomic.Int64 // on the wire, in both directions, with headers
}

// Proxy passes HTTP requests on to a server, and counts them. It is safe for concurrent use.
type Proxy struct {
	URL     string // of the proxy
	server  http.Server
	traffic atomic.Pointer[Traffic]
}

// NewProxy begins to pass on what comes to a free port of the loopback.
func NewProxy(to *url.URL) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{URL: "http://" + listener.Addr().String()}
	p.Count(&Traffic{})
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // requests are signed for it
		p.traffic.Load().Requests.Add(1)
	}}
	p.server.Handler = pass
	go p.server.Serve(countingListener{listener, p})
	return p, nil
}

// Count adds what comes from now on to t.
func (p *Proxy) Count(t *Traffic) { p.traffic.Store(t) }

// Close ends it, with its connections.
func (p *Proxy) Close() error { return p.server.Close() }

type countingListener struct {
	net.Listener
	p *Proxy
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.p}, err
}

type countingConn struct {
	net.Conn
	p *Proxy
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.p.traffic.Load().Bytes.Add(int64(n))
	return n, err
}

func (c countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.p.traffic.Load().Bytes.Add(int64(n))
	return n, err
}
