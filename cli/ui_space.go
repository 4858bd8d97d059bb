package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// uiSpace is one project of the page.
type uiSpace struct {
	*pickSource
	reverts      map[string]plannedRevert // that were shown; under busy
	shownReverts int
	stamp        storeStamp
	ahead        uiAhead // what a page will ask for first
	lists        uiLists // what pages know
}

// uiFailure is an error as the page is told it.
type uiFailure struct {
	failure
	status int
}

func (e *uiFailure) Error() string { return e.message }
func (e *uiFailure) Status() int   { return e.status }
func (e *uiFailure) Hint() string  { return e.hint }

// told explains an error as the command line does.
func told(err error) error {
	if err == nil {
		return nil
	}
	var as *uiFailure
	if errors.As(err, &as) {
		return err
	}
	f := &uiFailure{explain(err), http.StatusInternalServerError}
	var stale *staleError
	switch {
	case errors.As(err, &stale) && stale.known:
		f.status, f.hint = http.StatusGone, "something was done since; ask for it again"
	case errors.As(err, &stale):
		f.status, f.hint = http.StatusNotFound, "reload the page: it shows what there is"
	case f.code == exitUsage:
		f.status = http.StatusBadRequest
	case f.code == exitNotFound:
		f.status = http.StatusNotFound
	case f.code == exitNoProject:
		f.status = http.StatusGone
	case f.code == exitRefused:
		f.status = http.StatusConflict
	case f.code == exitBusy:
		f.status = http.StatusServiceUnavailable
	}
	return f
}

// there says whether the store still is: what looks at one that is gone must not make it anew.
func (s *uiSpace) there() error {
	root := escapePath(s.p.Root())
	f, err := account.ReadFormat(s.p.StoreDir())
	switch {
	case err == nil && f.ID == s.p.ID.String(), err != nil && account.IsStore(s.p.StoreDir()):
		return nil // what is wrong with it, whoever reads it says
	case err == nil:
		return &uiFailure{failure{code: exitNotFound, message: "another store is in " + root + " now", hint: "rewind ui there shows it"}, http.StatusGone}
	}
	return &uiFailure{failure{code: exitDamaged, message: "the store of " + root + " is gone",
		hint: "rewind status there says what is left of it, and rebuilds it where it can"}, http.StatusServiceUnavailable}
}

