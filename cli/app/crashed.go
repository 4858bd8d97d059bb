package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// reportCrash tells of a restore that did not finish. Every command does; only
// the restore family finishes it or puts it back.
func (c *Call) reportCrash(ctx context.Context, p *project.Project) error {
	crash, err := p.Crashed(ctx)
	if err != nil || crash == nil {
		return err
	}
	if crash.Done {
		if c.Cmd.Name != "save" { // which clears them
			c.Out.Warn("%s was killed while cleaning up, when all was in place: temporary files remain", CrashedWhat("a", crash))
			c.Out.Hint("rewind save removes them")
		}
		return nil
	}
	what := Plural(crash.Paths, "path", "paths")
	switch {
	case crash.Git && crash.Paths == 0:
		what = "git's own state"
	case crash.Git:
		what += " and git's own state"
	}
	c.Out.Warn("%s at %s did not finish: %s may be in the old or the new state", CrashedWhat("the", crash), crash.Time.Local().Format("2006-01-02 15:04"), what)
	c.Out.Hint("%s", CrashedCure(crash))
	return nil
}

// CrashedWhat names a restore, or a revert, that did not finish.
func CrashedWhat(article string, crash *project.CrashedRestore) string {
	switch crash.Kind {
	case manifest.OpUndo, manifest.OpUndoRestore:
		return strings.Replace(article, "a", "an", 1) + " " + string(crash.Kind)
	case manifest.OpRevert, manifest.OpRedoRestore:
		return article + " " + string(crash.Kind)
	}
	return fmt.Sprintf("%s restore to %s", article, crash.Checkpoint)
}

// CrashedCure says how to go on from one. Where it was to change some paths only, restoring its checkpoint would change
// more than it was to; a revert leads to none.
func CrashedCure(crash *project.CrashedRestore) string {
	switch {
	case crash.Some, crash.Kind == manifest.OpRevert, crash.Kind == manifest.OpUndo, crash.Kind == manifest.OpUndoRestore, crash.Kind == manifest.OpRedoRestore:
		return "rewind undo puts it back"
	case crash.WithGit:
		return "rewind undo puts it back; the same command as before puts it back, too, and then does all of it"
	}
	return fmt.Sprintf("rewind restore %s finishes it, rewind undo reverts it", crash.Checkpoint)
}

// TellRecovered says what became of a restore that had not finished, where a command dealt with it before its own work.
func (c *Call) TellRecovered(r *restore.Restored) {
	switch crash := r.Crashed; {
	case crash != nil && !r.PutBack:
		c.Out.Summary("%s did not finish: it will be put back first, which these numbers do not include.", CrashedWhat("The last", crash))
	}
	switch rec := r.Recovered; {
	case rec == nil || rec.Done || r.PutBack:
	case rec.Forward:
		c.Out.Summary("First finished: %s.", CrashedWhat("the", &rec.CrashedRestore))
	default:
		c.Out.Summary("First put back: %s, which had not finished.", CrashedWhat("the", &rec.CrashedRestore))
	}
	if r.Recovered != nil && !r.PutBack {
		for _, left := range r.Recovered.Left {
			c.Out.Warn("%s was left as it is: %s", EscapePath(left.Path), Escape(left.Reason))
		}
	}
}
