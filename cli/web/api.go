package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// questions are what can be asked of a project, by the last element of the address.
var questions = []string{"timeline", "look", "diff", "talk", "operations", "history", "file", "health", "series"}

func (s *Server) routes() {
	s.mux.HandleFunc("POST /api/v1/login", s.logIn)
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
	s.inSpace("GET /api/v1/p/{project}/search", s.search)
	s.inSpace("GET /api/v1/p/{project}/events", s.events)
	s.changing("POST /api/v1/p/{project}/plans", func(w http.ResponseWriter, r *http.Request, p Space) {
		if body, ok := body(w, r); ok {
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
		if body, ok := body(w, r); ok {
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
		next(w, r)
	})
}

type inSpace func(w http.ResponseWriter, r *http.Request, p Space)

func (s *Server) inSpace(pattern string, next inSpace) {
	s.mux.Handle(pattern, s.known(func(w http.ResponseWriter, r *http.Request) {
		p := s.o.Source.Space(r.PathValue("project"))
		if p == nil {
			fail(w, http.StatusNotFound, "there is no such project", "")
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
		next(w, r, p)
	})
}

func (s *Server) logIn(w http.ResponseWriter, r *http.Request) {
	data, ok := body(w, r)
	if !ok {
		return
	}
	var in struct {
		Code string `json:"code"`
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
	answer(w, map[string]string{"token": token}, nil)
}

// search streams what is found, a line of JSON each.
func (s *Server) search(w http.ResponseWriter, r *http.Request, p Space) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := &lines{w: w, c: http.NewResponseController(w)}
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

// lines sends what is written at once.
type lines struct {
	w       io.Writer
	c       *http.ResponseController
	written bool
}

func (l *lines) Write(b []byte) (int, error) {
	l.written = true
	n, err := l.w.Write(b)
	if err == nil {
		err = l.c.Flush()
	}
	return n, err
}

func body(w http.ResponseWriter, r *http.Request) (json.RawMessage, bool) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, "the request is too long", "")
		return nil, false
	}
	return data, true
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

func write(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // who asked may be gone
}
