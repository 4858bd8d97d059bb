package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/timeline"
)

func newSave() *command {
	var o checkpoint.Options
	var message []string
	return &command{
		name:  "save",
		usage: "[description…] [-m TEXT] [--name N] [--pin] [--no-ignore] [--rehash]",
		short: "take a checkpoint now",
		long: "Takes a checkpoint of the whole project. It is always recorded, even if nothing has\n" +
			"changed since the last one.\n" +
			"It holds the conversation of the agent's session at work too, or of the one that --session\n" +
			"names.",
		examples: []example{
			{"rewind save", "the project as it is now"},
			{"rewind save -m 'before the refactoring'", "with a description"},
			{"rewind save --name v1 --pin", "with a name to restore it by, and kept by gc"},
			{"rewind save --no-ignore", "include ignored files"},
		},
		exits:   []int{exitPartial, exitBusy, exitDamaged},
		maxArgs: -1,
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVarP(&message, "message", "m", nil, "the description, as `TEXT`; several are joined")
			f.StringVar(&o.Name, "name", "", "a `name` for the checkpoint")
			f.BoolVar(&o.Pin, "pin", false, "never let gc remove it")
			f.BoolVar(&o.NoIgnore, "no-ignore", false, "capture ignored files too")
			f.BoolVar(&o.Rehash, "rehash", false, "read every file again, even if it looks unchanged")
		},
		run: func(ctx context.Context, c *call) error {
			o.Description = strings.Join(append(append(c.args, c.paths...), message...), " ")
			if c.flags.Changed("name") && o.Name == "" {
				return &project.BadNameError{Name: "", Reason: "it is empty"}
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			saved, err := save.Save(ctx, p, o)
			if err != nil {
				return err
			}
			if err := sinceOperation(ctx, p, saved); err != nil {
				return err
			}
			if c.json {
				if err := c.out.document(viewSaved(saved)); err != nil {
					return err
				}
			}
			return reportSaved(c, saved)
		},
	}
}

// sinceOperation counts what a save found since an operation, where one came after the checkpoint before: that one is the
// safety checkpoint, which list does not show either.
func sinceOperation(ctx context.Context, p *project.Project, s *checkpoint.Saved) error {
	if !s.Safety {
		return nil
	}
	release, err := p.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	r, err := timeline.RowOf(ctx, p, s.Checkpoint.Seq, nil)
	if err != nil || r == nil {
		return err
	}
	n, known, err := r.Count(ctx, p, nil)
	if project.IsDamage(err) || !known {
		return nil // verify tells of damage
	}
	s.Checkpoint.Added, s.Checkpoint.Modified, s.Checkpoint.Deleted = n.Added, n.Modified, n.Deleted
	s.Unchanged = r.From != nil && r.From.Root == r.To.Root
	return err
}

// reportSaved says in one line what was saved, and names what could not be.
func reportSaved(c *call, s *checkpoint.Saved) error {
	k := s.Checkpoint
	what := changeCounts(k.Added, k.Modified, k.Deleted)
	switch {
	case s.Unchanged:
		what = "nothing changed"
	case what == "":
		what = "no files changed" // empty directories, or modes of some
	}
	c.out.summary("Saved %s: %s, %s, %s stored.", k.ID, plural(k.Files, "file", "files"), what, formatSize(int64(k.StoredBytes)))
	c.out.note("took %s", formatTook(s.Elapsed))
	reportSession(c, s)
	warnTooLarge(c, s.TooLarge)
	if k.Files == 0 && s.Ignored != "" {
		c.out.warn("no files were captured: %s is %s", escape(s.Ignored), escape(s.IgnoredBy))
		c.out.hint("rewind save --no-ignore captures everything once, rewind config forceInclude '[\"/*\"]' from now on")
	}
	if bad := problem.FailedOf(s.Partial); len(bad) > 0 {
		return &partialError{verb: "captured", paths: bad}
	}
	return nil
}

// reportSession says whose conversation a checkpoint holds, where that was found out, and why
// it holds none where several could be meant.
func reportSession(c *call, s *checkpoint.Saved) {
	switch b := s.Beside; {
	case c.quiet:
	case s.Unclear != nil:
		f := explain(s.Unclear)
		c.out.warn("the conversation is not in the checkpoint: %s", f.message)
		for _, w := range f.warnings {
			c.out.warn("%s", w)
		}
		c.out.hint("rewind restore %s --session ID goes back to where that session is now, too; rewind save --session ID makes a checkpoint that is of it", s.Checkpoint.ID.String()[:shortID])
	case b != nil && b.ByItself:
		c.out.message(screen.Dim, "session:", sessionText(b.SessionInfo)+", "+b.How)
	}
}

// tooLargeNamed is how many files over the limit a save names; show --coverage has all.
const tooLargeNamed = 5

// warnTooLarge names the files that are larger than the setting allows: a restore does
// not bring them back.
func warnTooLarge(c *call, files []problem.Problem) {
	if len(files) == 0 || c.quiet {
		return
	}
	size := exactSize(c.project.Settings().MaxFileSize)
	for _, f := range firstN(files, tooLargeNamed) {
		c.out.warn("%s is larger than %s and was not captured", f.Path, size)
	}
	if n := len(files) - tooLargeNamed; n > 0 {
		c.out.warn("and %d more: rewind show last --coverage", n)
	}
	c.out.hint("rewind config maxFileSize SIZE raises the limit, rewind config ignore '[…]' leaves such files out silently")
}

// changeCounts is "+1 ~2 -3", without the zeros.
func changeCounts(added, modified, deleted uint64) string {
	var parts []string
	for _, p := range []struct {
		sign string
		n    uint64
	}{{"+", added}, {"~", modified}, {"-", deleted}} {
		if p.n > 0 {
			parts = append(parts, p.sign+utoa(p.n))
		}
	}
	return strings.Join(parts, " ")
}
