package cli

import (
	"context"
	"fmt"
	"strings"

	"rewind/cli/screen"
	"rewind/engine"
	"rewind/engine/conversation"
	"rewind/engine/problem"
	"rewind/engine/project"
	"rewind/hookio"
	"rewind/manifest"
)

// maxPreview is how many paths a preview names.
const maxPreview = 8

// piTarget is what an entry can be gone back to, and what the last restore can be.
type piTarget struct {
	point *manifest.Checkpoint // nil: no files are bound to the entry
	undo  *manifest.Checkpoint // from before the last restore of the session's lineage; nil: none
}

func (c *piCall) target(ctx context.Context) (t piTarget, err error) {
	last, err := engine.LastRestore(ctx, c.Project, c.q.Session, c.event.PreviousSessionID)
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
			t.undo = &found
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
		would, err := engine.Restore(ctx, c.Project, engine.RestoreOptions{Checkpoint: *to, Half: conversation.CodeOnly, DryRun: true, By: c.q.Session})
		if err != nil {
			c.Project.NoteHookError(err)
			lines = append(lines, what+": not possible: "+explain(err).message)
			return false
		}
		lines = append(lines, what+": "+previewLine(would))
		lines = append(lines, previewPaths(would)...)
		return true
	}
	c.answer.Options = hookio.PiOptionsAt(c.q.Menu, preview("Restoring would change", t.point), preview("Undoing the last rewind would change", t.undo))
	c.answer.Title = strings.Join(lines, "\n")
}

// previewLine is what a restore would change, in a line.
func previewLine(r *engine.Restored) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{len(r.Replace), "changed"}, {len(r.Create), "created"}, {len(r.Delete), "deleted"}, {len(r.Mode), "with the mode changed"}, {len(r.Skip), "skipped"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func previewPaths(r *engine.Restored) (lines []string) {
	total := 0
	for _, group := range []struct {
		letter string
		paths  []string
	}{{"~", r.Replace}, {"+", r.Create}, {"-", r.Delete}, {"m", r.Mode}} {
		for _, path := range group.paths {
			if total++; total <= maxPreview {
				lines = append(lines, "  "+group.letter+" "+escapePath(path))
			}
		}
	}
	if total > maxPreview {
		lines = append(lines, fmt.Sprintf("  and %d more", total-maxPreview))
	}
	return append(lines, othersText(r.Others)...)
}

// apply carries out what the person chose.
func (c *piCall) apply(ctx context.Context) {
	restore, undo, cancel, err := hookio.PiDoes(c.q.Menu, c.q.Choice)
	if err != nil {
		c.failed(err)
		return
	}
	c.answer.Cancel = cancel
	if !restore && !undo {
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
	done, err := engine.Restore(ctx, c.Project, engine.RestoreOptions{Checkpoint: *to, Half: conversation.CodeOnly, By: c.q.Session})
	if err != nil {
		c.failed(err)
		return
	}
	if left := problem.FailedOf(done.Skip); len(left) > 0 {
		c.failed(&partialError{verb: "restored", paths: left})
		return
	}
	if changed(done) {
		c.notice("info", "", "Files restored: "+previewLine(done)+".")
	} else {
		c.notice("info", "", "The files are as they were: nothing was restored.")
	}
}

// maxPoints is how many points /rewind lists.
const maxPoints = 200

// points is the list of /rewind, the newest first.
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
	c.answer.Title = fmt.Sprintf("%s of this session, newest first", plural(len(points), "point", "points"))
	now := c.Env.Time()
	for i, p := range points[:min(len(points), maxPoints)] {
		at := p.Checkpoint
		label := fmt.Sprintf("%d  %s ago  %s", i+1, formatAge(now.Sub(at.Time)), at.Kind)
		if at.Prompt != "" {
			label += "  " + screen.Clip(strings.Join(strings.Fields(at.Prompt), " "), 50)
		}
		label += fmt.Sprintf("  +%d ~%d -%d  %s", at.Added, at.Modified, at.Deleted, at.ID)
		c.answer.Points = append(c.answer.Points, hookio.PiPoint{Entry: p.Entry, Label: label})
	}
}
