package picker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	MostPatched = 200  // files of a look whose lines are compared
	mostLines   = 5000 // of its diff
	MostFiles   = 5000 // of its list
)

var ErrEnough = errors.New("enough was seen")

// lookAt is what a row is about: its own changes, or what differs between it and another one or now.
func (s *picking) lookAt(ctx context.Context, a screen.Ask) (*screen.Look, error) {
	if a.Other != "" { // the end of an attempt may be in no row
		if err := s.Know(ctx, a.ID, a.Other); err != nil {
			return nil, err
		}
	}
	r, err := s.Row(a.ID)
	if err != nil {
		return nil, err
	}
	other := a.Other
	if other == "" && a.Now {
		other = "@"
	}
	files, title, err := s.Differing(ctx, r, other)
	if err == nil {
		title, err = s.OwnFirst(ctx, r, other, files, title)
	}
	if err != nil {
		return nil, err
	}
	out := &screen.Look{Title: title}
	var lines []string
	if other == "" {
		if lines, err = s.GitOf(r); err != nil {
			return nil, err
		}
	}
	moved, err := s.HeadMoved(ctx, r, other)
	if err != nil {
		return nil, err
	}
	if moved != nil {
		lines = slices.Insert(lines, min(1, len(lines)), "git: "+rows.HeadMovedText(moved))
	}
	for _, text := range lines {
		out.Diff = append(out.Diff, screen.Text(screen.Cyan, text))
	}
	if len(lines) > 0 && len(files) > 0 {
		out.Diff = append(out.Diff, nil)
	}
	showFiles(out, files)
	if a.Other == "" {
		out.Talk, out.Here = s.talk(ctx, r)
	}
	return out, nil
}

// GitOf says where git's HEAD was in a row, and what git did until the next.
func (s *Source) GitOf(r *timeline.Row) (lines []string, err error) {
	if l := r.Checkpoint; l != nil {
		stashes, err := inspect.Stashes(s.P, l.Checkpoint)
		if err != nil {
			return nil, err
		}
		if at := rows.GitAt(l.Checkpoint, stashes); at != "" {
			lines = append(lines, "git: on "+at)
		}
	}
	for _, e := range r.Git() {
		lines = append(lines, "git, after it: "+rows.GitText(e))
	}
	return lines, nil
}

// HeadMoved says whether git's HEAD moved from the checkpoint before a row to the row (""), or between it and another row, or now ("@");
// nil: it did not.
func (s *Source) HeadMoved(ctx context.Context, r *timeline.Row, other string) (*inspect.HeadMoved, error) {
	switch {
	case r.Checkpoint == nil:
		return nil, nil
	case other == "":
		return inspect.HeadCame(ctx, s.P, r.Checkpoint.Checkpoint)
	case other == "@":
		return inspect.HeadMoves(s.P, r.Checkpoint.Checkpoint, nil), nil
	}
	to, err := s.Checkpoint(other)
	if err != nil {
		return nil, err
	}
	from := r.Checkpoint
	if from.Seq > to.Seq {
		from, to = to, from
	}
	return inspect.HeadMoves(s.P, from.Checkpoint, &to.Checkpoint), nil
}

// Differing are the files between two rows, between a row and now ("@"), or those that a row changed (""), under a title.
func (s *Source) Differing(ctx context.Context, r *timeline.Row, other string) ([]inspect.FileDiff, string, error) {
	from := r.Checkpoint
	switch {
	case other == "":
		files, err := s.OwnFiles(ctx, r)
		return files, LookTitle(r), err
	case from == nil:
		return nil, "", &app.StaleError{What: "checkpoint", Name: bareRow(r, timeline.Counts{}).ID}
	case other == "@":
		files, err := s.between(ctx, from.Checkpoint, nil)
		return files, "from " + rows.Clipped(from) + " to now", err
	}
	to, err := s.Checkpoint(other)
	if err != nil {
		return nil, "", err
	}
	if from.Seq > to.Seq {
		from, to = to, from
	}
	files, err := s.between(ctx, from.Checkpoint, &to.Checkpoint)
	return files, "from " + rows.Clipped(from) + " to " + rows.Clipped(to), err
}

