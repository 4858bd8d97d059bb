package web

import (
	"context"
	"errors"
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
	Idle     time.Duration // the server ends when nobody has looked for as long; 0: 30 minutes
	Now      func() time.Time
	Page     Page // the files of the page; zero: those that are built in
}

// Server answers the page of rewind ui. It is safe for concurrent use.
type Server struct {
	o     Options
	login *login
	mux   *http.ServeMux

	mu     sync.Mutex
	open   int       // requests that are being answered
	looked time.Time // when the last one was
}

// Bounds of a request, and of how long the server stays without one.
const (
	maxBody     = 64 << 10
	headerTime  = 5 * time.Second
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
	if o.Page == (Page{}) {
		o.Page = builtIn
	}
	s := &Server{o: o, login: newLogin(o.Now), looked: o.Now()}
	s.mux = http.NewServeMux()
	s.routes()
	return s
}

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	return protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.count(1)
		defer s.count(-1)
		s.mux.ServeHTTP(w, r)
	}))
}

func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += n
	s.looked = s.o.Now()
}

// idle reports whether nobody has looked for the time of the options.
func (s *Server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open == 0 && s.o.Now().Sub(s.looked) >= s.o.Idle
}

// Link is the part of an address behind the host: a page that logs itself in with a one-time code. place
// is a path of the page, "" for its start.
func (s *Server) Link(place string) string { return "/" + place + "#code=" + s.login.code() }

// Serve answers until ctx ends, nobody has looked for long, or the listener fails. It closes the listener, and
// returns when every request is answered or was ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(discard{}, "", 0),
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
		stop() // what streams ends
		leave, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		if srv.Shutdown(leave) != nil {
			_ = srv.Close()
		}
	}()
	err := srv.Serve(l)
	stop()
	<-ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
