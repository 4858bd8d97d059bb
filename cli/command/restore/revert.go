package restore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/work"
)

func NewRevert() *app.Command {
	var r report.RevertFlags
	return &app.Command{
		Name: "revert",
		Usage: "prompt~N | <ckpt> | --tool ID | --session S [--since prompt~N] [--subagent A] " +
			"[--conflicts WAY] [--include-shared] [--dry-run] [--yes] [-- path…]",
		Short: "take back one turn, call or session, and keep the rest",
		Long: "Takes back what an agent did for one prompt, in one tool call or in a whole session. It\n" +
			"keeps what you and other sessions did before, at the same time and later, in the same\n" +
			"files, too. A checkpoint means the turn in which it was taken. The conversation does not\n" +
			"change. A safety checkpoint is taken first; rewind undo takes the revert back.\n" +
			"If others changed the same lines, there is a conflict. At a terminal the command asks;\n" +
			"otherwise it changes nothing, unless --conflicts has the answer: keep (the block stays as\n" +
			"it is), keep-file (the whole file stays), undo (as before the work, without what others\n" +
			"made of it), markers (both, with git's conflict markers). Changes that others could have\n" +
			"made as well stay, unless --include-shared is given. Changes of shell commands are taken\n" +
			"back, and are listed.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind revert prompt~2 --dry-run", Does: "what taking back the last prompt but one would do"},
			{Line: "rewind revert prompt~1", Does: "the last turn of this session; what came from others stays"},
			{Line: "rewind revert --session 3f2a", Does: "all that a session did"},
			{Line: "rewind revert --session 3f2a --since prompt~3", Does: "its last three turns"},
			{Line: "rewind revert --tool toolu_01AB -- src", Does: "one call, below src"},
			{Line: "rewind revert prompt~2 --conflicts keep", Does: "leave what others have built on"},
			{Line: "rewind undo", Does: "take the revert back"},
		},
		Answers: app.Answers{"revert": report.RevertedView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MaxArgs: 1,
		Paths:   true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&r.Tool, "tool", "", "only the tool call with this `id`, of the session if given")
			f.StringVar(&r.Since, "since", "", "of the session, from this `prompt~N` on")
			f.StringVar(&r.Subagent, "subagent", "", "only what the subagent with this `id` did")
			f.StringVar(&r.Conflicts, "conflicts", "", "`way` of a conflict: refuse, keep, keep-file, undo, markers")
			f.BoolVar(&r.Shared, "include-shared", false, "take back also what others could have done as well")
			f.BoolVarP(&r.DryRun, "dry-run", "n", false, "print what would happen, and change nothing")
			f.BoolVarP(&r.Yes, "yes", "y", false, "do not ask")
			app.GlobFlag(f, &r.Glob)
		},
		Run: func(ctx context.Context, c *app.Call) error { return runRevert(ctx, c, &r) },
	}
}

// typedRevert are the words after the verb as the log keeps them.
func typedRevert(c *app.Call, r *report.RevertFlags) string {
	words := app.QuoteAll(c.Args)
	for _, f := range []struct{ name, value string }{{"tool", r.Tool}, {"session", c.Session}, {"since", r.Since}, {"subagent", r.Subagent}, {"conflicts", r.Conflicts}} {
		if f.value != "" {
			words = append(words, "--"+f.name, app.ShellQuote(f.value))
		}
	}
	if r.Shared {
		words = append(words, "--include-shared")
	}
	if r.Glob {
		words = append(words, "--glob")
	}
	return withPaths(c, words)
}

