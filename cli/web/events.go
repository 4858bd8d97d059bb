package web

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// newsEvery is how often the log is looked at while a page is open: three stats. Where nothing has happened for
	// newsCalm, newsLate is soon enough.
	newsEvery = 250 * time.Millisecond
	newsCalm  = 10 * time.Second
	newsLate  = time.Second
	// aliveEvery is how often a quiet stream says that it is there.
	aliveEvery = 15 * time.Second
)

// events is a response that stays open: a line for each time that there are news.
func (s *Server) events(w http.ResponseWriter, r *http.Request, p Space) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := s.lines(w)
	ctx := r.Context()
	look := time.NewTimer(newsEvery)
	defer look.Stop()
	last, quiet, changed := "", time.Now(), time.Now()
	for first := true; ; first = false {
		word, err := p.News(ctx)
		event := map[string]string{}
		switch {
		case err != nil:
			f := failureOf(err)
			event["error"], event["hint"] = f.Error, f.Hint
			word = "error " + f.Error
		case word != last || first:
			event["news"] = word
		}
		if at := p.Looked(); err == nil && at != "" {
			event["looked"] = at
		}
		if word != last || first || time.Since(quiet) > aliveEvery {
			if json.NewEncoder(out).Encode(event) != nil {
				return
			}
			if word != last {
				changed = time.Now()
			}
			last, quiet = word, time.Now()
		}
		if time.Since(changed) > newsCalm {
			look.Reset(newsLate)
		} else {
			look.Reset(newsEvery)
		}
		select {
		case <-ctx.Done(): // the page is gone, or the server ends
			_ = json.NewEncoder(out).Encode(map[string]string{"ended": "rewind ui has ended"})
			return
		case <-look.C:
		}
	}
}
