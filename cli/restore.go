package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	to                    int  // undo: the operation's number, 0 for none
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

// restoreUsage are the flags of restoreFlags in a usage line.
const restoreUsage = "[--code-only|--context-only] [--in-place] [--resume] [--dry-run] [--force] [--yes]"

// half says what a restore moves.
type half string

const (
	both             half = "both"
	code             half = "code"
	conversationHalf half = "context"
)

// half reads the flags that say what is to be moved, and refuses those that contradict each other.
func (r *restoreFlags) half() (half, error) {
	named := 0
	h := both
	if r.codeOnly {
		h, named = code, named+1
	}
	if r.contextOnly {
		h, named = conversationHalf, named+1
	}
	if r.mode != "" {
		named++
		switch r.mode {
		case "both":
			h = both
		case "code":
			h = code
		case "context", "chat":
			h = conversationHalf
		default:
			return "", usagef("--mode must be both, code or context, not %q", r.mode)
		}
	}
	if named > 1 {
		return "", usagef("--code-only, --context-only and --mode cannot be combined")
	}
	if h == code && (r.inPlace || r.resume) {
		return "", usagef("--in-place and --resume concern the conversation, which is not restored")
	}
	return h, nil
}

func restoreCommand(v restoreVerb) *command {
	var r restoreFlags
	c := &command{
		exits: []int{exitPartial, exitNotFound, exitBusy, exitDamaged, exitRefused},
		paths: true,
		run:   func(ctx context.Context, c *call) error { return runRestore(ctx, c, &r, v) },
	}
	c.flags = func(f *pflag.FlagSet) {
		r.define(f)
		if v.takesCheckpoint {
			f.BoolVarP(&r.patch, "patch", "p", false, "ask for each hunk whether to restore it")
			f.BoolVar(&r.copy, "copy", false, "with prompt~N, copy the undone prompts to the clipboard")
		}
		if v.takesTo {
			f.IntVar(&r.to, "to", 0, "undo everything up to the operation with this `number` in rewind list --ops")
		}
		if c.paths {
			globFlag(f, &r.glob)
		}
	}
	if v.takesCheckpoint {
		c.minArgs, c.maxArgs = 1, 1
	}
	if v.takesSteps {
		c.maxArgs = 1
	}
	return c
}

// steps reads the number of undo and redo.
func (c *call) steps() (int, error) {
	if len(c.args) == 0 {
		return 1, nil
	}
	n, err := strconv.Atoi(c.args[0])
	switch {
	case err != nil && c.cmd.paths: // mostly a path
		return 0, &usageError{msg: quote(c.args[0]) + " is not a number of steps", hint: "paths go after --: rewind " + c.name + " -- " + shellQuote(c.args[0])}
	case err != nil || n < 1:
		return 0, usagef("the number of steps must be 1 or more, not %s", quote(c.args[0]))
	}
	return n, nil
}