// OwnFirst puts what only others changed last, if two attempts at a prompt are compared; the title that it returns says so. Other
// files and their title stay as they are.
func (s *Source) OwnFirst(ctx context.Context, r *timeline.Row, other string, files []inspect.FileDiff, title string) (string, error) {
	from, end := r.Checkpoint, "now"
	if other == "" || from == nil {
		return title, nil
	}
	var until *manifest.Checkpoint
	if other != "@" {
		to, err := s.Checkpoint(other)
		if err != nil {
			return title, err
		}
		if from.Seq > to.Seq {
			from, to = to, from
		}
		until, end = &to.Checkpoint, rows.Clipped(to)
	}
	apart, err := inspect.ApartOf(ctx, s.P, &from.Checkpoint, until)
	if apart == nil || err != nil {
		return title, err
	}
	title = fmt.Sprintf("attempt %d (%s) to attempt %d (%s)", apart.A, rows.Clipped(from), apart.B, end)
	if n := apart.Sort(files); n > 0 {
		title += "; last: " + app.Plural(n, "path", "paths") + " of others"
	}
	return title, nil
}

// between are the files that differ, with patches where they are not many; to is nil for the working tree.
func (s *Source) between(ctx context.Context, from manifest.Checkpoint, to *manifest.Checkpoint) ([]inspect.FileDiff, error) {
	o := inspect.DiffOptions{A: from, B: to}
	files, err := inspect.Diff(ctx, s.P, o)
	if err == nil && len(files) <= MostPatched {
		o.Patch = true
		files, err = inspect.Diff(ctx, s.P, o)
	}
	return files, err
}

// OwnFiles are the files that a row changed, with patches of the first of them.
func (s *Source) OwnFiles(ctx context.Context, r *timeline.Row) ([]inspect.FileDiff, error) {
	switch {
	case r.To == nil:
		return nil, nil
	case r.To.Now && r.From != nil && r.From.ID != (manifest.CheckpointID{}):
		return s.between(ctx, manifest.Checkpoint{ID: r.From.ID}, nil)
	}
	return s.changed(ctx, r, s.Present())
}

