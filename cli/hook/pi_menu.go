package hook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/manifest"
)

// maxPreview is how many paths a preview names.
const maxPreview = 8

// piTarget is what an entry can be gone back to, and what the last restore can be.
type piTarget struct {
	point *manifest.Checkpoint // nil: no files are bound to the entry
	undo  *manifest.Checkpoint // from before the last restore of the session's lineage; nil: none
	redo  bool                 // that restore was an undo itself
}

func (c *piCall) target(ctx context.Context) (t piTarget, err error) {
	last, undone, err := oplog.LastRestore(ctx, c.Project, c.q.Session, c.event.PreviousSessionID)
	if err != nil {
		return t, err
	}
	err = c.Project.Query(ctx, func(db *manifest.DB) error {
		family, err := c.lineage(db)
		if err != nil {
			return err
		}
		if found, ok, err := conversation.Bound(db, family, c.q.Entry); err != nil {
			return err
		} else if ok {
			t.point = &found
		}
		if last == nil {
			return nil
		}
		found, ok, err := db.ByID(last.Safety)
		if ok {
			t.undo, t.redo = &found, undone
		}
		return err
	})
	return t, err
}

// options are what the person can choose, with a preview of what would change.
func (c *piCall) options(ctx context.Context) {
	if c.olderExtension() != "" {
		return // it has menus of its own
	}
	t, err := c.target(ctx)
	if err != nil {
		c.failed(err)
		return
	}
	lines := []string{"Restore options"}
	preview := func(what string, to *manifest.Checkpoint) bool {
		if to == nil {
			return false
		}
		would, err := restore.Restore(ctx, c.Project, restore.Options{Checkpoint: *to, Half: conversation.CodeOnly, DryRun: true, By: c.q.Session})
		if err != nil {
			c.Project.NoteHookError(err)
			lines = append(lines, what+": not possible: "+app.Explain(err).Message)
			return false
		}
		lines = append(lines, what+": "+previewLine(would))
		lines = append(lines, previewPaths(would)...)
		return true
	}
	undoing := "Undoing the last rewind would change"
	if t.redo {
		undoing = fmt.Sprintf("%q (the last restore was an undo: this redoes it) would change", hookio.PiUndo)
	}
	c.answer.Options = hookio.PiOptionsAt(c.q.Menu, preview("Restoring would change", t.point), preview(undoing, t.undo))
	c.answer.Title = strings.Join(lines, "\n")
}

