package web

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options of a Server.
type Options struct {
	Source   Source
	ReadOnly bool          // nothing can be restored, named or pinned
	Idle     time.Duration // the server ends after this time without a request; 0: 30 minutes
	Now      func() time.Time
}

// Server answers the page of rewind ui. It is safe for concurrent use.
type Server struct {
	o     Options
	login *login
	mux   *http.ServeMux

	writeTime time.Duration // as the constant; tests have a shorter one
	streams   chan struct{} // a place for each response that stays open
	changes   sync.WaitGroup

	mu      sync.Mutex
	open    int       // requests of pages that are logged in
	looked  time.Time // when the last one was, or an address was given away
	leaving bool      // no address is given away any more
}

// Bounds of a request, and of how long the server stays without one.
const (
	maxBody     = 64 << 10
	maxPlan     = 4 << 20 // the page sends what was turned by hand, and shows some thousand paths
	maxHeader   = 32 << 10
	maxConns    = 256 // at once, of all clients
	maxStreams  = 32  // responses that stay open
	headerTime  = 5 * time.Second
	bodyTime    = 10 * time.Second
	startTime   = 2 * time.Second  // for what a page is given with its login; after that it asks
	writeTime   = 30 * time.Second // for a client to take a part of an answer, not for the answer
	quietTime   = 2 * time.Minute  // a connection without a request
	defaultIdle = 30 * time.Minute
	// leaveTime is how long requests may take to end when the server does.
	leaveTime = time.Second
)

// New makes a server.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	s := &Server{o: o, login: newLogin(o.Now), looked: o.Now(), writeTime: writeTime, streams: make(chan struct{}, maxStreams)}
	s.mux = http.NewServeMux()
	s.routes()
	return s
}

// handler answers requests.
func (s *Server) handler() http.Handler { return protect(s.mux) }

// count notes that a page that is logged in asks for something, or has its answer. Who is not logged in does not
// count: whatever looks at ports must not keep the server alive.
func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.looked = s.o.Now()
}

// idle reports whether there was no request for the time of the options. It stays so: no address is given
// away after that.
func (s *Server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = s.leaving || s.open == 0 && s.o.Now().Sub(s.looked) >= s.o.Idle
	return s.leaving
}

// Link is the part of an address behind the host: a page that logs itself in with a one-time code. place
// is a path of the page, "" for its start. "": the server is about to end.
func (s *Server) Link(place string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return ""
	}
	s.looked = s.o.Now()
	return "/" + place + "#code=" + s.login.code()
}

// Serve answers until ctx ends, no request came for long, or a listener fails. It closes the listeners, and
// returns when every request is answered or was ended. What changes something is never cut off.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader, IdleTimeout: quietTime, WriteTimeout: s.writeTime,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(min(s.o.Idle, time.Minute))
		defer look.Stop()
		for ctx.Err() == nil && !s.idle() {
			select {
			case <-ctx.Done():
			case <-look.C:
			}
		}
		s.mu.Lock()
		s.leaving = true
		s.mu.Unlock()
		stop() // what streams ends
		leave, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		if srv.Shutdown(leave) != nil {
			_ = srv.Close()
		}
		s.changes.Wait()
	}()
	places := make(chan struct{}, maxConns)
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			failed <- srv.Serve(&bounded{l, places})
			stop()
		}()
	}
	var err error
	for range listeners {
		if e := <-failed; err == nil && !errors.Is(e, http.ErrServerClosed) {
			err = e
		}
	}
	stop()
	<-ended
	return err
}
