package page

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// someHunks are what a restore takes of one file. A hunk is named by its text, so that it is what the person saw.
type someHunks struct {
	Path  string   `json:"path"`
	Texts []string `json:"texts"`
}

// hunks are what a restore of one file to a checkpoint would change, in parts.
func (s *space) hunks(ctx context.Context, args web.Args) (any, error) {
	l, err := s.Checkpoint(args("id"))
	if err != nil {
		return nil, err
	}
	out := []string{}
	f, err := s.hunksOf(ctx, l.Checkpoint, pagePath(args("path")))
	if f != nil {
		for _, h := range f.Hunks {
			out = append(out, f.Hunk(h))
		}
	}
	return map[string]any{"hunks": out}, err
}

// hunksOf is a file in parts; nil where it differs no more.
func (s *space) hunksOf(ctx context.Context, to manifest.Checkpoint, path string) (*restore.FileHunks, error) {
	files, err := restore.Hunks(ctx, s.P, inspect.DiffOptions{A: to, Paths: pathspec.Literal([]string{path})})
	if i := slices.IndexFunc(files, func(f *restore.FileHunks) bool { return f.Path == path }); err == nil && i >= 0 {
		return files[i], nil
	}
	return nil, err
}

// partsOf are the chosen hunks for a plan.
func (s *space) partsOf(ctx context.Context, to manifest.Checkpoint, a *someHunks) (*plan.Parts, error) {
	f, err := s.hunksOf(ctx, to, pagePath(a.Path))
	if err != nil {
		return nil, err
	}
	choice := restore.HunkChoice{File: f}
	if f != nil {
		for _, h := range f.Hunks {
			if slices.Contains(a.Texts, f.Hunk(h)) {
				choice.Hunks = append(choice.Hunks, h)
			}
		}
	}
	if len(choice.Hunks) != len(a.Texts) || len(a.Texts) == 0 {
		return nil, &app.StaleError{What: "hunk", Known: true}
	}
	text := fmt.Sprintf("%d of %s of ", len(choice.Hunks), app.Plural(len(f.Hunks), "hunk", "hunks"))
	return &plan.Parts{Hunks: []restore.HunkChoice{choice}, Text: text + app.EscapePath(f.Path), Brief: text + app.EscapePath(path.Base(f.Path))}, nil
}
