package picker

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// noLines says why a file has no lines that are shown.
var noLines = map[inspect.BlameReason]string{
	inspect.BlameGone: "the file is not there", inspect.BlameDirectory: "it is a directory", inspect.BlameLink: "it is a link, which has no lines",
	inspect.BlamePrecious: "it is precious: its lines are not shown here", inspect.BlameLarge: "it is too large to be shown line by line", inspect.BlameBinary: "it is no text",
}

// Written is a file line by line, at a checkpoint, or now with nil, and the row that made each run; nil for a run that no row
// tells of. Where it has no lines that are shown, why says so.
func (s *Source) Written(ctx context.Context, path string, at *manifest.Checkpoint) (b *inspect.Blamed, by []*From, why string, err error) {
	b, err = inspect.Blame(ctx, s.P, inspect.BlameOptions{Path: path, At: at})
	if not := (*inspect.NotBlamedError)(nil); errors.As(err, &not) {
		return nil, nil, noLines[not.Reason], nil
	}
	if none := (*project.NoPathError)(nil); errors.As(err, &none) {
		return nil, nil, noLines[inspect.BlameGone], nil
	}
	if err != nil {
		return nil, nil, "", err
	}
	makers, oldest := timeline.NewMakers(s.P, nil), uint64(timeline.ThenNow)
	for _, r := range b.Runs {
		if r.Seen != nil {
			oldest = min(oldest, r.Seen.Seq)
		}
	}
	makers.Reach(oldest)
	by = make([]*From, len(b.Runs))
	for i, r := range b.Runs {
		if r.Seen == nil {
			continue
		}
		made, err := makers.Maker(ctx, r.Path, r.Seen.Seq)
		if err != nil && !project.IsDamage(err) { // verify reports that
			return nil, nil, "", err
		}
		by[i] = FromRow(made.Row)
	}
	return b, by, "", nil
}

// Files are the paths below a directory, "" for the root, of all files that there ever were, sorted; and the newest checkpoint.
func (s *Source) Files(ctx context.Context, below string) (files []string, newest *manifest.Checkpoint, err error) {
	dirs := map[string]bool{}
	err = s.P.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Limit: 1, All: true}) {
			if err != nil {
				return err
			}
			newest = &c
		}
		for path, err := range db.Paths(below) {
			if err != nil {
				return err
			}
			for at := strings.LastIndexByte(path, '/'); at > 0 && !dirs[path[:at]]; at = strings.LastIndexByte(path[:at], '/') {
				dirs[path[:at]] = true
			}
			if below == "" || strings.HasPrefix(path, below+"/") {
				files = append(files, path)
			}
		}
		return nil
	})
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(path string) bool { return dirs[path] }), newest, err
}

// files are all files that there ever were, for the screen.
func (s *picking) files(ctx context.Context) (*screen.Found, error) {
	files, _, err := s.Files(ctx, "")
	out := &screen.Found{}
	for _, path := range files {
		out.Lines = append(out.Lines, screen.FoundLine{Path: screen.Ordered(app.EscapePath(path)), Raw: path})
	}
	return out, err
}

// left is the state that a row left, nil for the files as they are, and what it is called.
func (s *picking) left(ctx context.Context, r *timeline.Row) (at *manifest.Checkpoint, called string, err error) {
	at, known, err := StateAfter(ctx, s.P, r)
	switch c := r.Checkpoint; {
	case err != nil || known && at == nil, !known && c == nil:
		return nil, "now", err
	case !known:
		return &c.Checkpoint, "in " + numbered(c), nil
	case c != nil && c.ID == at.ID:
		return at, "in " + numbered(c), nil
	case c == nil:
		return at, "after the " + rows.OperationNoun(rows.OperationVerb(r.Operation)), nil
	default:
		return at, "after " + numbered(c), nil
	}
}

// numbered is a checkpoint's number; of one that has none, its id.
func numbered(l *project.Listed) string {
	if l.N > 0 {
		return app.Utoa(uint64(l.N))
	}
	return l.ID.String()[:app.ShortID]
}

// StateAfter is the state that a row left, where that is known; nil for the working tree.
func StateAfter(ctx context.Context, p *project.Project, r *timeline.Row) (at *manifest.Checkpoint, known bool, err error) {
	switch {
	case r.To == nil:
		return nil, false, nil
	case r.To.Now:
		return nil, true, nil
	case r.To.ID == (manifest.CheckpointID{}):
		return nil, false, nil // the state after an operation, which has no checkpoint
	}
	l, err := app.Resolve(ctx, p, r.To.ID.String())
	return &l.Checkpoint, err == nil, err
}

// blame is a file line by line, at a row or now, for the screen.
func (s *picking) blame(ctx context.Context, path, id string) (*screen.Found, error) {
	at, when := (*manifest.Checkpoint)(nil), "now"
	if r, err := s.Row(id); err == nil {
		if at, when, err = s.left(ctx, r); err != nil {
			return nil, err
		}
	}
	b, by, why, err := s.Written(ctx, path, at)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, err
	}
	out := &screen.Found{At: when}
	for i, r := range b.Runs {
		f := screen.FoundLine{Path: screen.Ordered(app.EscapePath(path)), Raw: path, Came: "not known"}
		if from := by[i]; from != nil {
			who := rows.RunWho(r)
			if who == "" {
				who = from.Why + " " + from.Text
			}
			f.CameID, f.Came = from.ID, strings.Join(strings.Fields(from.N+" "+screen.Ordered(who)), " ")
		} else if r.Seen == nil && r.Step != nil {
			f.CameID, f.Came = "@", "now"
		}
		for n := range r.Count {
			f.Line = r.Start + n + 1
			f.Text = screen.Ordered(screen.Untab(app.EscapeLine(screen.Clip(strings.TrimRight(b.Lines[r.Start+n], "\r\n"), 400))))
			out.Lines = append(out.Lines, f)
		}
	}
	return out, nil
}
