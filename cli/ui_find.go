package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func (s *uiSpace) uiOperations(ctx context.Context) (any, error) {
	ops, err := oplog.OperationLog(ctx, s.p, 500)
	if err != nil {
		return nil, err
	}
	return viewLog(s.p, ops), nil
}

// fromRow names a row; nil for none.
func fromRow(r *timeline.Row) *uiFrom {
	if r == nil {
		return nil
	}
	from := &uiFrom{N: rowNumber(r), ID: "#" + utoa(r.Seq), Why: rowWhy(r), Text: rowText(r, timeline.Counts{})}
	if r.Checkpoint != nil {
		from.ID = r.Checkpoint.ID.String()
	}
	return from
}

// uiVersions are the versions of a file, newest first.
type uiVersions struct {
	pathView
	Versions []uiVersion `json:"versions"`
	More     bool        `json:"more"`
}

type uiVersion struct {
	ID      string  `json:"id"` // of the checkpoint that has it; "@": only the working tree
	N       string  `json:"n"`  // of the row that rewind history names
	Time    string  `json:"time"`
	Kind    string  `json:"kind"` // created changed deleted renamed mode kind not-captured
	Path    string  `json:"path"`
	From    string  `json:"from,omitempty"`
	Added   int     `json:"added"`
	Deleted int     `json:"deleted"`
	Binary  bool    `json:"binary,omitempty"`
	Hidden  bool    `json:"hidden,omitempty"`
	Patch   string  `json:"patch,omitempty"`
	Made    string  `json:"made"`            // why and text of that row, as rewind history tells it
	Whose   string  `json:"whose,omitempty"` // who changed it there; "" where it is not known
	By      *uiFrom `json:"by"`              // the row that made it; null where none tells
}

type uiFrom struct {
	ID   string `json:"id"`
	N    string `json:"n,omitempty"` // as the timeline numbers it
	Why  string `json:"why"`
	Text string `json:"text"`
}

func (s *uiSpace) uiHistory(ctx context.Context, args web.Args) (any, error) {
	release, err := s.p.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	h, err := inspect.History(ctx, s.p, inspect.HistoryOptions{Path: path, Limit: 200})
	if none := (*project.NoPathError)(nil); errors.As(err, &none) {
		return nil, &uiFailure{explain(noHistory(err)), http.StatusNotFound}
	}
	if err != nil {
		return nil, err
	}
	v := historyPrinter{c: s.c, p: s.p, h: h, patch: true}
	if h.Step != nil {
		v.present, _ = look(ctx, s.p) // without it, it is told what is known
	}
	v.m = timeline.NewMakers(s.p, v.present)
	out := uiVersions{pathView: viewPath(path), Versions: []uiVersion{}, More: h.More}
	sessions := map[string]bool{} // of all versions: they are named where there are several
	err = v.each(ctx, func(st stepped) error {
		if o := st.by.Owner; o != nil {
			for _, w := range o.Works() {
				if w.Session != "" {
					sessions[w.Session] = true
				}
			}
		}
		w := uiVersion{ID: "@", Time: viewTime(s.c.out.now()), Kind: string(st.What), Path: viewPath(st.Path).Path, From: viewPath(st.From).Path,
			Added: st.d.Added, Deleted: st.d.Deleted, Binary: st.d.Binary, Hidden: st.d.Hidden, Patch: st.d.Patch}
		if len(w.Patch) > longestPatch {
			w.Patch = ""
		}
		if !st.now {
			w.ID, w.Time = st.ID.String(), viewTime(st.Time)
		}
		n, _, at, why, text, err := v.row(ctx, &st)
		if err != nil {
			return err
		}
		if !st.now {
			w.N, w.Time = n, viewTime(at)
		}
		w.Made = strings.TrimSpace(why + " " + text)
		if o := st.by.Owner; o != nil && st.by.Row != nil {
			w.Whose = ownerText(*o, st.Path, sessions)
		}
		if o := st.by.Owner; st.by.Row == nil && o != nil && len(o.Works()) > 0 {
			w.By = &uiFrom{ID: w.ID}
			w.By.Why, w.By.Text = makerText(o, st.Path)
		}
		if st.by.Row != nil {
			w.By = fromRow(st.by.Row)
		}
		out.Versions = append(out.Versions, w)
		return nil
	})
	return out, err
}

