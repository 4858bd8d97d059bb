package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// restoreFlags are those of the restore family.
type restoreFlags struct {
	codeOnly, contextOnly bool
	mode                  string
	inPlace, resume, copy bool
	dryRun, force, yes    bool
	glob                  bool // of those that take paths
	patch                 bool // restore: hunk by hunk
	to                    int  // undo-restore: the operation's number, 0 for none
}

func (r *restoreFlags) define(f *pflag.FlagSet) {
	f.BoolVarP(&r.dryRun, "dry-run", "n", false, "print what would happen, and change nothing")
	f.BoolVar(&r.codeOnly, "code-only", false, "restore the files, not the conversation")
	f.BoolVar(&r.contextOnly, "context-only", false, "restore the conversation, not the files")
	f.StringVar(&r.mode, "mode", "", "`both|code|context`; chat is the same as context")
	f.BoolVar(&r.inPlace, "in-place", false, "rewrite the current conversation, after a backup, instead of forking it")
	f.BoolVar(&r.resume, "resume", false, "run the command that opens the forked conversation")
	f.BoolVar(&r.force, "force", false, "proceed where it would refuse, after the safety checkpoint")
	f.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
}

// restoreUsage are the flags of restoreFlags in a usage line.
const restoreUsage = "[--code-only|--context-only|--mode both|code|context] [--in-place] [--resume] [--dry-run] [--force] [--yes]"

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

// confirmAbove is how many deletions make restore ask at a terminal.
const confirmAbove = 20

// restoreVerb is what differs between the commands of the family.
type restoreVerb struct {
	takesCheckpoint bool
	takesSteps      bool   // a number, how many
	takesTo         bool   // --to, an operation's number
	done            string // "Restored to %s."
	would           string // on a dry run
	takeBack        string // the command that undoes it
	do              func(context.Context, *project.Project, engine.RestoreOptions) (*engine.Restored, error)
}

// restoreCheckpoint is the verb of restore and of the picker.
var restoreCheckpoint = restoreVerb{
	takesCheckpoint: true,
	done:            "Restored to %s.",
	would:           "Would restore to %s.",
	takeBack:        "rewind undo-restore",
	do:              engine.Restore,
}

func newRestore() *command {
	c := restoreCommand(restoreCheckpoint)
	c.name = "restore"
	c.usage = "<ckpt> [--patch] [--copy] " + restoreUsage + " [--glob] [-- path…]"
	c.short = "restore the project to a checkpoint"
	c.long = "Takes a safety checkpoint, then makes the project match the checkpoint: files that\n" +
		"differ are replaced, missing files are created, and files added later are deleted.\n" +
		"Ignored files, and anything else the checkpoint did not capture, are left alone.\n" +
		aboutPaths + "\njump is the same command."
	c.examples = []example{
		{"rewind restore last", "back to the newest checkpoint"},
		{"rewind restore 3 --dry-run", "what would happen"},
		{"rewind restore v1 -- src/main.go", "one file; directories and globs work too"},
		{"rewind restore -p 3 -- src/main.go", "parts of a file: asks hunk by hunk"},
		{"rewind restore '@{10m}' --code-only", "the files as they were ten minutes ago"},
		{"rewind restore prompt~1 --resume", "back to before the last prompt, and open the conversation there"},
	}
	return c
}

func newUndo() *command {
	c := restoreCommand(restoreVerb{
		takesSteps: true,
		done:       "Restored to %s.",
		would:      "Would restore to %s.",
		takeBack:   "rewind redo",
		do:         engine.Undo,
	})
	c.name = "undo"
	c.usage = "[N] " + restoreUsage + " [--glob] [-- path…]"
	c.short = "restore the newest checkpoint that differs"
	c.long = "Restores the newest checkpoint that differs from the working tree, and forks the\n" +
		"conversation if it has one; --code-only leaves that out. Run again, it goes further back\n" +
		"from there; a save or an edit starts over. N goes that many steps as one operation, which\n" +
		"rewind redo takes back as a whole; with fewer than N, nothing is changed.\n" +
		aboutPaths
	c.examples = []example{
		{"rewind undo", "undo the last change"},
		{"rewind undo 3", "three steps back at once"},
		{"rewind undo --dry-run", "what would happen"},
		{"rewind redo", "take the last undo back"},
	}
	return c
}