// previewLine is what a restore would change, in a line.
func previewLine(r *restore.Restored) string {
	var parts []string
	created, emptyCreated := r.Count(r.Create)
	deleted, emptyDeleted := r.Count(r.Delete)
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{len(r.Replace), "changed", "changed"}, {created, "created", "created"}, {emptyCreated, "empty directory created", "empty directories created"},
		{deleted, "deleted", "deleted"}, {emptyDeleted, "empty directory deleted", "empty directories deleted"},
		{len(r.Mode), "with the mode changed", "with the mode changed"}, {len(r.Skip), "skipped", "skipped"},
	} {
		if p.n > 0 {
			parts = append(parts, app.Plural(p.n, p.one, p.many))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func previewPaths(r *restore.Restored) (lines []string) {
	total := 0
	for _, group := range []struct {
		letter string
		paths  []string
	}{{"~", r.Replace}, {"+", r.Named(r.Create)}, {"-", r.Named(r.Delete)}, {"m", r.Mode}} {
		for _, path := range group.paths {
			if total++; total <= maxPreview {
				lines = append(lines, "  "+group.letter+" "+app.EscapePath(path))
			}
		}
	}
	if total > maxPreview {
		lines = append(lines, fmt.Sprintf("  and %d more", total-maxPreview))
	}
	lines = append(lines, report.OthersText("Also undoes", "Undoes", r)...)
	if text := report.GitFact(r, true); text != "" {
		lines = append(lines, text)
	}
	return lines
}

// apply carries out what the person chose.
func (c *piCall) apply(ctx context.Context) {
	wanted, undo, cancel, err := hookio.PiDoes(c.q.Menu, c.q.Choice)
	if err != nil {
		c.failed(err)
		return
	}
	c.answer.Cancel = cancel
	if !wanted && !undo {
		return
	}
	t, err := c.target(ctx)
	to := t.point
	if undo {
		to = t.undo
	}
	if err == nil && to == nil {
		err = &project.NoCheckpointError{Spec: c.q.Session + ":" + c.q.Entry, Reason: "no files are bound to that entry"}
		if undo {
			err = &project.NothingError{What: "undo"}
		}
	}
	if err != nil {
		c.failed(err)
		return
	}
	o := restore.Options{Checkpoint: *to, Half: conversation.CodeOnly, By: c.q.Session}
	if wanted && !cancel { // pi goes there itself
		o.Along = c.q.Session
	}
	done, err := restore.Restore(ctx, c.Project, o)
	if err != nil {
		c.failed(err)
		return
	}
	if left := problem.FailedOf(done.Skip); len(left) > 0 {
		c.partly(done, left)
		return
	}
	if report.Changed(done) {
		text := "Files restored: " + previewLine(done) + "."
		if git := report.GitFact(done, false); git != "" {
			text += " " + git
		}
		c.notice("info", "", text)
	} else {
		c.notice("info", "", "The files are as they were: nothing was restored.")
	}
}

// maxFailedPaths is how many paths a notice names that could not be restored.
const maxFailedPaths = 3

// partly tells of a restore that left paths as they were, and keeps the conversation where it is.
func (c *piCall) partly(done *restore.Restored, left []problem.Problem) {
	c.Project.NoteHookError(&app.PartialError{Verb: "restored", Paths: left})
	named := app.FirstNamed(left, maxFailedPaths, func(p problem.Problem) string { return fmt.Sprintf("%s (%s)", app.EscapePath(p.Path), p.Reason) })
	did, level := "nothing was restored", "error"
	restored := len(done.Named(done.Create)) + len(done.Replace) + len(done.Named(done.Delete)) + len(done.Mode)
	if restored > 0 {
		did, level = app.Plural(restored, "path was restored", "paths were restored"), "warning"
	}
	text := fmt.Sprintf("rewind: %s, %d could not be: %s", did, len(left), strings.Join(named, ", "))
	if !c.answer.Cancel { // else the choice says so itself
		c.answer.Cancel = true
		what := "navigation"
		if c.q.Menu == "fork" {
			what = "fork"
		}
		text += "; the " + what + " was cancelled"
	}
	if restored > 0 {
		text += fmt.Sprintf("; %q takes it back", hookio.PiUndo)
	}
	if git := report.GitFact(done, false); git != "" {
		text += ". " + git
	}
	c.notice(level, "", text)
}

// maxPoints is how many points /rewind lists.
const maxPoints = 200

// points is the list of /rewind, the newest first: a row for each entry, which says what the entry is.
func (c *piCall) points(ctx context.Context) {
	points, err := c.pointsOf(ctx)
	if err != nil {
		c.failed(err)
		return
	}
	if len(points) == 0 {
		c.notice("warning", "", "rewind: there are no points in this session yet")
		return
	}
	place := map[string]int{} // of an entry in the session, from 1
	for i, e := range c.q.Entries {
		place[e.ID] = i + 1
	}
	// The log has the entries of a turn at once, the session has their order.
	slices.SortStableFunc(points, func(a, b conversation.Point) int { return cmp.Compare(place[b.Entry], place[a.Entry]) })
	c.answer.Title = fmt.Sprintf("%s of this session, newest first", app.Plural(len(points), "point", "points"))
	now := c.Env.Time()
	for i, p := range points[:min(len(points), maxPoints)] {
		at := p.Checkpoint
		what, text := string(at.Kind), at.Prompt // an older extension does not say what the entry is
		if n := place[p.Entry]; n > 0 {
			what, text = c.q.Entries[n-1].Word(), c.q.Entries[n-1].Text
		}
		label := fmt.Sprintf("%d  %s ago  %s", i+1, app.FormatAge(now.Sub(at.Time)), what)
		if text != "" {
			label += "  " + screen.Clip(strings.Join(strings.Fields(text), " "), 50)
		}
		label += fmt.Sprintf("  +%d ~%d -%d  %s  entry %s", at.Added, at.Modified, at.Deleted, at.ID, p.Entry)
		c.answer.Points = append(c.answer.Points, hookio.PiPoint{Entry: p.Entry, Label: label})
	}
}
