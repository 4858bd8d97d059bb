package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// revertFlags are those of revert.
type revertFlags struct {
	tool, since, subagent string
	conflicts             string
	shared                bool
	dryRun, yes, glob     bool
}

func newRevert() *command {
	var r revertFlags
	return &command{
		name: "revert",
		usage: "prompt~N | <ckpt> | --tool ID | --session S [--since prompt~N] [--subagent A] " +
			"[--conflicts WAY] [--include-shared] [--dry-run] [--yes] [-- path…]",
		short: "take back one turn, call or session, and keep the rest",
		long: "Takes back what an agent did for one prompt, in one tool call or in a whole session. It\n" +
			"keeps what you and other sessions did before, at the same time and later, in the same\n" +
			"files, too. A checkpoint means the turn in which it was taken. The conversation does not\n" +
			"change. A safety checkpoint is taken first; rewind undo takes the revert back.\n" +
			"If others changed the same lines, there is a conflict. At a terminal the command asks;\n" +
			"otherwise it changes nothing, unless --conflicts has the answer: keep (the block stays as\n" +
			"it is), keep-file (the whole file stays), undo (as before the work, without what others\n" +
			"made of it), markers (both, with git's conflict markers). Changes that others could have\n" +
			"made as well stay, unless --include-shared is given. Changes of shell commands are taken\n" +
			"back, and are listed.\n" + aboutPaths,
		examples: []example{
			{"rewind revert prompt~2 --dry-run", "what taking back the last prompt but one would do"},
			{"rewind revert prompt~1", "the last turn of this session; what came from others stays"},
			{"rewind revert --session 3f2a", "all that a session did"},
			{"rewind revert --session 3f2a --since prompt~3", "its last three turns"},
			{"rewind revert --tool toolu_01AB -- src", "one call, below src"},
			{"rewind revert prompt~2 --conflicts keep", "leave what others have built on"},
			{"rewind undo", "take the revert back"},
		},
		exits:   []int{exitPartial, exitNotFound, exitBusy, exitDamaged, exitRefused},
		maxArgs: 1,
		paths:   true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&r.tool, "tool", "", "only the tool call with this `id`")
			f.StringVar(&r.since, "since", "", "of the session, from this `prompt~N` on")
			f.StringVar(&r.subagent, "subagent", "", "only what the subagent with this `id` did")
			f.StringVar(&r.conflicts, "conflicts", "", "`way` of a conflict: refuse, keep, keep-file, undo, markers")
			f.BoolVar(&r.shared, "include-shared", false, "take back also what others could have done as well")
			f.BoolVarP(&r.dryRun, "dry-run", "n", false, "print what would happen, and change nothing")
			f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
			globFlag(f, &r.glob)
		},
		run: func(ctx context.Context, c *call) error { return c.revert(ctx, &r) },
	}
}

// work is what the flags name, in a sentence.
func (r *revertFlags) work(session string) string {
	switch {
	case r.tool != "":
		return "this call"
	case session != "":
		return "this session"
	}
	return "this turn"
}

// check refuses what contradicts itself.
func (r *revertFlags) check(c *call) error {
	named := len(c.args)
	if r.tool != "" {
		named++
	}
	if r.since != "" {
		named++
	}
	_, prompt := 0, false
	if len(c.args) == 1 {
		_, prompt = conversation.PromptNumber(c.args[0])
	}
	switch {
	case c.flags.Changed("tool") && r.tool == "":
		return usagef("--tool is an empty string")
	case c.flags.Changed("subagent") && r.subagent == "":
		return usagef("--subagent is an empty string")
	case c.flags.Changed("since") && r.since == "":
		return usagef("--since is an empty string")
	case named == 0 && c.session == "" && r.subagent != "":
		return &usageError{msg: "--subagent does not say of which session", hint: "rewind revert --session S --subagent " + shellQuote(r.subagent) + "; rewind sessions lists the sessions"}
	case named == 0 && c.session == "":
		return &usageError{msg: "nothing says whose work to take back", hint: "rewind revert prompt~1 is the last turn; rewind sessions lists the sessions for --session"}
	case named > 1:
		return usagef("a prompt, a checkpoint, --tool and --since exclude each other")
	case r.tool != "" && (c.session != "" || r.subagent != ""):
		return usagef("--tool names one call: --session and --subagent do not go with it")
	case len(c.args) == 1 && !prompt && c.session != "":
		return usagef("a checkpoint cannot be combined with --session")
	case r.conflicts != "" && !slices.Contains(work.ConflictChoices(), work.ConflictChoice(r.conflicts)):
		return usagef("--conflicts must be refuse, keep, keep-file, undo or markers, not %s", quote(r.conflicts))
	}
	if r.since != "" {
		if n, ok := conversation.PromptNumber(r.since); !ok || n < 1 {
			return usagef("--since must be of the form prompt~N, not %s", quote(r.since))
		}
	}
	return nil
}

