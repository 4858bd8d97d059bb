package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// questions are what can be asked of a project, by the last element of the address.
var questions = []string{"timeline", "look", "diff", "talk", "operations", "history", "file", "health", "series", "now", "sessions", "lines", "paths", "written", "usage", "attempts", "tree", "hunks"}

func (s *Server) routes() {
	s.mux.HandleFunc("POST /api/v1/login", s.logIn)
	s.mux.Handle("GET /api/v1/start", s.known(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.start(r.Context(), r.URL.Query().Get("project"), "")
		answer(w, v, err)
	}))
	s.mux.Handle("GET /api/v1/projects", s.known(func(w http.ResponseWriter, r *http.Request) {
		all, err := s.o.Source.Projects(r.Context())
		answer(w, map[string]any{"projects": all, "read_only": s.o.ReadOnly}, err)
	}))
	for _, what := range questions {
		s.inSpace("GET /api/v1/p/{project}/"+what, func(w http.ResponseWriter, r *http.Request, p Space) {
			v, err := p.Ask(r.Context(), what, r.URL.Query().Get)
			answer(w, v, err)
		})
	}
	s.inSpace("GET /api/v1/p/{project}/raw", s.raw)
	s.inSpace("GET /api/v1/p/{project}/export", s.streaming(s.export))
	s.inSpace("GET /api/v1/p/{project}/search", s.streaming(s.search))
	s.inSpace("GET /api/v1/p/{project}/events", s.streaming(s.events))
	s.changing("POST /api/v1/p/{project}/plans", func(w http.ResponseWriter, r *http.Request, p Space) {
		if body, ok := body(w, r, maxPlan); ok {
			v, err := p.Plan(r.Context(), body)
			answer(w, v, err)
		}
	})
	s.changing("POST /api/v1/p/{project}/plans/{plan}/apply", func(w http.ResponseWriter, r *http.Request, p Space) {
		done, changed, err := p.Apply(r.Context(), r.PathValue("plan"))
		if err == nil && changed != nil {
			write(w, http.StatusConflict, changed)
			return
		}
		answer(w, done, err)
	})
	s.changing("POST /api/v1/p/{project}/marks", func(w http.ResponseWriter, r *http.Request, p Space) {
		if body, ok := body(w, r, maxBody); ok {
			v, err := p.Mark(r.Context(), body)
			answer(w, v, err)
		}
	})
	s.mux.HandleFunc("/", s.page)
}

// known lets only those through who are logged in.
func (s *Server) known(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.login.knows(r) {
			fail(w, http.StatusUnauthorized, "this page is not logged in", "rewind ui opens one that is")
			return
		}
		s.count(1)
		defer s.count(-1)
		next(w, r)
	})
}

type inSpace func(w http.ResponseWriter, r *http.Request, p Space)

func (s *Server) inSpace(pattern string, next inSpace) {
	s.mux.Handle(pattern, s.known(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.o.Source.Space(r.Context(), r.PathValue("project"))
		if err != nil {
			answer(w, nil, err)
			return
		}
		next(w, r, p)
	}))
}

// changing is inSpace for what changes something.
func (s *Server) changing(pattern string, next inSpace) {
	s.inSpace(pattern, func(w http.ResponseWriter, r *http.Request, p Space) {
		if s.o.ReadOnly {
			fail(w, http.StatusForbidden, "this page only shows", "rewind ui without --read-only can change something")
			return
		}
		s.mu.Lock()
		leaving := s.leaving
		if !leaving {
			s.changes.Add(1)
		}
		s.mu.Unlock()
		if leaving {
			fail(w, http.StatusServiceUnavailable, "rewind ui has ended", "rewind ui opens the page again")
			return
		}
		defer s.changes.Done()
		next(w, r, p)
	})
}

// streaming is for a response that stays open: there are so many and no more.
func (s *Server) streaming(next inSpace) inSpace {
	return func(w http.ResponseWriter, r *http.Request, p Space) {
		select {
		case s.streams <- struct{}{}:
			defer func() { <-s.streams }()
			next(w, r, p)
		default:
			fail(w, http.StatusTooManyRequests, "too many pages look at once", "close some of them")
		}
	}
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r, maxBody)
	if !ok {
		return
	}
	var in struct {
		Code    string `json:"code"`
		Project string `json:"project"` // that is shown first, "" for the first of them
	}
	if json.Unmarshal(data, &in) != nil {
		fail(w, http.StatusBadRequest, "a code is wanted", "")
		return
	}
	token, ok := s.login.exchange(in.Code)
	if !ok {
		fail(w, http.StatusUnauthorized, "this link was used before, or is too old", "rewind ui opens a new one")
		return
	}
	v, err := s.start(r.Context(), in.Project, token)
	if err != nil {
		v = started{Token: token} // an error is returned to the request for the projects
	}
	answer(w, v, nil)
}

