package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// uiSource answers the page: what the picker shows of a project, and plans as the picker makes them.
type uiSource struct {
	list   []web.Project
	spaces map[string]*uiSpace
}

func newUISource(c *call, p *project.Project) *uiSource {
	id := projectID(p)
	pick := newPickSource(c, p)
	pick.keep = true
	return &uiSource{
		list:   []web.Project{{ID: id, Name: filepath.Base(p.Root()), Root: p.Root()}},
		spaces: map[string]*uiSpace{id: {pickSource: pick}},
	}
}

func (s *uiSource) Projects(context.Context) ([]web.Project, error) { return s.list, nil }

func (s *uiSource) Space(id string) web.Space {
	if p := s.spaces[id]; p != nil {
		return p
	}
	return nil
}

// uiSpace is one project of the page.
type uiSpace struct {
	*pickSource
	reverts      map[string]plannedRevert // that were shown; under busy
	shownReverts int
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
	f := &uiFailure{explain(err), http.StatusInternalServerError}
	switch f.code {
	case exitUsage:
		f.status = http.StatusBadRequest
	case exitNotFound:
		f.status = http.StatusNotFound
	case exitRefused:
		f.status = http.StatusConflict
	case exitBusy:
		f.status = http.StatusServiceUnavailable
	}
	return f
}

// there says whether the store still is: what looks at one that is gone must not make it anew.
func (s *uiSpace) there() error {
	if _, err := os.Stat(s.p.StoreDir()); err == nil {
		return nil
	}
	return &uiFailure{failure{code: exitDamaged, message: "the store of " + escapePath(s.p.Root()) + " is gone",
		hint: "rewind status there says what is left of it, and rebuilds it where it can"}, http.StatusServiceUnavailable}
}

// remember makes a checkpoint that is no row of the timeline known to plans: a file's versions name some.
func (s *uiSpace) remember(ctx context.Context, id string) error {
	if _, err := s.row(id); err == nil {
		return nil
	}
	if _, err := manifest.ParseCheckpointID(id); err != nil {
		return nil // whoever wants the row says so
	}
	l, err := resolve(ctx, s.p, id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[id] = &timeline.Row{Checkpoint: &l, Time: l.Time}
	return nil
}

// News is the log's place: its newest pack, and how long that is.
func (s *uiSpace) News(context.Context) (string, error) {
	if err := s.there(); err != nil {
		return "", err
	}
	at, err := s.p.Store.Last()
	if err != nil {
		return "", told(err)
	}
	return fmt.Sprintf("%d-%x", at.Seq, at.Sum), nil
}

func (s *uiSpace) Ask(ctx context.Context, what string, args web.Args) (v any, err error) {
	select { // one question at a time
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.there(); err != nil {
		return nil, err
	}
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
	default:
		err = errors.New("that cannot be asked")
	}
	return v, told(err)
}

// uiAction is what a plan is wanted of.
type uiAction struct {
	Verb      string   `json:"verb"` // restore, revert, undo, redo
	ID        string   `json:"id"`   // of the row, for restore and revert
	Half      string   `json:"half"` // of a restore: both, code, talk
	Paths     []string `json:"paths"`
	Call      bool     `json:"call"`      // of a revert: the row's tool call alone, not its turn
	Conflicts string   `json:"conflicts"` // of a revert: keep ("" too), undo, markers
}

// uiPlan is a plan as the page shows it.
type uiPlan struct {
	ID       string       `json:"id"`
	Title    string       `json:"title"`
	Facts    []string     `json:"facts"`
	Notes    []string     `json:"notes"`
	Files    []uiPlanFile `json:"files"`
	Question string       `json:"question"` // "" where there is nothing to do
	Changed  string       `json:"changed,omitempty"`
}

type uiPlanFile struct {
	pathView
	Action string `json:"action"` // delete, replace, mode, create
}

func (s *uiSpace) Plan(ctx context.Context, body json.RawMessage) (any, error) {
	a, err := planBody(body)
	if err != nil {
		return nil, told(err)
	}
	if err := s.there(); err != nil {
		return nil, err
	}
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	if err := s.remember(ctx, a.ID); err != nil {
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
	return viewPlan(p), nil
}

func viewPlan(p *screen.Plan) uiPlan {
	v := uiPlan{ID: strconv.Itoa(p.Token), Facts: []string{}, Notes: []string{}, Files: []uiPlanFile{}, Question: p.Question}
	for i, line := range p.Facts {
		text := lineText(line)
		if i == 0 {
			v.Title = text
		} else if text != "" {
			v.Facts = append(v.Facts, text)
		}
	}
	for _, line := range p.Notes {
		v.Notes = append(v.Notes, lineText(line))
	}
	for _, f := range p.Files {
		v.Files = append(v.Files, uiPlanFile{viewPath(f.Raw), f.Status})
	}
	return v
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
	if err := s.there(); err != nil {
		return nil, nil, err
	}
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	if p, ok := s.reverts[plan]; ok {
		done, changed, err = s.applyRevert(context.WithoutCancel(ctx), p)
		return done, changed, told(err)
	}
	token, err := strconv.Atoi(plan)
	if err != nil {
		return nil, nil, told(errors.New("that plan is gone"))
	}
	// A page that goes away meanwhile does not end what it asked for.
	said, now, err := s.do(context.WithoutCancel(ctx), screen.Ask{What: screen.AskDo, Plan: token})
	switch {
	case err != nil:
		return nil, nil, told(err)
	case now != nil:
		v := viewPlan(now)
		v.Changed = said
		return nil, v, nil
	}
	return map[string]string{"said": said}, nil, nil
}

func (s *uiSpace) Mark(ctx context.Context, body json.RawMessage) (any, error) {
	var m struct {
		ID   string  `json:"id"`
		Name *string `json:"name"` // null: pin, or take the pin away
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, told(usagef("the mark that is asked for cannot be read"))
	}
	if err := s.there(); err != nil {
		return nil, err
	}
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	var said string
	var err error
	if m.Name != nil {
		said, err = s.name(ctx, m.ID, *m.Name)
	} else {
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
