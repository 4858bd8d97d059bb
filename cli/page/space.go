package page

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// space is one project of the page.
type space struct {
	*picker.Source
	own   *space // of the project itself, where this one is of a pulled log; else nil
	plans *plan.Plans
	watch treeWatch
	stamp storeStamp
	ahead ahead     // what a page will ask for first
	lists sentLists // what pages know
}

// there says whether the store still is: what looks at one that is gone must not make it anew.
func (s *space) there() error {
	if of := s.P.Of(); of != "" {
		if _, err := s.P.ViewOf(of); err != nil {
			return &failure{app.Explain(err), http.StatusGone}
		}
	}
	root := app.EscapePath(s.P.Root())
	f, err := account.ReadFormat(s.P.StoreDir())
	switch {
	case err == nil && f.ID == s.P.ID.String(), err != nil && account.IsStore(s.P.StoreDir()):
		return nil // what reads it returns an error if something is wrong with it
	case err == nil:
		return &failure{app.Failure{Code: app.ExitNotFound, Message: "another store is in " + root + " now", Hint: "rewind ui there shows it"}, http.StatusGone}
	}
	return &failure{app.Failure{Code: app.ExitDamaged, Message: "the store of " + root + " is gone",
		Hint: "rewind status there shows what is left of it, and rebuilds it if possible"}, http.StatusServiceUnavailable}
}

// take waits until no other request works with the project, which must exist.
func (s *space) take(ctx context.Context) (release func(), err error) {
	if release, err = s.Take(ctx); err != nil {
		return nil, err
	}
	if err = s.there(); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// News is the log's place, its newest pack and how long that is, and what the tree was found to be.
func (s *space) News(ctx context.Context) (string, error) {
	now := time.Now()
	log, still := s.stamp.still(now)
	if !still || s.own != nil { // the stamp is the store's own
		still = false
		s.stamp.see(s.P.StoreDir(), now)
		if err := s.there(); err != nil {
			s.stamp.note("")
			return "", err
		}
	}
	s.watchTree(ctx)
	if still {
		return s.newsAt(log), nil
	}
	log, err := s.LogAt()
	s.stamp.note(log)
	if err != nil {
		return "", explained(err)
	}
	return s.newsAt(log), nil
}

func (s *space) news() (string, error) {
	at, err := s.LogAt()
	if err != nil {
		return "", explained(err)
	}
	return s.newsAt(at), nil
}

func (s *space) newsAt(log string) string { return log + "-" + s.watch.word() }

func (s *space) Ask(ctx context.Context, what string, args web.Args) (v any, err error) {
	if s.wantsAll(what, args) {
		s.ahead.await(ctx)
	}
	release, err := s.take(ctx) // one question at a time
	if err != nil {
		return nil, err
	}
	defer func() { release() }()
	if err := s.Know(ctx, args("id"), args("other")); err != nil {
		return nil, explained(err)
	}
	if readsLong[what] {
		release()
		release = func() {}
	}
	if v, err = s.answerTo(ctx, what, args); s.outdated(ctx, err) {
		v, err = s.answerTo(ctx, what, args)
	}
	return v, explained(err)
}

// readsLong are questions that only read, for long, so that other requests need not wait for them.
var readsLong = map[string]bool{"lines": true, "history": true, "written": true, "usage": true, "attempts": true}

// outdated reads the rows anew after an error that may come of what was known of them: rewind forget gives checkpoints
// other trees, and the old ones are gone.
func (s *space) outdated(ctx context.Context, err error) bool {
	return project.IsDamage(err) && s.Reread(ctx) == nil
}

func (s *space) answerTo(ctx context.Context, what string, args web.Args) (any, error) {
	answer := map[string]func(context.Context, web.Args) (any, error){"timeline": s.timeline, "look": s.look, "diff": s.diff, "talk": s.talk, "operations": s.operations,
		"history": s.history, "file": s.file, "health": s.health, "series": s.series, "now": s.now, "lines": s.lines, "sessions": s.sessions, "paths": s.paths, "written": s.written, "usage": s.usage, "attempts": s.attempts, "hunks": s.hunks, "tree": s.tree}[what]
	if answer == nil {
		return nil, errors.New("that cannot be asked")
	}
	return answer(ctx, args)
}

// pagePath is a path as the page says it: the bytes of one that is no UTF-8 come after //, in base64.
func pagePath(path string) string {
	if in64, ok := strings.CutPrefix(path, "//"); ok {
		if data, err := base64.StdEncoding.DecodeString(in64); err == nil {
			return string(data)
		}
	}
	return path
}

func (s *space) Mark(ctx context.Context, body json.RawMessage) (any, error) {
	var m struct {
		ID     string  `json:"id"`
		Name   *string `json:"name"`   // "": takes the name away; null: leaves it
		Pinned *bool   `json:"pinned"` // null, without a name too: the other way round than it is
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, explained(app.Usagef("the mark that is asked for cannot be read"))
	}
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.Know(ctx, m.ID); err != nil {
		return nil, explained(err)
	}
	var done string
	if m.Name != nil {
		done, err = s.Name(ctx, m.ID, *m.Name)
	} else {
		done, err = s.Pin(ctx, m.ID, m.Pinned)
	}
	return map[string]string{"said": done}, explained(err)
}

func (s *space) Stream(ctx context.Context, what string, args web.Args, out io.Writer) error {
	if err := s.there(); err != nil {
		return err
	}
	if what == "export" {
		return explained(s.export(ctx, args, out))
	}
	return explained(s.search(ctx, args, out))
}