// uiContent is a file's text at a checkpoint.
type uiContent struct {
	pathView
	Text   string `json:"text"`
	Size   uint64 `json:"size"`
	Binary bool   `json:"binary,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
}

// maxContent is how much of a file is shown, in bytes.
const maxContent = 1 << 20

// uiVersionOf is a file as a checkpoint has it.
func (s *uiSpace) uiVersionOf(id, path string) (*manifest.Entry, error) {
	l, err := s.checkpoint(id)
	if err != nil {
		return nil, err
	}
	e, ok, err := manifest.Find(s.p.LoadDir, l.Root, path)
	switch {
	case err != nil:
		return nil, s.p.Classify(err)
	case !ok || e.Kind == manifest.Subdir:
		return nil, &staleError{what: "file in that checkpoint", name: path}
	}
	return &e, nil
}

// maxPicture is how large a picture is shown, in bytes.
const maxPicture = 8 << 20

// uiSideOf is a file as it was before or after what a row, or a comparison, shows of it.
func (s *uiSpace) uiSideOf(ctx context.Context, args web.Args, path string) (*manifest.Entry, error) {
	r, f, err := s.changeOf(ctx, args, path)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, &staleError{what: "file that differs", name: path}
	}
	e := f.New
	if args("side") == "old" {
		e = f.Old
	}
	unsaved := args("side") != "old" && (args("other") == "@" || args("other") == "" && r.To != nil && r.To.Now)
	switch {
	case e == nil || e.Kind == manifest.Subdir:
		return nil, &staleError{what: "file there", name: path}
	case unsaved:
		return nil, &uiFailure{failure{message: "it is shown once it is saved"}, http.StatusNotFound}
	}
	return e, nil
}

// Raw is a version of a file. It waits for nobody, and nobody for it: a large one is read for long.
func (s *uiSpace) Raw(ctx context.Context, args web.Args) (*web.Raw, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if err := s.known(ctx, args("id")); err != nil {
		return nil, told(err)
	}
	out, err := s.uiRaw(ctx, args)
	if s.outdated(ctx, err) {
		out, err = s.uiRaw(ctx, args)
	}
	return out, told(err)
}

func (s *uiSpace) uiRaw(ctx context.Context, args web.Args) (*web.Raw, error) {
	release, err := s.p.Hold(ctx)
	if err != nil {
		return nil, err
	}
	keep := false
	defer func() {
		if !keep {
			release()
		}
	}()
	file := pagePath(args("path"))
	var e *manifest.Entry
	if args("side") == "" {
		e, err = s.uiVersionOf(args("id"), file)
	} else {
		e, err = s.uiSideOf(ctx, args, file)
	}
	switch {
	case err != nil:
		return nil, err
	case args("side") != "" && e.Size > maxPicture:
		return nil, &uiFailure{failure{message: quote(file) + " is too large to be shown here"}, http.StatusForbidden}
	case e.Precious:
		return nil, &uiFailure{failure{message: quote(file) + " is precious: the page does not show what is in it",
			hint: "rewind show " + shellQuote(args("id")+":"+file)}, http.StatusForbidden}
	case e.Kind == manifest.Symlink:
		return &web.Raw{Name: path.Base(file), Size: uint64(len(e.Target)), ReadCloser: io.NopCloser(strings.NewReader(e.Target))}, nil
	}
	r, err := inspect.Content(ctx, s.p, *e)
	if err != nil {
		return nil, err
	}
	keep = true
	return &web.Raw{Name: path.Base(file), Size: e.Size, ReadCloser: heldReader{r, release}}, nil
}

// heldReader gives the store back with the file.
type heldReader struct {
	io.ReadCloser
	release func()
}

func (r heldReader) Close() error {
	defer r.release()
	return r.ReadCloser.Close()
}

func (s *uiSpace) uiFile(ctx context.Context, args web.Args) (any, error) {
	release, err := s.p.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	e, err := s.uiVersionOf(args("id"), path)
	if err != nil {
		return nil, err
	}
	out := uiContent{pathView: viewPath(path), Size: e.Size, Hidden: e.Precious}
	switch {
	case out.Hidden:
		return out, nil
	case e.Kind == manifest.Symlink:
		out.Text = e.Target
		return out, nil
	}
	r, err := inspect.Content(ctx, s.p, *e)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if out.Cut = len(data) > maxContent; out.Cut {
		data = data[:maxContent]
	}
	if out.Binary = strings.IndexByte(string(data[:min(len(data), 8000)]), 0) >= 0; !out.Binary {
		out.Text = string(data)
	}
	return out, nil
}

// uiHealthView is what is held and what is not.
type uiHealthView struct {
	Status   statusView    `json:"status"`
	Coverage []problemView `json:"coverage"` // of the newest checkpoint
	Agents   string        `json:"agents"`   // as rewind status tells them
	Called   bool          `json:"called"`   // an agent calls rewind
}

func (s *uiSpace) uiHealth(ctx context.Context) (any, error) {
	st, err := inspect.StatusOf(ctx, s.p)
	if err != nil {
		return nil, err
	}
	out := uiHealthView{Status: viewStatus(st, s.p.Settings()), Coverage: []problemView{}}
	agents := viewAgents(s.c.env, s.p.Root())
	out.Agents, out.Called = agentsText(agents), len(calling(agents)) > 0
	if st.Last != nil {
		var all []problem.Problem
		if all, err = inspect.Coverage(ctx, s.p, st.Last.Checkpoint); err != nil {
			return nil, err
		}
		out.Coverage = viewProblems(all[:min(len(all), mostFiles)])
	}
	return out, nil
}

// uiSeries are sizes over time, a point for each checkpoint, oldest first.
type uiSeries struct {
	Time    []int64  `json:"time"` // ms
	Stored  []uint64 `json:"stored"`
	Files   []uint64 `json:"files"`
	Bytes   []uint64 `json:"bytes"`
	Changed []uint64 `json:"changed"` // paths
}

func (s *uiSpace) uiSeries(ctx context.Context) (any, error) {
	var out uiSeries
	err := s.p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			out.Time = append(out.Time, c.Time.UnixMilli())
			out.Stored = append(out.Stored, c.StoredBytes)
			out.Files = append(out.Files, c.Files)
			out.Bytes = append(out.Bytes, c.Bytes)
			out.Changed = append(out.Changed, c.Added+c.Modified+c.Deleted)
		}
		return nil
	})
	return out, err
}

// uiMatch is one thing that a search found.
type uiMatch struct {
	pathView
	Line     int     `json:"line"`
	Text     *string `json:"text"`     // null: hidden
	Appeared string  `json:"appeared"` // checkpoint; "" for the working tree
	Vanished string  `json:"vanished"` // "" where it is still there
	Went     *uiFrom `json:"went"`     // the row in which it vanished; null where it is still there
	Now      bool    `json:"now"`
	By       *uiFrom `json:"by"` // the row in which it appeared; null where only the working tree has it
}

// uiSearch streams the lines in which a text appeared.
func (s *uiSpace) uiSearch(ctx context.Context, args web.Args, out io.Writer) error {
	m, err := search.Compile(search.Query{Patterns: []string{args("q")}, Fixed: args("regexp") == ""})
	if err != nil {
		return err
	}
	release, err := s.p.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if args("in") == "talk" {
		return s.uiSearchTalk(ctx, m, out)
	}
	enc := json.NewEncoder(out)
	makers := timeline.NewMakers(s.p, nil)
	found := 0
	_, err = search.Run(ctx, s.p, search.Options{Matcher: m}, func(sp search.Span) error {
		v := uiMatch{pathView: viewPath(sp.Path), Line: sp.Line, Now: sp.Now}
		if !sp.Hidden {
			t := viewPath(sp.Text).Path
			v.Text = &t
		}
		if sp.Appeared != nil {
			v.Appeared = sp.Appeared.ID.String()
		}
		if sp.Vanished != nil {
			v.Vanished = sp.Vanished.ID.String()
		}
		var err error
		if v.By, v.Went, err = lineRows(ctx, makers, sp); err != nil {
			return err
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
		if found++; found == mostFiles {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
