package web

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// Listen listens on this machine's own addresses, 127.0.0.1 and, where there is one, ::1, on one port of both. 0 is
// any that is free. Error: one that is syscall.EADDRINUSE where either has it taken.
func Listen(port int) ([]net.Listener, error) { return listen(port, net.Listen) }

// anyPort is how often a free port is looked for: one that is free on 127.0.0.1 may be taken on ::1.
const anyPort = 16

func listen(port int, on func(network, address string) (net.Listener, error)) ([]net.Listener, error) {
	for try := 1; ; try++ {
		four, err := on("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		six, err := on("tcp6", net.JoinHostPort("::1", strconv.Itoa(Port(four))))
		switch {
		case err == nil:
			return []net.Listener{four, six}, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return []net.Listener{four}, nil // no IPv6 here
		}
		four.Close()
		if port != 0 || try == anyPort {
			return nil, err
		}
	}
}

// Port is the port that a listener of Listen has.
func Port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// bounded accepts as many connections at once as there are places.
type bounded struct {
	net.Listener
	places chan struct{}
}

func (b *bounded) Accept() (net.Conn, error) {
	b.places <- struct{}{}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &placed{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	leave func()
}

func (p *placed) Close() error {
	defer p.leave()
	return p.Conn.Close()
}
