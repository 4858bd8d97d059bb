package report

import (
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
)

// ReportSaved says in one line what was saved, and names what could not be.
func ReportSaved(c *app.Call, s *checkpoint.Saved) error {
	k := s.Checkpoint
	what := rows.ChangeCounts(k.Added, k.Modified, k.Deleted)
	switch {
	case s.Unchanged:
		what = "nothing changed"
	case what == "":
		what = "no files changed" // empty directories, or modes of some
	}
	c.Out.Summary("Saved %s: %s, %s, %s stored.", k.ID, app.Plural(k.Files, "file", "files"), what, app.FormatSize(int64(k.StoredBytes)))
	c.Out.Note("took %s", app.FormatTook(s.Elapsed))
	reportSession(c, s)
	WarnTooLarge(c, s.TooLarge)
	if text := rows.InsteadText(s.Instead); text != "" {
		c.Out.Warn("files of the checkpoint before were replaced by what %s", text)
	}
	if s.Ignored != "" && allOut(c, k.Files) {
		what := "no files were captured"
		if k.Files > 0 {
			what = "only rule files and precious files were captured"
		}
		c.Out.Warn("%s: %s is %s", what, app.Escape(s.Ignored), app.Escape(s.IgnoredBy))
		c.Out.Hint("rewind save --no-ignore captures everything once, rewind config forceInclude '[\"/*\"]' from now on")
	}
	if bad := problem.FailedOf(s.Partial); len(bad) > 0 {
		return &app.PartialError{Verb: "captured", Paths: bad}
	}
	return nil
}

// allOut reports whether the rules leave out what a checkpoint of so many files is for.
func allOut(c *app.Call, files uint64) bool {
	if files == 0 {
		return true
	}
	path, _, err := rules.AllOut(c.Project, session.Kept(c.Project))
	return err == nil && path != "" // status --check tells of an error
}

// reportSession says whose conversation a checkpoint holds, where that was found out, and why
// it holds none where several could be meant.
func reportSession(c *app.Call, s *checkpoint.Saved) {
	switch b := s.Beside; {
	case c.Quiet:
	case s.Unclear != nil:
		f := app.Explain(s.Unclear)
		c.Out.Warn("the conversation is not in the checkpoint: %s", f.Message)
		for _, w := range f.Choices {
			c.Out.Warn("%s", w)
		}
		c.Out.Hint("rewind restore %s --session ID goes back to where that session is now, too; rewind save --session ID makes a checkpoint that is of it", s.Checkpoint.ID.String()[:app.ShortID])
	case b != nil && b.ByItself:
		c.Out.Message(screen.Dim, "session:", app.SessionText(b.Info)+", "+b.How)
	}
}

// tooLargeNamed is how many files over the limit a save names; show --coverage has all.
const tooLargeNamed = 5

// WarnTooLarge names the files that are larger than the setting allows: a restore does
// not bring them back.
func WarnTooLarge(c *app.Call, files []problem.Problem) {
	if len(files) == 0 || c.Quiet {
		return
	}
	size := app.ExactSize(c.Project.Settings().MaxFileSize)
	for _, f := range app.FirstN(files, tooLargeNamed) {
		c.Out.Warn("%s is larger than %s and was not captured", f.Path, size)
	}
	if n := len(files) - tooLargeNamed; n > 0 {
		c.Out.Warn("and %d more: rewind show last --coverage", n)
	}
	c.Out.Hint("rewind config maxFileSize SIZE raises the limit, rewind config ignore '[…]' leaves such files out silently")
}