// changed are the files of a row, and the lines of the first of them. What only the working tree has
// is in no store: of that there are no lines.
func (s *Source) changed(ctx context.Context, r *timeline.Row, present *timeline.Present) ([]inspect.FileDiff, error) {
	release, err := s.P.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var files []inspect.FileDiff
	err = r.Changes(ctx, s.P, present, func(c manifest.Change) error {
		if c.Old == nil && c.New.Kind == manifest.Subdir || c.New == nil && c.Old.Kind == manifest.Subdir {
			return nil
		}
		if files = append(files, inspect.FileDiff{Change: c}); len(files) > MostFiles {
			return ErrEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	for i := range files[:min(len(files), MostPatched)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.To.Now {
			break
		}
		d, err := inspect.StepDiff(s.P, &inspect.Step{Change: files[i].Change}, false)
		if err != nil {
			return nil, err
		}
		files[i] = d
	}
	return files, nil
}

// showFiles puts files and their patches into a look.
func showFiles(out *screen.Look, files []inspect.FileDiff) {
	for i, d := range files {
		f := screen.File{Path: screen.Ordered(app.EscapePath(d.Path)), Raw: d.Path, Status: string(rows.Letter(d.Change)), Plus: d.Added, Minus: d.Deleted, At: len(out.Diff)}
		out.Files = append(out.Files, f)
		if out.More = len(out.Files) == MostFiles && len(files) > MostFiles; out.More {
			out.Diff = append(out.Diff, screen.Text(screen.Dim, "and more files"))
			return
		}
		switch {
		case len(out.Diff) >= mostLines:
			continue
		case d.Patch == "":
			out.Diff = append(out.Diff, screen.Text(screen.Bold, rows.ModeLine(d)))
		default:
			out.Diff = append(out.Diff, screen.Text(screen.Bold, f.Status+" "+f.Path))
			out.Diff = append(out.Diff, patchLines(d.Patch, mostLines-len(out.Diff))...)
		}
		if len(out.Diff) >= mostLines && i < len(files)-1 {
			out.Diff = append(out.Diff, screen.Text(screen.Dim, "and more: rewind diff shows all of it"))
		}
	}
}

// patchLines are the lines of a patch in colours, at most n of them. Of its head only what says more than the name stays.
func patchLines(patch string, n int) (out []screen.Line) {
	header := true
	for text := range strings.SplitSeq(strings.TrimSuffix(patch, "\n"), "\n") {
		if len(out) == n {
			break
		}
		text = strings.TrimSuffix(text, "\r")
		style := screen.Plain
		switch {
		case strings.HasPrefix(text, "diff --"):
			header = true
			continue
		case strings.HasPrefix(text, "@@"):
			header, style = false, screen.Cyan
		case header && (strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "+++ ") || strings.HasPrefix(text, "index ")):
			continue
		case header:
			style = screen.Bold
		case strings.HasPrefix(text, "+"):
			style = screen.Green
		case strings.HasPrefix(text, "-"):
			style = screen.Red
		}
		const longest = 2000 // bytes: more of a line is not readable here
		if len(text) > longest {
			text = strings.ToValidUTF8(text[:longest], "") + "…"
		}
		out = append(out, screen.Text(style, screen.Ordered(screen.Untab(app.EscapeLine(text)))))
	}
	return out
}

// log are the operations, the newest first, each with what it was about.
func (s *picking) log(ctx context.Context) ([]screen.Line, error) {
	ops, err := oplog.OperationLog(ctx, s.P, 200)
	if err != nil {
		return nil, err
	}
	out := []screen.Line{screen.Text(screen.Bold, "  Operations, newest first"), nil}
	bySeq := map[uint64]*oplog.Logged{}
	for i := range ops {
		bySeq[ops[i].Seq] = &ops[i]
	}
	for i := range ops {
		about, err := s.aboutOf(ctx, &ops[i], bySeq)
		if err != nil {
			return nil, err
		}
		out = append(out, screen.Line{{Text: fmt.Sprintf("  %4s  ", app.FormatAge(s.C.Out.Now().Sub(ops[i].Time))), Style: screen.Dim},
			{Text: app.Pad(app.Escape(restore.VerbOf(ops[i].Operation)), 14), Style: screen.Cyan}, {Text: screen.Ordered(about)}})
	}
	if len(ops) == 0 {
		out = append(out, screen.Text(screen.Plain, "  none yet"))
	}
	return out, nil
}

// aboutOf says what an operation was about: what it took back, where it went, or whose work it reverted.
func (s *picking) aboutOf(ctx context.Context, op *oplog.Logged, ops map[uint64]*oplog.Logged) (string, error) {
	if n := len(op.TakesBack); n > 0 {
		last := ops[op.TakesBack[0]]
		if n > 1 || last == nil {
			return app.Plural(n, "operation", "operations"), nil
		}
		about, err := s.aboutOf(ctx, last, ops)
		return strings.TrimSpace("of the " + rows.OperationNoun(restore.VerbOf(last.Operation)) + " " + about), err
	}
	switch {
	case op.Target != nil && op.Target.Kind == manifest.Safety:
		for _, o := range ops {
			if o.Safety == op.Target.ID {
				return "to the state before the " + rows.OperationNoun(restore.VerbOf(o.Operation)) + ", " + app.Ago(s.C.Out, o.Time), nil
			}
		}
		return "to " + rows.Clipped(op.Target), nil
	case op.Target != nil:
		return "to " + rows.Clipped(op.Target), nil
	case op.Checkpoint != (manifest.CheckpointID{}):
		return "to " + op.Checkpoint.String()[:app.ShortID], nil
	}
	return s.plans.Reverted(ctx, op.Operation), nil
}

// LookTitle is the heading above the changes of a row.
func LookTitle(r *timeline.Row) string {
	if r.Kind == timeline.Now {
		return "what changed since"
	}
	return map[timeline.Side]string{timeline.Since: "what came before it", timeline.Did: "what it did", timeline.After: "what came after it"}[r.Side]
}