// started is what a page needs first, in one answer.
type started struct {
	Token    string    `json:"token,omitempty"`
	Projects []Project `json:"projects,omitempty"`
	ReadOnly bool      `json:"read_only"`
	Project  string    `json:"project,omitempty"` // the one that Start is of
	Start    any       `json:"start,omitempty"`   // of a Space; without it, the page asks
}

func (s *Server) start(ctx context.Context, project, token string) (started, error) {
	all, err := s.o.Source.Projects(ctx)
	if err != nil {
		return started{}, err
	}
	out := started{Token: token, Projects: all, ReadOnly: s.o.ReadOnly, Project: project}
	if out.Project == "" && len(all) > 0 {
		out.Project = all[0].ID
	}
	if p, err := s.o.Source.Space(ctx, out.Project); err == nil {
		ctx, cancel := context.WithTimeout(ctx, startTime)
		defer cancel()
		if v, err := p.Start(ctx); err == nil {
			out.Start = v
		}
	}
	return out, nil
}

// search streams what is found, a line of JSON each.
func (s *Server) search(w http.ResponseWriter, r *http.Request, p Space) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := s.lines(w)
	err := p.Stream(r.Context(), "search", r.URL.Query().Get, out)
	if err == nil || r.Context().Err() != nil {
		return
	}
	if !out.written {
		answer(w, nil, err)
		return
	}
	_ = json.NewEncoder(out).Encode(failureOf(err))
}

// export sends a session as a page of its own, to be kept.
func (s *Server) export(w http.ResponseWriter, r *http.Request, p Space) {
	toKeep(w)
	out := s.lines(w)
	err := p.Stream(r.Context(), "export", r.URL.Query().Get, out)
	switch {
	case err != nil && out.written:
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	case err != nil:
		w.Header().Del("Content-Disposition")
		answer(w, nil, err)
	}
}

// toKeep marks a response as bytes that are kept and never shown, whatever they hold.
func toKeep(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", "attachment")
}

// raw sends a version of a file.
func (s *Server) raw(w http.ResponseWriter, r *http.Request, p Space) {
	file, err := p.Raw(r.Context(), r.URL.Query().Get)
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer file.Close()
	toKeep(w)
	h := w.Header()
	h.Set("Content-Length", strconv.FormatUint(file.Size, 10))
	if named := mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}); named != "" {
		h.Set("Content-Disposition", named)
	}
	out := s.lines(w)
	if _, err = io.CopyN(out, file, int64(file.Size)); err != nil {
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
}

// lines sends what is written at once. A client that takes nothing for long is given up.
type lines struct {
	w       io.Writer
	c       *http.ResponseController
	within  time.Duration
	written bool
}

func (s *Server) lines(w http.ResponseWriter) *lines {
	return &lines{w: w, c: http.NewResponseController(w), within: s.writeTime}
}

func (l *lines) Write(b []byte) (int, error) {
	l.written = true
	_ = l.c.SetWriteDeadline(time.Now().Add(l.within)) // a test's has none
	n, err := l.w.Write(b)
	if err == nil {
		err = l.c.Flush()
	}
	return n, err
}

func body(w http.ResponseWriter, r *http.Request, most int64) (json.RawMessage, bool) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // a test's has none
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	_ = c.SetReadDeadline(time.Time{})
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		fail(w, http.StatusRequestEntityTooLarge, "the request is too long", "")
	case err != nil:
		fail(w, http.StatusBadRequest, "the request did not come whole", "")
	}
	return data, err == nil
}

func answer(w http.ResponseWriter, v any, err error) {
	if err == nil {
		write(w, http.StatusOK, v)
		return
	}
	status := http.StatusInternalServerError
	var f Failure
	if errors.As(err, &f) {
		status = f.Status()
	}
	write(w, status, failureOf(err))
}

type failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}

func failureOf(err error) failure {
	var f Failure
	if errors.As(err, &f) {
		return failure{f.Error(), f.Hint()}
	}
	return failure{Error: err.Error()}
}

func fail(w http.ResponseWriter, status int, message, hint string) {
	write(w, status, failure{message, hint})
}

// Encoded is an answer that is JSON already.
type Encoded []byte

func write(w http.ResponseWriter, status int, v any) {
	data, err := []byte(nil), error(nil)
	if done, ok := v.(Encoded); ok {
		data = done
	} else if data, err = json.Marshal(v); err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // it may have taken long to find
	w.WriteHeader(status)
	_, _ = w.Write(data) // who asked may be gone
}