// known makes sure of the checkpoints that a question names: one that was removed since it was shown is gone, and one
// that is no row of the timeline, as a file's versions name some, becomes known.
func (s *uiSpace) known(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if _, err := manifest.ParseCheckpointID(id); err != nil {
			continue // whoever wants the row says so
		}
		l, err := resolve(ctx, s.p, id)
		s.mu.Lock()
		row, shown := s.rows[id]
		switch {
		case err == nil && row == nil:
			s.rows[id] = &timeline.Row{Checkpoint: &l, Time: l.Time}
		case err == nil && row.Checkpoint != nil && row.Checkpoint.Root != l.Root: // after rewind forget
			now := *row
			now.Checkpoint = &l
			s.rows[id] = &now
		case err != nil && shown && explain(err).code == exitNotFound:
			s.rows[id] = nil
			err = &staleError{what: "checkpoint", name: id, known: true}
		}
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// take waits until nobody else works with the project, which must be there.
func (s *uiSpace) take(ctx context.Context) (release func(), err error) {
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.there(); err != nil {
		<-s.busy
		return nil, err
	}
	return func() { <-s.busy }, nil
}

// News is the log's place, its newest pack and how long that is, and what the tree was found to be.
func (s *uiSpace) News(ctx context.Context) (string, error) {
	now := time.Now()
	log, still := s.stamp.still(now)
	if !still {
		s.stamp.see(s.p.StoreDir(), now)
		if err := s.there(); err != nil {
			s.stamp.note("")
			return "", err
		}
	}
	s.watchTree(ctx)
	if still {
		return s.newsAt(log), nil
	}
	log, err := s.logAt()
	s.stamp.note(log)
	if err != nil {
		return "", told(err)
	}
	return s.newsAt(log), nil
}

func (s *uiSpace) news() (string, error) {
	at, err := s.logAt()
	if err != nil {
		return "", told(err)
	}
	return s.newsAt(at), nil
}

func (s *uiSpace) newsAt(log string) string { return log + "-" + s.watch.word() }

func (s *uiSpace) Ask(ctx context.Context, what string, args web.Args) (v any, err error) {
	if s.wantsAll(what, args) {
		s.ahead.await(ctx)
	}
	release, err := s.take(ctx) // one question at a time
	if err != nil {
		return nil, err
	}
	defer func() { release() }()
	if err := s.known(ctx, args("id"), args("other")); err != nil {
		return nil, told(err)
	}
	if what == "lines" { // it reads long, and only that: nobody waits for it
		release()
		release = func() {}
	}
	if v, err = s.answerTo(ctx, what, args); s.outdated(ctx, err) {
		v, err = s.answerTo(ctx, what, args)
	}
	return v, told(err)
}

// outdated reads the rows anew after an error that may come of what was known of them: rewind forget gives checkpoints
// other trees, and the old ones are gone.
func (s *uiSpace) outdated(ctx context.Context, err error) bool {
	if !project.IsDamage(err) {
		return false
	}
	s.mu.Lock()
	clear(s.rows)
	s.mu.Unlock()
	_, err = s.load(ctx, screen.Ask{Scope: screen.WithSafety}, 0)
	return err == nil
}

func (s *uiSpace) answerTo(ctx context.Context, what string, args web.Args) (v any, err error) {
	switch what {
	case "timeline":
		v, err = s.uiTimeline(ctx, args)
	case "look":
		v, err = s.uiLook(ctx, args)
	case "diff":
		v, err = s.uiDiff(ctx, args)
	case "talk":
		v, err = s.uiTalk(ctx, args)
	case "operations":
		v, err = s.uiOperations(ctx)
	case "history":
		v, err = s.uiHistory(ctx, args)
	case "file":
		v, err = s.uiFile(ctx, args)
	case "health":
		v, err = s.uiHealth(ctx)
	case "series":
		v, err = s.uiSeries(ctx)
	case "now":
		v = s.uiNow()
	case "lines":
		v, err = s.uiLines(ctx, args)
	case "sessions":
		v, err = s.uiSessions(ctx)
	default:
		err = errors.New("that cannot be asked")
	}
	return v, err
}

// uiAction is what a plan is wanted of.
type uiAction struct {
	Verb      string   `json:"verb"` // restore, revert, undo, redo
	ID        string   `json:"id"`   // of the row, for restore and revert
	Half      string   `json:"half"` // of a restore: both, code, talk
	Paths     []string `json:"paths"`
	Call      bool     `json:"call"`      // of a revert: the row's tool call alone, not its turn
	Conflicts string   `json:"conflicts"` // of a revert: keep ("" too), undo, markers
	Session   string   `json:"session"`   // of a revert without a row: whose last turns
	Turns     int      `json:"turns"`     // how many of them, from 1
}

// uiPlan is a plan as the page shows it.
type uiPlan struct {
	ID        string       `json:"id"`
	Title     string       `json:"title"`
	Facts     []string     `json:"facts"`
	Notes     []string     `json:"notes"`
	Files     []uiPlanFile `json:"files"`
	Question  string       `json:"question"` // "" where there is nothing to do
	Changed   string       `json:"changed,omitempty"`
	Conflicts int          `json:"conflicts,omitempty"` // of a revert: places on which others built
	Others    []string     `json:"others"`              // other sessions whose work goes too
	Instead   *uiAction    `json:"instead"`             // what keeps it; null where there is no such way, or none is wanted
	Target    string       `json:"target,omitempty"`    // the checkpoint whose files come: what differs from now is what it would change
}

type uiPlanFile struct {
	pathView
	Action string `json:"action"`           // delete, replace, mode, create
	Around bool   `json:"around,omitempty"` // a directory that comes or goes with what is in it: it is not counted
}

func (s *uiSpace) Plan(ctx context.Context, body json.RawMessage) (any, error) {
	a, err := planBody(body)
	if err != nil {
		return nil, told(err)
	}
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.known(ctx, a.ID); err != nil {
		return nil, told(err)
	}
	if a.Verb == "revert" {
		v, err := s.revertPlan(ctx, a)
		return v, told(err)
	}
	verb, ok := map[string]screen.Verb{"restore": screen.Restore, "undo": screen.Undo, "redo": screen.Redo}[a.Verb]
	half, known := map[string]screen.Half{"both": screen.Both, "": screen.Both, "code": screen.Code, "talk": screen.Conversation}[a.Half]
	if !ok || !known {
		return nil, told(usagef("there is no such plan: %s %s", a.Verb, a.Half))
	}
	paths := ""
	for _, p := range a.Paths {
		paths += p + "\x00"
	}
	if paths != "" {
		half = screen.Code
	}
	p, err := s.plan(ctx, screen.Ask{What: screen.AskPlan, Verb: verb, ID: a.ID, Half: half, Paths: paths})
	if err != nil {
		return nil, told(err)
	}
	return s.viewPlan(p), nil
}

func (s *uiSpace) viewPlan(p *screen.Plan) uiPlan {
	v := uiPlan{ID: strconv.Itoa(p.Token), Facts: []string{}, Notes: []string{}, Files: []uiPlanFile{}, Others: []string{}, Question: p.Question}
	for i, line := range p.Facts {
		text := lineText(line)
		switch {
		case i == 0:
			v.Title = text
		case text != "" && line[0].Style == screen.Yellow:
			v.Others = append(v.Others, text)
		case text != "":
			v.Facts = append(v.Facts, text)
		}
	}
	s.mu.Lock()
	if made := s.plans[p.Token]; made != nil {
		if made.instead != nil {
			v.Instead = &uiAction{Verb: "revert", Session: made.instead.Session, Turns: made.instead.Turns}
		}
		if made.target != (manifest.CheckpointID{}) {
			v.Target = made.target.String()
		}
	}
	s.mu.Unlock()
	for _, line := range p.Notes {
		v.Notes = append(v.Notes, lineText(line))
	}
	byAction := map[string][]string{}
	for _, f := range p.Files {
		byAction[f.Status] = append(byAction[f.Status], f.Raw)
	}
	v.Files = planFiles(byAction)
	return v
}

// planFiles are the paths of a plan by what becomes of them, in the order in which they are told.
func planFiles(byAction map[string][]string) []uiPlanFile {
	out := []uiPlanFile{}
	for _, action := range []string{"delete", "replace", "mode", "create"} {
		paths := byAction[action]
		around := map[string]bool{}
		if action == "delete" || action == "create" {
			around = engine.Around(paths)
		}
		for _, path := range paths {
			out = append(out, uiPlanFile{viewPath(path), action, around[path]})
		}
	}
	return out
}

// pagePath is a path as the page says it: the bytes of one that is no UTF-8 come after //, in base64.
func pagePath(said string) string {
	if in64, ok := strings.CutPrefix(said, "//"); ok {
		if data, err := base64.StdEncoding.DecodeString(in64); err == nil {
			return string(data)
		}
	}
	return said
}

func lineText(l screen.Line) string {
	var b strings.Builder
	for _, span := range l {
		b.WriteString(span.Text)
	}
	return strings.TrimSpace(b.String())
}

func (s *uiSpace) Apply(ctx context.Context, plan string) (done, changed any, err error) {
	release, err := s.take(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if p, ok := s.reverts[plan]; ok {
		done, changed, err = s.applyRevert(context.WithoutCancel(ctx), p)
		return done, changed, told(err)
	}
	token, err := strconv.Atoi(plan)
	if err != nil {
		n, nerr := strconv.Atoi(strings.TrimPrefix(plan, "revert-"))
		return nil, nil, told(&staleError{what: "plan", name: plan, known: nerr == nil && n > 0 && n <= s.shownReverts})
	}
	back := "undo"
	s.mu.Lock()
	if p := s.plans[token]; p != nil && p.back == "U" {
		back = "redo"
	}
	s.mu.Unlock()
	// A page that goes away meanwhile does not end what it asked for.
	said, now, err := s.do(context.WithoutCancel(ctx), screen.Ask{What: screen.AskDo, Plan: token})
	switch {
	case err != nil:
		return nil, nil, told(err)
	case now != nil:
		v := s.viewPlan(now)
		v.Changed = said
		return nil, v, nil
	}
	v := map[string]any{"said": strings.TrimSuffix(said, ", q leaves") + ".", "back": back}
	s.mu.Lock()
	if n := len(s.done); n > 0 && s.done[n-1].done.Safety != nil {
		v["safety"] = s.done[n-1].done.Safety.ID.String() // what was there
	}
	s.mu.Unlock()
	return v, nil, nil
}

func (s *uiSpace) Mark(ctx context.Context, body json.RawMessage) (any, error) {
	var m struct {
		ID     string  `json:"id"`
		Name   *string `json:"name"`   // "": takes the name away; null: leaves it
		Pinned *bool   `json:"pinned"` // null, without a name too: the other way round than it is
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, told(usagef("the mark that is asked for cannot be read"))
	}
	release, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.known(ctx, m.ID); err != nil {
		return nil, told(err)
	}
	var said string
	switch {
	case m.Name != nil:
		said, err = s.name(ctx, m.ID, *m.Name)
	case m.Pinned != nil:
		if l, lerr := s.checkpoint(m.ID); lerr != nil {
			err = lerr
		} else if err = engine.Pin(ctx, s.p, l.Checkpoint, *m.Pinned); *m.Pinned {
			said = "pinned " + pickedName(l) + ": gc keeps it"
		} else {
			said = "unpinned " + pickedName(l)
		}
	default:
		said, err = s.pin(ctx, m.ID)
	}
	return map[string]string{"said": said}, told(err)
}

func (s *uiSpace) Stream(ctx context.Context, what string, args web.Args, out io.Writer) error {
	if err := s.there(); err != nil {
		return err
	}
	return told(s.uiSearch(ctx, args, out))
}
