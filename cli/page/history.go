package page

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
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
	Large   bool         `json:"large,omitempty"` // as of a fileDiffView
	Hidden  bool         `json:"hidden,omitempty"`
	Patch   string       `json:"patch,omitempty"`
	Made    string       `json:"made"`            // why and text of that row, as rewind history tells it
	Whose   string       `json:"whose,omitempty"` // who changed it there; "" where it is not known
	By      *picker.From `json:"by"`              // the row that made it; null where none tells
}

// Bounds of an answer: without what made each version, and with it.
const firstVersions, mostVersions = 50, 200

func (s *space) history(ctx context.Context, args web.Args) (any, error) {
	release, err := s.P.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	path := pagePath(args("path"))
	bare, limit := args("bare") != "", mostVersions
	if bare { // what is shown first
		limit = firstVersions
	}
	h, err := inspect.History(ctx, s.P, inspect.HistoryOptions{Path: path, Limit: limit})
	if none := (*project.NoPathError)(nil); errors.As(err, &none) {
		return nil, &failure{app.Explain(rows.NoHistory(err)), http.StatusNotFound}
	}
	if err != nil {
		return nil, err
	}
	v := rows.NewHistory(ctx, s.P, h)
	v.Bare = bare
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
			Added: st.D.Added, Deleted: st.D.Deleted, Binary: st.D.Binary && !st.D.Large, Large: st.D.Large, Hidden: st.D.Hidden, Patch: st.D.Patch}
		if len(w.Patch) > longestPatch {
			w.Patch = ""
		}
		if !st.Now {
			w.ID, w.Time = st.ID.String(), app.ViewTime(st.Time)
		}
		if bare {
			out.Versions = append(out.Versions, w)
			return nil
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