// typedArgs are the words after the verb as the log keeps them: no flags but those that say which way.
func (c *call) typedArgs(r *restoreFlags) string {
	words := quoteAll(c.args)
	if r.patch {
		words = append([]string{"-p"}, words...)
	}
	if r.to > 0 {
		words = append(words, "--to", strconv.Itoa(r.to))
	}
	if r.inPlace {
		words = append(words, "--in-place")
	}
	if len(c.paths) > 0 {
		words = append(append(words, "--"), quoteAll(c.paths)...)
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}

// operationTo finds the operation that --to names.
func (c *call) operationTo(ctx context.Context, p *project.Project, n int) (uint64, error) {
	ops, err := oplog.Operations(ctx, p, n)
	if err != nil {
		return 0, err
	}
	switch {
	case len(ops) == 0:
		return 0, &project.NothingError{What: "undo"}
	case len(ops) < n:
		return 0, &usageError{msg: fmt.Sprintf("there is no operation %d: the oldest is %d", n, len(ops)), hint: "rewind list --ops --limit 0"}
	}
	return ops[n-1].Seq, nil
}

func runRestore(ctx context.Context, c *call, r *restoreFlags, v restoreVerb) error {
	h, err := r.half()
	if err != nil {
		return err
	}
	if r.copy {
		if _, ok := conversation.PromptNumber(c.args[0]); !ok {
			return usagef("--copy needs a checkpoint of the form prompt~N")
		}
	}
	if h == conversationHalf && len(c.paths) > 0 {
		return usagef("paths concern the files, which are not restored")
	}
	o := restore.Options{DryRun: r.dryRun, Force: r.force, Args: c.typedArgs(r)}
	if v.takesSteps {
		if o.Steps, err = c.steps(); err != nil {
			return err
		}
	}
	if c.flags.Changed("to") && r.to < 1 {
		return usagef("--to must be 1 or more, not %d", r.to)
	}
	if r.to > 0 && len(c.args)+len(c.paths) > 0 {
		return usagef("--to takes neither a number of steps nor paths")
	}
	if r.patch {
		if err := r.checkPatch(c, h); err != nil {
			return err
		}
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	if r.patch {
		l, err := c.resolve(ctx, p, c.args[0])
		if err != nil {
			return err
		}
		o.Checkpoint = l.Checkpoint
		return c.restoreHunks(ctx, p, o, r.glob)
	}
	if r.to > 0 {
		if o.To, err = c.operationTo(ctx, p, r.to); err != nil {
			return err
		}
	}
	var concerned []manifest.Checkpoint // undo finds its own
	if v.takesCheckpoint {
		if v.attempt, err = c.target(ctx, p, h, &o); err != nil {
			return err
		}
		concerned = append(concerned, o.Checkpoint)
	}
	if o.Paths, err = c.patterns(ctx, p, c.paths, r.glob, concerned...); err != nil {
		return err
	}
	if len(c.paths) > 0 && r.mode == "" && !r.inPlace && !r.resume {
		h = code // some files: the conversation goes on where it is
	}
	o.Half, o.InPlace = engineHalf(h), r.inPlace
	if c.out.interactive() && !r.yes && !r.dryRun {
		o.Confirm = c.confirm
	}
	done, err := v.do(ctx, p, o)
	if err != nil {
		return err
	}
	if w := done.Without; w != nil && !w.Captured && r.mode != "both" && !r.inPlace && !r.resume {
		done.Without = nil // no conversation was asked for
	}
	c.out.endProgress()
	if h != code { // else they are in the conversation as before
		printPrompts(c.out, done.Prompts)
	}
	if r.copy && !r.dryRun {
		c.copyText(ctx, strings.Join(reversed(done.Prompts), "\n\n"))
	}
	if done.Without != nil {
		c.warnWithout(done)
	}
	if v.part = partOf(c.paths, false); h == conversationHalf && done.Of != "" {
		v.part.text = "the conversation"
	}
	if err := reportRestored(c, done, v); err != nil || !r.resume || r.dryRun {
		return err
	}
	return c.resume(ctx, done.Conversation)
}

// warnWithout says that the conversation stays, although it was to go along.
func (c *call) warnWithout(done *restore.Restored) {
	were := "were"
	if done.DryRun {
		were = "would be"
	}
	c.out.warn("only the files %s restored: %s", were, done.Without.Error())
}

// named gives the way to keep the work of others the paths that were typed. Of hunks there is none.
func (c *call) named(r *restore.Restored) {
	name := func(i **restore.RevertInstead) {
		if *i == nil || !(*i).Some {
			return
		}
		if (*i).Paths = c.paths; len(c.paths) == 0 || c.flags.Changed("patch") {
			*i = nil
		}
	}
	name(&r.Instead)
	for i := range r.Others {
		name(&r.Others[i].Alone)
	}
}

// target is what restore goes to; attempt is set where that is an attempt's end.
func (c *call) target(ctx context.Context, p *project.Project, h half, o *restore.Options) (attempt *attempts.Attempt, err error) {
	spec := c.args[0]
	if n, ok := conversation.PromptNumber(spec); ok && n > 0 {
		o.Prompt = n
		o.Session, err = c.chooseSessionWith(ctx, p, n)
		return nil, err
	}
	l, err := c.resolve(ctx, p, spec)
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
	o.Session, err = c.sessionOf(ctx, p, spec, l, h)
	return attempt, err
}
