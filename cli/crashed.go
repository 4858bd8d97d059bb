package cli

import (
	"context"
	"fmt"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// reportCrash tells of a restore that did not finish. Every command does; only
// the restore family finishes it or puts it back.
func (c *call) reportCrash(ctx context.Context, p *project.Project) error {
	crash, err := p.Crashed(ctx)
	if err != nil || crash == nil {
		return err
	}
	if crash.Done {
		if c.cmd.name != "save" { // which clears them
			c.out.warn("%s was killed while cleaning up: temporary files remain", crashedWhat("a", crash))
			c.out.hint("rewind save removes them")
		}
		return nil
	}
	c.out.warn("%s at %s did not finish: %s may be in the old or the new state", crashedWhat("the", crash),
		crash.Time.Local().Format("2006-01-02 15:04"), plural(crash.Paths, "path", "paths"))
	c.out.hint("%s", crashedCure(crash))
	return nil
}

// crashedWhat names a restore, or a revert, that did not finish.
func crashedWhat(article string, crash *project.CrashedRestore) string {
	switch crash.Kind {
	case manifest.OpRevert, manifest.OpUndoRestore, manifest.OpRedoRestore:
		return article + " " + string(crash.Kind)
	}
	return fmt.Sprintf("%s restore to %s", article, crash.Checkpoint)
}

// crashedCure says how to go on from one. Where it was to change some paths only, restoring its checkpoint would change
// more than it was to; a revert leads to none.
func crashedCure(crash *project.CrashedRestore) string {
	switch {
	case crash.Some, crash.Kind == manifest.OpRevert, crash.Kind == manifest.OpUndoRestore, crash.Kind == manifest.OpRedoRestore:
		return "rewind undo puts it back"
	}
	return fmt.Sprintf("rewind restore %s finishes it, rewind undo reverts it", crash.Checkpoint)
}

// tellRecovered says what became of a restore that had not finished, where a command dealt with it before its own work.
func (c *call) tellRecovered(r *restore.Restored) {
	switch crash := r.Crashed; {
	case crash != nil && !r.PutBack:
		c.out.summary("%s did not finish: it will be put back first, which these numbers do not include.", crashedWhat("The last", crash))
	}
	switch rec := r.Recovered; {
	case rec == nil || rec.Done || r.PutBack:
	case rec.Forward:
		c.out.summary("First finished: %s.", crashedWhat("the", &rec.CrashedRestore))
	default:
		c.out.summary("First put back: %s, which had not finished.", crashedWhat("the", &rec.CrashedRestore))
	}
	if r.Recovered != nil && !r.PutBack {
		for _, left := range r.Recovered.Left {
			c.out.warn("%s was left as it is: %s", escapePath(left.Path), escape(left.Reason))
		}
	}
}
