package cli

import (
	"context"
	"fmt"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

// historyView is what history --json prints; docs/schema/history.schema.json describes it.
type historyView struct {
	pathView
	Now         *stepView           `json:"now"`         // null: the working tree is as the newest checkpoint
	NowMadeBy   *madeByView         `json:"now_made_by"` // the row that list tells now under; null: none, or nobody but a person
	Checkpoints []checkpointStepped `json:"checkpoints"`
	More        bool                `json:"more"` // there are older ones
}

// checkpointStepped is a checkpoint with what it did to the path.
type checkpointStepped struct {
	checkpointView
	Change stepView    `json:"change"`
	MadeBy *madeByView `json:"made_by"` // null: it was there already in the oldest checkpoint
}

type stepView struct {
	pathView                // as it is called after the step
	Kind         string     `json:"kind"` // created changed deleted renamed mode kind not-captured
	From         *pathView  `json:"from"` // of renamed
	To           *pathView  `json:"to"`   // of deleted: what the same checkpoint renamed it to
	LinesAdded   int        `json:"lines_added"`
	LinesDeleted int        `json:"lines_deleted"`
	Binary       bool       `json:"binary"`
	Precious     bool       `json:"precious"`
	OldMode      *string    `json:"old_mode"`
	NewMode      *string    `json:"new_mode"`
	OldHash      *string    `json:"old_hash"`
	NewHash      *string    `json:"new_hash"`
	Below        *belowView `json:"below"` // of a directory: the files in it that changed
	Patch        *string    `json:"patch,omitempty"`
}

type belowView struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
}

func (v *historyPrinter) json(ctx context.Context, path string) error {
	doc := historyView{pathView: viewPath(path), Checkpoints: []checkpointStepped{}, More: v.h.More}
	err := v.each(ctx, func(s stepped) error {
		view := v.step(s.Step, s.d)
		if s.now {
			doc.Now = &view
			if o := s.by.Owner; s.by.Row != nil || o != nil && len(o.Works()) > 0 {
				doc.NowMadeBy = viewMaker(ctx, v.m, s.by)
			}
		} else {
			doc.Checkpoints = append(doc.Checkpoints, checkpointStepped{viewCheckpoint(s.Listed), view, viewMaker(ctx, v.m, s.by)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.c.out.document(doc)
}

func (v *historyPrinter) step(s *inspect.Step, d inspect.FileDiff) stepView {
	w := stepView{
		pathView: viewPath(s.Path), Kind: string(s.What), LinesAdded: d.Added, LinesDeleted: d.Deleted,
		Binary: d.Binary, Precious: s.Change.Precious(),
	}
	named := func(path string) *pathView {
		if path == "" {
			return nil
		}
		p := viewPath(path)
		return &p
	}
	w.From, w.To = named(s.From), named(s.To)
	side := func(e *manifest.Entry) (mode, hash *string) {
		if e == nil {
			return nil, nil
		}
		if e.Kind != manifest.Symlink {
			hash = viewID(e.ID)
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
