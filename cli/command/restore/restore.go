package restore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
	"github.com/spf13/pflag"
)

// restoreFlags are those of the restore family.
type restoreFlags struct {
	codeOnly, contextOnly bool
	mode                  string
	inPlace, resume, copy bool
	dryRun, force, yes    bool
	glob                  bool // of those that take paths
	patch                 bool // restore: hunk by hunk
	both                  bool // back: the files too
	to                    int  // undo: the operation's number, 0 for none
	gitFlags
}

func (r *restoreFlags) define(f *pflag.FlagSet) {
	f.BoolVarP(&r.dryRun, "dry-run", "n", false, "print what would happen, and change nothing")
	f.BoolVar(&r.codeOnly, "code-only", false, "restore the files, not the conversation")
	f.BoolVar(&r.contextOnly, "context-only", false, "restore the conversation, not the files")
	f.StringVar(&r.mode, "mode", "", "`both|code|context`; chat is the same as context")
	_ = f.MarkHidden("mode")
	f.BoolVar(&r.inPlace, "in-place", false, "rewrite the current conversation, after a backup, instead of forking it")
	f.BoolVar(&r.resume, "resume", false, "run the command that opens the forked conversation")
	f.BoolVar(&r.force, "force", false, "proceed where it would refuse, after the safety checkpoint")
	f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
}

// RestoreUsage are the flags of restoreFlags in a usage line.
const RestoreUsage = "[--code-only|--context-only] [--in-place] [--resume] [--dry-run] [--force] [--yes]"

// half reads the flags that say what is to be moved, and refuses those that contradict each other.
func (r *restoreFlags) half() (conversation.Half, error) {
	named := 0
	h := conversation.Both
	if r.codeOnly {
		h, named = conversation.CodeOnly, named+1
	}
	if r.contextOnly {
		h, named = conversation.ConversationOnly, named+1
	}
	if r.mode != "" {
		named++
		switch r.mode {
		case "both":
			h = conversation.Both
		case "code":
			h = conversation.CodeOnly
		case "context", "chat":
			h = conversation.ConversationOnly
		default:
			return h, app.Usagef("--mode must be both, code or context, not %q", r.mode)
		}
	}
	switch {
	case named > 1 && r.mode != "":
		return h, app.Usagef("--mode cannot be combined with --code-only or --context-only")
	case named > 1:
		return h, app.Usagef("--code-only and --context-only cannot be combined")
	}
	if h == conversation.CodeOnly && (r.inPlace || r.resume) {
		return h, app.Usagef("--in-place and --resume concern the conversation, which is not restored")
	}
	return h, nil
}

// restoreFunc is what a command of the family does: restore.Restore or one beside it.
type restoreFunc func(context.Context, *project.Project, restore.Options) (*restore.Restored, error)

// restoreCommand completes a command of the family.
func restoreCommand(v report.RestoreWords, do restoreFunc, c *app.Command) *app.Command {
	var r restoreFlags
	c.Answers = app.Answers{"restore": report.RestoredView{}}
	c.Exits = []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused}
	c.Run = func(ctx context.Context, c *app.Call) error { return runRestore(ctx, c, &r, v, do) }
	c.Flags = func(f *pflag.FlagSet) {
		r.define(f)
		if v.TakesCheckpoint {
			f.BoolVarP(&r.patch, "patch", "p", false, "ask for each hunk whether to restore it")
			f.BoolVar(&r.copy, "copy", false, "with prompt~N, copy the undone prompts to the clipboard")
		}
		if v.TakesGit || v.Forward {
			r.gitFlags.define(f)
		}
		if v.Forward {
			_ = errors.Join(f.MarkHidden("git"), f.MarkHidden("git-only"))
		}
		if v.TakesTo {
			f.IntVar(&r.to, "to", 0, "undo everything up to the operation with this `number` in rewind list --ops")
		}
		if c.Paths {
			app.GlobFlag(f, &r.glob)
		}
	}
	if v.TakesCheckpoint {
		c.MinArgs, c.MaxArgs, c.Pulled = 1, 1, true
	}
	if v.TakesSteps {
		c.MaxArgs = 1
	}
	return c
}

