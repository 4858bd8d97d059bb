package picker

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/plan"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/restore"
)

// shownHunk is a hunk that the picker has shown.
type shownHunk struct {
	file *restore.FileHunks
	hunk linediff.Hunk
	of   int // hunks that its file has; 0 where it is part of one of them
}

// hunksIn are what a restore changes in one file, in parts.
func (s *picking) hunksIn(ctx context.Context, a screen.Ask) (*screen.Hunks, error) {
	l, err := s.Checkpoint(a.ID)
	if err != nil {
		return nil, err
	}
	files, err := restore.Hunks(ctx, s.P, inspect.DiffOptions{A: l.Checkpoint, Paths: pathspec.Literal(strings.Split(a.Paths, "\x00"))})
	if err != nil {
		return nil, err
	}
	f, err := hunksOf(files, strings.TrimSuffix(a.Paths, "\x00"))
	if err != nil {
		return nil, err
	}
	return s.showHunks(f), nil
}

// hunksOf is one path's.
func hunksOf(files []*restore.FileHunks, name string) (*restore.FileHunks, error) {
	i := slices.IndexFunc(files, func(f *restore.FileHunks) bool { return f.Path == name })
	if i < 0 {
		return nil, fmt.Errorf("%s has no hunks; space restores all of it", app.EscapePath(name))
	}
	return files[i], nil
}

// showHunks gives hunks to the screen, and keeps what their ids mean.
func (s *picking) showHunks(f *restore.FileHunks) *screen.Hunks {
	out := &screen.Hunks{Head: patchLines(f.Head, mostLines)}
	left := mostLines
	show := func(h linediff.Hunk, of int) screen.Hunk {
		id := app.Utoa(uint64(len(s.hunks) + 1))
		s.hunks[id] = shownHunk{f, h, of}
		part := screen.Hunk{ID: id, Lines: patchLines(f.Hunk(h), left+1)}
		if left -= len(part.Lines); left < 0 {
			left = 0
			part.Lines = append(part.Lines, screen.Text(screen.Dim, "and more: rewind diff shows all of it"))
		}
		return part
	}
	for _, h := range f.Hunks {
		part := show(h, len(f.Hunks))
		if len(h.Changes) > 1 {
			for _, p := range f.Split(h) {
				part.Split = append(part.Split, show(p, 0))
			}
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// choices are what an ask takes of files in part. In words it is all that it takes.
func (s *picking) choices(a screen.Ask) (*plan.Parts, error) {
	var choices []restore.HunkChoice
	hunks, of, split := 0, 0, false
	for id := range strings.SplitSeq(strings.TrimSuffix(a.Parts, "\x00"), "\x00") {
		shown, ok := s.hunks[id]
		if !ok {
			return nil, errors.New("those hunks no longer exist; f shows the current ones")
		}
		hunks, split = hunks+1, split || shown.of == 0
		i := slices.IndexFunc(choices, func(c restore.HunkChoice) bool { return c.File == shown.file })
		if i < 0 {
			i, of = len(choices), shown.of
			choices = append(choices, restore.HunkChoice{File: shown.file})
		}
		choices[i].Hunks = append(choices[i].Hunks, shown.hunk)
	}
	count := app.Plural(hunks, "hunk", "hunks")
	if len(choices) == 1 && !split {
		count = fmt.Sprintf("%d of %s", hunks, app.Plural(of, "hunk", "hunks"))
	}
	name := choices[0].File.Path
	full, brief := count+" of "+app.EscapePath(name), count+" of "+app.EscapePath(path.Base(name))
	if len(choices) > 1 {
		full = fmt.Sprintf("%s of %d files", count, len(choices))
		brief = full
	}
	if n := strings.Count(a.Paths, "\x00"); n > 0 {
		whole := " and " + app.Plural(n, "whole path", "whole paths")
		full, brief = full+whole, brief+whole
	}
	return &plan.Parts{Hunks: choices, Text: full, Brief: brief}, nil
}
