package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func (s *space) operations(ctx context.Context, _ web.Args) (any, error) {
	ops, err := oplog.OperationLog(ctx, s.P, 500)
	if err != nil {
		return nil, err
	}
	return report.ViewLog(s.P, ops), nil
}

// versionsView are the versions of a file, newest first.
type versionsView struct {
	app.PathView
	Versions []versionView `json:"versions"`
	More     bool          `json:"more"`
}

type versionView struct {
	ID      string       `json:"id"` // of the checkpoint that has it; "@": only the working tree
	N       string       `json:"n"`  // of the row that rewind history names
	Time    string       `json:"time"`
	Kind    string       `json:"kind"` // created changed deleted renamed mode kind not-captured
	Path    string       `json:"path"`
	From    string       `json:"from,omitempty"`
	Added   int          `json:"added"`
	Deleted int          `json:"deleted"`
	Binary  bool         `json:"binary,omitempty"`
	Hidden  bool         `json:"hidden,omitempty"`
	Patch   string       `json:"patch,omitempty"`
	Made    string       `json:"made"`            // why and text of that row, as rewind history tells it
	Whose   string       `json:"whose,omitempty"` // who changed it there; "" where it is not known
	By      *picker.From `json:"by"`              // the row that made it; null where none tells
}

func (s *space) history(ctx context.Context, args web.Args) (any, error) {
	release, err := s.P.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	h, err := inspect.History(ctx, s.P, inspect.HistoryOptions{Path: path, Limit: 200})
	if none := (*project.NoPathError)(nil); errors.As(err, &none) {
		return nil, &failure{app.Explain(rows.NoHistory(err)), http.StatusNotFound}
	}
	if err != nil {
		return nil, err
	}
	v := rows.NewHistory(ctx, s.P, h)
	out := versionsView{PathView: app.ViewPath(path), Versions: []versionView{}, More: h.More}
	sessions := map[string]bool{} // of all versions: they are named where there are several
	err = v.Each(ctx, func(st rows.Stepped) error {
		if o := st.By.Owner; o != nil {
			for _, w := range o.Works() {
				if w.Session != "" {
					sessions[w.Session] = true
				}
			}
		}
		w := versionView{ID: "@", Time: app.ViewTime(s.C.Out.Now()), Kind: string(st.What), Path: app.ViewPath(st.Path).Path, From: app.ViewPath(st.From).Path,
			Added: st.D.Added, Deleted: st.D.Deleted, Binary: st.D.Binary, Hidden: st.D.Hidden, Patch: st.D.Patch}
		if len(w.Patch) > longestPatch {
			w.Patch = ""
		}
		if !st.Now {
			w.ID, w.Time = st.ID.String(), app.ViewTime(st.Time)
		}
		n, _, at, why, text, err := v.Row(ctx, &st)
		if err != nil {
			return err
		}
		if !st.Now {
			w.N, w.Time = n, app.ViewTime(at)
		}
		w.Made = strings.TrimSpace(why + " " + text)
		if o := st.By.Owner; o != nil && st.By.Row != nil {
			w.Whose = rows.OwnerText(*o, st.Path, sessions)
		}
		if o := st.By.Owner; st.By.Row == nil && o != nil && len(o.Works()) > 0 {
			w.By = &picker.From{ID: w.ID}
			w.By.Why, w.By.Text = rows.MakerText(o, st.Path)
		}
		if st.By.Row != nil {
			w.By = picker.FromRow(st.By.Row)
		}
		out.Versions = append(out.Versions, w)
		return nil
	})
	return out, err
}