// steps reads the number of undo and redo.
func steps(c *app.Call) (int, error) {
	if len(c.Args) == 0 {
		return 1, nil
	}
	n, err := strconv.Atoi(c.Args[0])
	switch {
	case err != nil && c.Cmd.Paths: // mostly a path
		return 0, &app.UsageError{Msg: app.Quote(c.Args[0]) + " is not a number of steps", Hint: "paths go after --: rewind " + c.Name + " -- " + app.ShellQuote(c.Args[0])}
	case err != nil || n < 1:
		return 0, app.Usagef("the number of steps must be 1 or more, not %s", app.Quote(c.Args[0]))
	}
	return n, nil
}

// typedArgs are the words after the verb as the log keeps them: no flags but those that say which way.
func typedArgs(c *app.Call, r *restoreFlags) string {
	words := app.QuoteAll(c.Args)
	if r.patch {
		words = append([]string{"-p"}, words...)
	}
	if r.to > 0 {
		words = append(words, "--to", strconv.Itoa(r.to))
	}
	for _, f := range []struct {
		given bool
		flag  string
	}{{r.both, "--both"}, {r.codeOnly, "--code-only"}, {r.contextOnly, "--context-only"}, {r.inPlace, "--in-place"}} {
		if f.given {
			words = append(words, f.flag)
		}
	}
	return withPaths(c, append(words, r.words()...))
}