func runRevert(ctx context.Context, c *app.Call, r *report.RevertFlags) error {
	if err := r.Check(c); err != nil {
		return err
	}
	o := revert.Options{DryRun: r.DryRun, IncludeShared: r.Shared, Conflicts: work.ConflictChoice(r.Conflicts), Args: typedRevert(c, r)}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, r.Glob); err != nil {
		return err
	}
	if o.Work, err = workNamed(ctx, c, p, r); err != nil {
		return err
	}
	asks := c.Out.Interactive() && !r.Yes && !c.JSON && !r.DryRun
	if asks && o.Conflicts == "" {
		if o.Choices, err = askConflicts(ctx, c, p, o); err != nil {
			return err
		}
	}
	told := false // the plan, with its facts
	if asks {
		o.Confirm = func(plan *revert.Reverted) (bool, error) {
			told = true
			return confirmRevert(c, plan, r)
		}
	}
	done, err := revert.Revert(ctx, p, o)
	var conflict *revert.ConflictError
	if errors.As(err, &conflict) {
		kept := *r
		kept.Conflicts = string(work.KeepBlock)
		refused := &report.ConflictsError{ConflictError: conflict, Lines: report.ConflictLines(c, conflict.Reverted.Conflicts), Keep: "rewind revert " + typedRevert(c, &kept)}
		if r.DryRun && !c.JSON {
			refused.Lines = nil // they are in the plan
			o.Conflicts = work.KeepBlock
			plan, err := revert.Revert(ctx, p, o)
			if err != nil {
				return err
			}
			c.Out.EndProgress()
			report.PrintReverted(c, plan, r, true)
		}
		return refused
	}
	if errors.As(err, new(*conversation.PromptNotSavedError)) {
		return app.Hinted(err, "rewind list shows the turns and the checkpoints that there are")
	}
	if err != nil {
		return err
	}
	return report.ReportReverted(c, done, r, told, len(o.Choices) > 0)
}

// workNamed says whose work is meant.
func workNamed(ctx context.Context, c *app.Call, p *project.Project, r *report.RevertFlags) (w work.Named, err error) {
	w.Subagent = r.Subagent
	switch {
	case r.Tool != "":
		if w.Call = r.Tool; c.Session == "" {
			return w, nil
		}
	case r.Since != "":
		w.Prompt, _ = conversation.PromptNumber(r.Since)
		w.Since = true
	case len(c.Args) == 1:
		n, ok := conversation.PromptNumber(c.Args[0])
		if ok && n < 1 {
			return w, app.Usagef("prompts count from prompt~1, the last one")
		}
		if !ok {
			l, err := c.Resolve(ctx, p, c.Args[0])
			w.Checkpoint = &l
			return w, otherSelector(ctx, c, p, err)
		}
		w.Prompt = n
	}
	w.Session, err = c.ChooseSessionWith(ctx, p, w.Prompt)
	return w, err
}

// otherSelector finds out what was meant by an argument that names no checkpoint: a call, a session, or a path.
func otherSelector(ctx context.Context, c *app.Call, p *project.Project, err error) error {
	var none *project.NoCheckpointError
	if !errors.As(err, &none) {
		return err
	}
	arg := c.Args[0]
	if strings.HasPrefix(arg, "toolu_") || strings.HasPrefix(arg, "call_") {
		return app.Hinted(err, "a call goes after --tool: rewind revert --tool "+app.ShellQuote(arg))
	}
	if s, serr := session.Choose(ctx, p, arg); serr == nil {
		return app.Hinted(err, "a session goes after --session: rewind revert --session "+app.ShellQuote(s.ID))
	}
	dir, derr := app.RootPath(p.Root(), c.Env.Dir, filepath.Clean(arg))
	if derr != nil {
		return err
	}
	_, statErr := os.Lstat(filepath.Join(p.Root(), dir))
	if statErr == nil || strings.ContainsRune(arg, '/') {
		return app.Hinted(err, "paths go after --: rewind revert prompt~1 -- "+app.ShellQuote(arg))
	}
	return err
}

// confirmRevert shows the plan, and asks.
func confirmRevert(c *app.Call, plan *revert.Reverted, r *report.RevertFlags) (bool, error) {
	would, paths := *plan, *plan.Restored
	paths.DryRun = true
	would.Restored = &paths
	c.Out.EndProgress()
	report.PrintReverted(c, &would, r, false)
	report.WarnGit(c, plan.Restored, true)
	if n := plan.Files(plan.Delete); n > report.ConfirmAbove {
		return c.Out.Ask("This deletes %d files. A safety checkpoint is taken first. Continue?", n)
	}
	return c.Out.Ask("A safety checkpoint is taken first. Continue?")
}