func newRedo() *command {
	c := restoreCommand(restoreVerb{
		takesSteps: true,
		done:       "Redone: back at %s.",
		would:      "Would redo: back to %s.",
		takeBack:   "rewind redo-restore",
		do:         engine.Redo,
	})
	c.name = "redo"
	c.usage = "[N] " + restoreUsage
	c.short = "take the last undo back"
	c.long = "Takes the last undo back, or the last N of them, each with all the steps that it went; as\n" +
		"undo-restore does it, but it stops at a restore. What was edited since stays; if that is\n" +
		"a path that the undo changed, it refuses. The same undo after it goes to the\n" +
		"same place again."
	c.examples = []example{
		{"rewind redo", "take the last undo back"},
		{"rewind redo 2", "take the last two back"},
		{"rewind log", "the operations"},
	}
	c.paths = false
	return c
}

func newUndoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Undid the %[2]s: back at %[1]s.",
		would:    "Would undo the %[2]s: back to %[1]s.",
		takeBack: "rewind redo-restore",
		takesTo:  true,
		do:       engine.UndoRestore,
	})
	c.name = "undo-restore"
	c.usage = "[--to N] " + restoreUsage
	c.short = "undo the last restore"
	c.long = "Undoes the last restore or undo. Touches only the paths that it changed, and refuses if\n" +
		"one of them was changed since. Can be repeated for each operation before it. --to undoes\n" +
		"all that are not undone yet, up to and with the operation that rewind log gives that\n" +
		"number: all of them or none."
	c.examples = []example{
		{"rewind undo-restore", "undo the last restore"},
		{"rewind undo-restore --to 3 --dry-run", "what undoing everything since operation 3 would do"},
		{"rewind log", "the operations it goes through"},
	}
	c.paths = false
	return c
}

func newRedoRestore() *command {
	c := restoreCommand(restoreVerb{
		done:     "Redid the %[2]s: now at %[1]s.",
		would:    "Would redo the %[2]s: to %[1]s.",
		takeBack: "rewind undo-restore",
		do:       engine.RedoRestore,
	})
	c.name = "redo-restore"
	c.usage = restoreUsage
	c.short = "redo a restore that undo-restore undid"
	c.long = "Redoes what undo-restore undid, as long as no new restore was made."
	c.examples = []example{{"rewind redo-restore", "redo the last restore that was undone"}}
	c.paths = false
	return c
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
			f.IntVar(&r.to, "to", 0, "undo everything up to the operation with this `number` in rewind log")
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
	if len(c.paths) > 0 {
		words = append(append(words, "--"), quoteAll(c.paths)...)
	}
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}

// operationTo finds the operation that --to names.
func (c *call) operationTo(ctx context.Context, p *project.Project, n int) (uint64, error) {
	ops, err := engine.Operations(ctx, p, n)
	if err != nil {
		return 0, err
	}
	switch {
	case len(ops) == 0:
		return 0, &project.NothingError{What: "undo"}
	case len(ops) < n:
		return 0, &usageError{msg: fmt.Sprintf("there is no operation %d: the oldest is %d", n, len(ops)), hint: "rewind log --limit 0"}
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
	o := engine.RestoreOptions{DryRun: r.dryRun, Force: r.force, Args: c.typedArgs(r)}
	if v.takesSteps {
		if o.Steps, err = c.steps(); err != nil {
			return err
		}
	}
	if c.flags.Changed("to") && r.to < 1 {
		return usagef("--to must be 1 or more, not %d", r.to)
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
		if err := c.target(ctx, p, h, &o); err != nil {
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
	printPrompts(c.out, done.Prompts)
	if r.copy && !r.dryRun {
		c.copyText(ctx, strings.Join(reversed(done.Prompts), "\n\n"))
	}
	if done.Without != nil {
		c.warnWithout(done)
	}
	if err := reportRestored(c, done, v); err != nil || !r.resume || r.dryRun {
		return err
	}
	return c.resume(ctx, done.Conversation)
}

// warnWithout says that the conversation stays, although it was to go along.
func (c *call) warnWithout(done *engine.Restored) {
	were := "were"
	if done.DryRun {
		were = "would be"
	}
	c.out.warn("only the files %s restored: %s", were, done.Without.Error())
}

// named gives the way to keep the work of others the paths that were typed. Of hunks there is none.
func (c *call) named(r *engine.Restored) {
	name := func(i **engine.RevertInstead) {
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

// target is what restore goes to.
func (c *call) target(ctx context.Context, p *project.Project, h half, o *engine.RestoreOptions) (err error) {
	spec := c.args[0]
	if n, ok := conversation.PromptNumber(spec); ok && n > 0 {
		o.Prompt = n
		o.Session, err = c.chooseSessionWith(ctx, p, n)
		return err
	}
	l, err := c.resolve(ctx, p, spec)
	if err != nil {
		return err
	}
	o.Checkpoint = l.Checkpoint
	if _, ok := attempts.Number(spec); ok {
		if o.About, err = attempts.Sessions(ctx, p); err != nil {
			return err
		}
	}
	o.Session, err = c.sessionOf(ctx, p, spec, l, h)
	return err
}
