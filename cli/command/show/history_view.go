package show

import (
	"context"
	"fmt"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

// HistoryView is what history --json prints; docs/schema/history.schema.json describes it.
type HistoryView struct {
	app.PathView
	Now         *stepView           `json:"now"`         // null: the working tree is as the newest checkpoint
	NowMadeBy   *rows.MadeByView    `json:"now_made_by"` // the row of list that has the present changes; null: there is none, or a person alone made them
	Checkpoints []checkpointStepped `json:"checkpoints"`
	More        bool                `json:"more"` // there are older ones
}

// checkpointStepped is a checkpoint with what it did to the path.
type checkpointStepped struct {
	rows.CheckpointView
	Change stepView         `json:"change"`
	MadeBy *rows.MadeByView `json:"made_by"` // null: it was there already in the oldest checkpoint
}

type stepView struct {
	app.PathView               // as it is called after the step
	Kind         string        `json:"kind"` // created changed deleted renamed mode kind not-captured
	From         *app.PathView `json:"from"` // of renamed
	To           *app.PathView `json:"to"`   // of deleted: what the same checkpoint renamed it to
	LinesAdded   int           `json:"lines_added"`
	LinesDeleted int           `json:"lines_deleted"`
	Binary       bool          `json:"binary"`
	Precious     bool          `json:"precious"`
	OldMode      *string       `json:"old_mode"`
	NewMode      *string       `json:"new_mode"`
	OldHash      *string       `json:"old_hash"`
	NewHash      *string       `json:"new_hash"`
	Below        *belowView    `json:"below"` // of a directory: the files in it that changed
	Patch        *string       `json:"patch,omitempty"`
}

type belowView struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
}

func (v *historyPrinter) json(ctx context.Context, path string) error {
	doc := HistoryView{PathView: app.ViewPath(path), Checkpoints: []checkpointStepped{}, More: v.More}
	err := v.Each(ctx, func(s rows.Stepped) error {
		view := v.step(s.Step, s.D)
		if s.Now {
			doc.Now = &view
			if o := s.By.Owner; s.By.Row != nil || o != nil && len(o.Works()) > 0 {
				doc.NowMadeBy = rows.ViewMaker(ctx, v.M, s.By)
			}
		} else {
			doc.Checkpoints = append(doc.Checkpoints, checkpointStepped{rows.ViewCheckpoint(s.Listed), view, rows.ViewMaker(ctx, v.M, s.By)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.c.Out.Document(doc)
}

func (v *historyPrinter) step(s *inspect.Step, d inspect.FileDiff) stepView {
	w := stepView{
		PathView: app.ViewPath(s.Path), Kind: string(s.What), LinesAdded: d.Added, LinesDeleted: d.Deleted,
		Binary: d.Binary, Precious: s.Change.Precious(),
	}
	named := func(path string) *app.PathView {
		if path == "" {
			return nil
		}
		p := app.ViewPath(path)
		return &p
	}
	w.From, w.To = named(s.From), named(s.To)
	side := func(e *manifest.Entry) (mode, hash *string) {
		if e == nil {
			return nil, nil
		}
		if e.Kind != manifest.Symlink {
			hash = rows.ViewID(e.ID)
		}
		m := fmt.Sprintf("%04o", e.Mode)
		return &m, hash
	}
	w.OldMode, w.OldHash = side(s.Change.Old)
	w.NewMode, w.NewHash = side(s.Change.New)
	if s.IsDir() {
		w.Below = &belowView{s.Below.Added, s.Below.Modified, s.Below.Deleted}
	} else if v.patch {
		w.Patch = &d.Patch
	}
	return w
}