// typedRevert are the words after the verb as the log keeps them.
func (c *call) typedRevert(r *revertFlags) string {
	words := quoteAll(c.args)
	for _, f := range []struct{ name, value string }{{"tool", r.tool}, {"session", c.session}, {"since", r.since}, {"subagent", r.subagent}, {"conflicts", r.conflicts}} {
		if f.value != "" {
			words = append(words, "--"+f.name, shellQuote(f.value))
		}
	}
	if r.shared {
		words = append(words, "--include-shared")
	}
	if r.glob {
		words = append(words, "--glob")
	}
	if len(c.paths) > 0 {
		words = append(append(words, "--"), quoteAll(c.paths)...)
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}

func (c *call) revert(ctx context.Context, r *revertFlags) error {
	if err := r.check(c); err != nil {
		return err
	}
	o := revert.Options{DryRun: r.dryRun, IncludeShared: r.shared, Conflicts: work.ConflictChoice(r.conflicts), Args: c.typedRevert(r)}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	if o.Paths, err = c.patterns(ctx, p, c.paths, r.glob); err != nil {
		return err
	}
	if o.Work, err = c.workNamed(ctx, p, r); err != nil {
		return err
	}
	asks := c.out.interactive() && !r.yes && !c.json && !r.dryRun
	if asks && o.Conflicts == "" {
		if o.Choices, err = c.askConflicts(ctx, p, o); err != nil {
			return err
		}
	}
	told := false // the plan, with its facts
	if asks {
		o.Confirm = func(plan *revert.Reverted) (bool, error) {
			told = true
			return c.confirmRevert(plan, r)
		}
	}
	done, err := revert.Revert(ctx, p, o)
	var conflict *revert.ConflictError
	if errors.As(err, &conflict) {
		kept := *r
		kept.conflicts = string(work.KeepBlock)
		refused := &conflictsError{conflict, c.conflictLines(conflict.Reverted.Conflicts), "rewind revert " + c.typedRevert(&kept)}
		if r.dryRun && !c.json {
			refused.lines = nil // they are in the plan
			o.Conflicts = work.KeepBlock
			plan, err := revert.Revert(ctx, p, o)
			if err != nil {
				return err
			}
			c.out.endProgress()
			c.printReverted(plan, r, true)
		}
		return refused
	}
	if err != nil {
		return err
	}
	return c.reportReverted(done, r, told, len(o.Choices) > 0)
}

// workNamed says whose work is meant.
func (c *call) workNamed(ctx context.Context, p *project.Project, r *revertFlags) (w work.Named, err error) {
	w.Subagent = r.subagent
	switch {
	case r.tool != "":
		w.Call = r.tool
		return w, nil
	case r.since != "":
		w.Prompt, _ = conversation.PromptNumber(r.since)
		w.Since = true
	case len(c.args) == 1:
		n, ok := conversation.PromptNumber(c.args[0])
		if ok && n < 1 {
			return w, usagef("prompts count from prompt~1, the last one")
		}
		if !ok {
			l, err := c.resolve(ctx, p, c.args[0])
			w.Checkpoint = &l
			return w, c.otherSelector(ctx, p, err)
		}
		w.Prompt = n
	}
	w.Session, err = c.chooseSessionWith(ctx, p, w.Prompt)
	return w, err
}

// otherSelectorError says of what names no checkpoint how it is named.
type otherSelectorError struct {
	error
	hint string
}

func (e *otherSelectorError) Unwrap() error { return e.error }

func (e *otherSelectorError) failure() failure {
	f := explain(e.error)
	f.hint = e.hint
	return f
}

// otherSelector finds out what was meant by an argument that names no checkpoint: a call, a session, or a path.
func (c *call) otherSelector(ctx context.Context, p *project.Project, err error) error {
	var none *project.NoCheckpointError
	if !errors.As(err, &none) {
		return err
	}
	arg := c.args[0]
	if strings.HasPrefix(arg, "toolu_") || strings.HasPrefix(arg, "call_") {
		return &otherSelectorError{err, "a call goes after --tool: rewind revert --tool " + shellQuote(arg)}
	}
	if s, serr := conversation.ChooseSession(ctx, p, arg); serr == nil {
		return &otherSelectorError{err, "a session goes after --session: rewind revert --session " + shellQuote(shortSession(s.ID))}
	}
	dir, derr := rootPath(p.Root(), c.env.Dir, filepath.Clean(arg))
	if derr != nil {
		return err
	}
	_, statErr := os.Lstat(filepath.Join(p.Root(), dir))
	if statErr == nil || strings.ContainsRune(arg, '/') {
		return &otherSelectorError{err, "paths go after --: rewind revert prompt~1 -- " + shellQuote(arg)}
	}
	return err
}

// confirmRevert shows the plan, and asks.
func (c *call) confirmRevert(plan *revert.Reverted, r *revertFlags) (bool, error) {
	would, paths := *plan, *plan.Restored
	paths.DryRun = true
	would.Restored = &paths
	c.out.endProgress()
	c.printReverted(&would, r, false)
	c.warnGit(plan.Restored, true)
	if n := plan.Files(plan.Delete); n > confirmAbove {
		return c.out.ask("This deletes %d files. A safety checkpoint is taken first. Continue?", n)
	}
	return c.out.ask("A safety checkpoint is taken first. Continue?")
}