// withPaths is a command line for the log: the words, and the paths after them.
func withPaths(c *app.Call, words []string) string {
	if len(c.Paths) > 0 {
		words = append(append(words, "--"), app.QuoteAll(c.Paths)...)
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}

// operationTo finds the operation that --to names.
func operationTo(ctx context.Context, c *app.Call, p *project.Project, n int) (uint64, error) {
	ops, err := oplog.Operations(ctx, p, n)
	if err != nil {
		return 0, err
	}
	switch {
	case len(ops) == 0:
		return 0, &project.NothingError{What: "undo"}
	case len(ops) < n:
		return 0, &app.UsageError{Msg: fmt.Sprintf("there is no operation %d: the oldest is %d", n, len(ops)), Hint: "rewind list --ops --limit 0"}
	}
	return ops[n-1].Seq, nil
}

// options checks the command line as far as that goes without a project, and gives what it asks for. half says which of files and
// conversation are meant.
func (r *restoreFlags) options(c *app.Call, v report.RestoreWords) (o restore.Options, half conversation.Half, err error) {
	if half, err = r.half(); err != nil {
		return o, half, err
	}
	if r.copy {
		if _, ok := conversation.PromptNumber(c.Args[0]); !ok {
			return o, half, app.Usagef("--copy needs a checkpoint of the form prompt~N")
		}
	}
	if half == conversation.ConversationOnly && len(c.Paths) > 0 {
		return o, half, app.Usagef("paths concern the files, which are not restored")
	}
	o = restore.Options{DryRun: r.dryRun, Force: r.force, Args: typedArgs(c, r)}
	if v.TakesSteps {
		if o.Steps, err = steps(c); err != nil {
			return o, half, err
		}
	}
	if c.Flags.Changed("to") && r.to < 1 {
		return o, half, app.Usagef("--to must be 1 or more, not %d", r.to)
	}
	if r.to > 0 && len(c.Args)+len(c.Paths) > 0 {
		return o, half, app.Usagef("--to takes neither a number of steps nor paths")
	}
	if err := r.gitOptions(c, v, &o, half); err != nil {
		return o, half, err
	}
	if o.GitOnly {
		half = conversation.CodeOnly
	}
	if r.patch {
		err = r.checkPatch(c, half)
	}
	return o, half, err
}

// gitOptions is options for git's own state.
func (r *restoreFlags) gitOptions(c *app.Call, v report.RestoreWords, o *restore.Options, half conversation.Half) error {
	if err := r.gitFlags.apply(o, half, c.Paths); err != nil {
		return err
	}
	if o.Git != restore.GitStays {
		hint := ""
		switch {
		case r.to > 0:
			hint = fmt.Sprintf("rewind undo --to %d takes git's own state back, too, where those operations moved it", r.to)
		case r.patch:
			hint = "rewind restore " + app.ShellQuote(c.Args[0]) + " --git-only"
		case v.Forward && (r.git != "lost" || r.gitOnly):
			hint = "rewind redo takes git's own state along where the undo did"
		}
		if hint != "" {
			return &app.UsageError{Msg: "--git goes to one state of the whole repository, and cannot be used here", Hint: hint}
		}
	}
	if v.Forward {
		o.Git, o.GitOnly = restore.GitStays, false
	}
	return nil
}

func runRestore(ctx context.Context, c *app.Call, r *restoreFlags, v report.RestoreWords, do restoreFunc) error {
	o, h, err := r.options(c, v)
	if err != nil {
		return err
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	if r.patch {
		l, err := c.Resolve(ctx, p, c.Args[0])
		if err != nil {
			return err
		}
		o.Checkpoint = l.Checkpoint
		return restoreHunks(ctx, c, p, o, r.glob)
	}
	if r.to > 0 {
		if o.To, err = operationTo(ctx, c, p, r.to); err != nil {
			return err
		}
	}
	var concerned []manifest.Checkpoint // undo finds its own
	if v.TakesCheckpoint {
		if v.Attempt, err = target(ctx, c, p, h, &o); err != nil {
			return err
		}
		concerned = append(concerned, o.Checkpoint)
	}
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, r.glob, concerned...); err != nil {
		return err
	}
	if len(c.Paths) > 0 && r.mode == "" && !r.inPlace && !r.resume {
		h = conversation.CodeOnly // for single files, the conversation stays as it is
	}
	o.Half, o.InPlace = h, r.inPlace
	if c.Out.Interactive() && !r.yes && !r.dryRun {
		o.Confirm = func(plan *restore.Restored) (bool, error) { return report.Confirm(c, plan) }
	}
	done, err := do(ctx, p, o)
	if err != nil {
		return err
	}
	if w := done.Without; w != nil && !w.Captured && o.Prompt == 0 && r.mode != "both" && !r.inPlace && !r.resume {
		done.Without = nil // no conversation was asked for
	}
	c.Out.EndProgress()
	if h != conversation.CodeOnly { // else they are in the conversation as before
		printPrompts(c.Out, done.Prompts)
	}
	if r.copy && !r.dryRun {
		copyPrompt(ctx, c, strings.Join(reversed(done.Prompts), "\n\n"))
	}
	if done.Without != nil {
		warnWithout(c, done)
	}
	if v.Part = report.PartOf(c.Paths, false); h == conversation.ConversationOnly && done.Of != "" {
		v.Part.Text = "the conversation"
	}
	if err := report.ReportRestored(c, done, v); err != nil || !r.resume || r.dryRun {
		return err
	}
	return resume(ctx, c, done.Conversation)
}

// warnWithout says that the conversation stays, although it was to go along.
func warnWithout(c *app.Call, done *restore.Restored) {
	c.Out.Warn("only the files %s restored: %s", app.Did(done.DryRun, "were", "would be"), done.Without.Error())
}

// target is what restore goes to; attempt is set where that is an attempt's end.
func target(ctx context.Context, c *app.Call, p *project.Project, h conversation.Half, o *restore.Options) (attempt *attempts.Attempt, err error) {
	spec := c.Args[0]
	if n, ok := conversation.PromptNumber(spec); ok && n > 0 {
		o.Prompt = n
		o.Session, err = c.ChooseSessionWith(ctx, p, n)
		return nil, err
	}
	l, err := c.Resolve(ctx, p, spec)
	if err != nil {
		return nil, err
	}
	o.Checkpoint = l.Checkpoint
	if n, ok := attempts.Number(spec); ok {
		if o.About, err = attempts.Sessions(ctx, p); err != nil {
			return nil, err
		}
		if _, attempt, err = attempts.Numbered(ctx, p, n); err != nil {
			return nil, err
		}
	}
	o.Session, err = sessionOf(ctx, c, p, spec, l, h)
	return attempt, err
}