// contentView is a file's text at a checkpoint.
type contentView struct {
	app.PathView
	Text   string `json:"text"`
	Size   uint64 `json:"size"`
	Binary bool   `json:"binary,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
}

// maxContent is how much of a file is shown, in bytes.
const maxContent = 1 << 20

// versionOf is a file as a checkpoint has it.
func (s *space) versionOf(id, path string) (*manifest.Entry, error) {
	l, err := s.Checkpoint(id)
	if err != nil {
		return nil, err
	}
	e, ok, err := manifest.Find(s.P.LoadDir, l.Root, path)
	switch {
	case err != nil:
		return nil, s.P.Classify(err)
	case !ok || e.Kind == manifest.Subdir:
		return nil, &app.StaleError{What: "file in that checkpoint", Name: path}
	}
	return &e, nil
}

// maxPicture is how large a picture is shown, in bytes.
const maxPicture = 8 << 20

// sideOf is a file as it was before or after what a row, or a comparison, shows of it.
func (s *space) sideOf(ctx context.Context, args web.Args, path string) (*manifest.Entry, error) {
	r, f, err := s.changeOf(ctx, args, path)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, &app.StaleError{What: "file that differs", Name: path}
	}
	e := f.New
	if args("side") == "old" {
		e = f.Old
	}
	unsaved := args("side") != "old" && (args("other") == "@" || args("other") == "" && r.To != nil && r.To.Now)
	switch {
	case e == nil || e.Kind == manifest.Subdir:
		return nil, &app.StaleError{What: "file there", Name: path}
	case unsaved:
		return nil, &failure{app.Failure{Message: "it is shown once it is saved"}, http.StatusNotFound}
	}
	return e, nil
}

// Raw is a version of a file. It takes no turn with other requests, since a large file takes long to read.
func (s *space) Raw(ctx context.Context, args web.Args) (*web.Raw, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	if err := s.Know(ctx, args("id")); err != nil {
		return nil, told(err)
	}
	out, err := s.raw(ctx, args)
	if s.outdated(ctx, err) {
		out, err = s.raw(ctx, args)
	}
	return out, told(err)
}

func (s *space) raw(ctx context.Context, args web.Args) (*web.Raw, error) {
	release, err := s.P.Hold(ctx)
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
		e, err = s.versionOf(args("id"), file)
	} else {
		e, err = s.sideOf(ctx, args, file)
	}
	switch {
	case err != nil:
		return nil, err
	case args("side") != "" && e.Size > maxPicture:
		return nil, &failure{app.Failure{Message: app.Quote(file) + " is too large to be shown here"}, http.StatusForbidden}
	case e.Precious:
		return nil, &failure{app.Failure{Message: app.Quote(file) + " is precious: the page does not show what is in it",
			Hint: "rewind show " + app.ShellQuote(args("id")+":"+file)}, http.StatusForbidden}
	case e.Kind == manifest.Symlink:
		return &web.Raw{Name: path.Base(file), Size: uint64(len(e.Target)), ReadCloser: io.NopCloser(strings.NewReader(e.Target))}, nil
	}
	r, err := inspect.Content(ctx, s.P, *e)
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

func (s *space) file(ctx context.Context, args web.Args) (any, error) {
	release, err := s.P.Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	e, err := s.versionOf(args("id"), path)
	if err != nil {
		return nil, err
	}
	out := contentView{PathView: app.ViewPath(path), Size: e.Size, Hidden: e.Precious}
	switch {
	case out.Hidden:
		return out, nil
	case e.Kind == manifest.Symlink:
		out.Text = e.Target
		return out, nil
	}
	r, err := inspect.Content(ctx, s.P, *e)
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

// healthView is what is held and what is not.
type healthView struct {
	Status   report.StatusView  `json:"status"`
	Coverage []rows.ProblemView `json:"coverage"` // of the newest checkpoint
	Agents   string             `json:"agents"`   // as rewind status tells them
	Called   bool               `json:"called"`   // an agent calls rewind
}

func (s *space) health(ctx context.Context, _ web.Args) (any, error) {
	st, err := inspect.StatusOf(ctx, s.P)
	if err != nil {
		return nil, err
	}
	out := healthView{Status: report.ViewStatus(st, s.P.Settings()), Coverage: []rows.ProblemView{}}
	agents := report.ViewAgents(s.C.Env, s.P.Root())
	out.Agents, out.Called = report.AgentsText(agents), len(report.Calling(agents)) > 0
	if st.Last != nil {
		var all []problem.Problem
		if all, err = inspect.Coverage(ctx, s.P, st.Last.Checkpoint); err != nil {
			return nil, err
		}
		out.Coverage = rows.ViewProblems(all[:min(len(all), picker.MostFiles)])
	}
	return out, nil
}

// seriesView are sizes over time, a point for each checkpoint, oldest first.
type seriesView struct {
	Time    []int64  `json:"time"` // ms
	Stored  []uint64 `json:"stored"`
	Files   []uint64 `json:"files"`
	Bytes   []uint64 `json:"bytes"`
	Changed []uint64 `json:"changed"` // paths
}

func (s *space) series(ctx context.Context, _ web.Args) (any, error) {
	var out seriesView
	err := s.P.Query(ctx, func(db *manifest.DB) error {
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

// matchView is one thing that a search found.
type matchView struct {
	app.PathView
	Line     int          `json:"line"`
	Text     *string      `json:"text"`     // null: hidden
	Appeared string       `json:"appeared"` // checkpoint; "" for the working tree
	Vanished string       `json:"vanished"` // "" where it is still there
	Went     *picker.From `json:"went"`     // the row in which it vanished; null where it is still there
	Now      bool         `json:"now"`
	By       *picker.From `json:"by"` // the row in which it appeared; null where only the working tree has it
}

// search streams the lines in which a text appeared.
func (s *space) search(ctx context.Context, args web.Args, out io.Writer) error {
	m, err := search.Compile(search.Query{Patterns: []string{args("q")}, Fixed: args("regexp") == ""})
	if err != nil {
		return err
	}
	release, err := s.P.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	if args("in") == "talk" {
		return s.searchTalk(ctx, m, out)
	}
	enc := json.NewEncoder(out)
	makers := timeline.NewMakers(s.P, nil)
	found := 0
	_, err = search.Run(ctx, s.P, search.Options{Matcher: m}, func(sp search.Span) error {
		v := matchView{PathView: app.ViewPath(sp.Path), Line: sp.Line, Now: sp.Now}
		if !sp.Hidden {
			t := app.ViewPath(sp.Text).Path
			v.Text = &t
		}
		if sp.Appeared != nil {
			v.Appeared = sp.Appeared.ID.String()
		}
		if sp.Vanished != nil {
			v.Vanished = sp.Vanished.ID.String()
		}
		var err error
		if v.By, v.Went, err = picker.LineRows(ctx, makers, sp); err != nil {
			return err
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
		if found++; found == picker.MostFiles {
			return picker.ErrEnough
		}
		return nil
	})
	if errors.Is(err, picker.ErrEnough) {
		return nil
	}
	return err
}
