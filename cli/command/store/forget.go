package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

func NewForget() *app.Command {
	var f forgetFlags
	var glob bool
	var chosen string
	return &app.Command{
		Name:  "forget",
		Usage: "-- path… | --text PATTERN [--regexp] | --checkpoint CKPT [--dry-run] [--yes]",
		Short: "remove paths, text or a checkpoint from the history, permanently",
		Long: "Removes paths, such as a file with a password, from every checkpoint and every operation.\n" +
			"This cannot be undone. None of their content stays in the store or its mirror, unless the\n" +
			"same content is also stored under another path: forget then says where. Objects of git\n" +
			"with the same content, or that commits have at the path, are no longer held once git has\n" +
			"lost them; of a glob, commits are not searched for paths that no checkpoint has. Their\n" +
			"lines are redacted in the stored conversations, too, as in the input of the tool that\n" +
			"wrote the file. The files in the working tree are kept, also when an old checkpoint is\n" +
			"restored.\n" +
			"While another process reads the store, the last step has to wait: it is done later (exit\n" +
			"code 3), and rewind status says so until then. Without a terminal, --yes is required.\n" +
			"Other accounts that use the project, as in a container, have mirrors of their own: they\n" +
			"are named until their next command there has removed it, too (exit code 3).\n" +
			"Other stores of this account with the same origin (copies of the project, or what it was\n" +
			"copied from, even if deleted), or with a conversation of the same session, are listed if\n" +
			"they may still hold it, with the command to run (exit code 3). The stores of other\n" +
			"projects, and what export and checkout wrote, are not searched.\n" +
			"--text redacts a text in the stored conversations: transcripts, tool output, prompts,\n" +
			"descriptions. Names of checkpoints and of branches that contain it are removed; such a\n" +
			"checkpoint is pinned instead. Rewind's copies of git's objects are removed, since it can\n" +
			"be in any; the next checkpoint copies what git still has. The text is literal, or a\n" +
			"regular expression with --regexp.\n" +
			"The agents' own files are not changed: those that still contain it are listed, and\n" +
			"whatever an agent writes from them later is captured again.\n" +
			"--checkpoint removes one checkpoint, and everything that only this one contains.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind forget -- .env", Does: "one file"},
			{Line: "rewind forget --yes -- 'secrets/**'", Does: "a glob, without asking"},
			{Line: "rewind forget --dry-run --text hunter2", Does: "what would be redacted"},
			{Line: "rewind forget --checkpoint 3", Does: "one checkpoint"},
		},
		Answers: app.Answers{"forget": forgotView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MaxArgs: 1, // which is wrong, see strayCheckpoint
		Paths:   true,
		Flags: func(fs *pflag.FlagSet) {
			fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask; required without a terminal")
			fs.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
			app.GlobFlag(fs, &glob)
			fs.StringArrayVar(&f.texts, "text", nil, "redact this `pattern` in conversations; may be repeated")
			fs.BoolVar(&f.isRegexp, "regexp", false, "the text is a regular expression (RE2)")
			fs.StringVar(&chosen, "checkpoint", "", "remove this `checkpoint`")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			paths := len(c.Paths) > 0 || glob
			switch {
			case f.isRegexp && len(f.texts) == 0:
				return app.Usagef("--regexp needs --text")
			case slices.Contains(f.texts, ""):
				return app.Usagef("--text is an empty string")
			case len(c.Args) > 0:
				return strayCheckpoint(ctx, c)
			case len(f.texts) > 0 && paths:
				return app.Usagef("--text takes no paths")
			case c.Flags.Changed("checkpoint") && (paths || len(f.texts) > 0):
				return app.Usagef("--checkpoint takes neither paths nor --text")
			case c.Flags.Changed("checkpoint"):
				return forgetCheckpoint(ctx, c, f, chosen)
			case len(f.texts) > 0:
				return forgetText(ctx, c, f)
			case len(c.Paths) == 0:
				return &app.UsageError{Msg: "too few arguments: what is to be forgotten is missing", Hint: "rewind forget -- path…"}
			}
			return forgetPaths(ctx, c, f, glob)
		},
	}
}

type forgetFlags struct {
	yes, dryRun, isRegexp bool
	texts                 []string
}

// strayCheckpoint is the error of a word that is neither a path nor of a flag: a checkpoint goes after one, and a path after --.
func strayCheckpoint(ctx context.Context, c *app.Call) error {
	word := c.Args[0]
	err := &app.UsageError{Msg: "unexpected argument " + app.Quote(word), Hint: "paths go after --: rewind forget -- " + app.ShellQuote(word)}
	p, operr := c.Open(ctx)
	if operr == nil && namesCheckpoint(ctx, c, p, word) {
		err.Hint = "a checkpoint goes after --checkpoint: rewind forget --checkpoint " + app.ShellQuote(word)
	}
	return err
}

// namesCheckpoint reports whether a word names a checkpoint, and no file.
func namesCheckpoint(ctx context.Context, c *app.Call, p *project.Project, word string) bool {
	if account.Exists(filepath.Join(c.Env.Dir, word)) {
		return false
	}
	_, err := c.Resolve(ctx, p, word)
	return err == nil
}

func forgetPaths(ctx context.Context, c *app.Call, f forgetFlags, glob bool) error {
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	paths, err := c.Patterns(ctx, p, c.Paths, glob)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return &app.UsageError{Msg: "the whole project cannot be forgotten", Hint: "rewind gc --keep 1 keeps the newest checkpoint only"}
	}
	question := fmt.Sprintf("This removes %s from every checkpoint and cannot be undone. Continue?", app.Plural(len(paths), "path", "paths"))
	if err := mayForget(c, f, question); err != nil {
		return err
	}
	done, err := maintain.Forget(ctx, p, paths, f.dryRun)
	if held, ok := errors.AsType[*maintain.NotHeldError](err); ok && len(held.Patterns) < len(paths) && len(paths) == len(c.Paths) {
		err = app.Hinted(err, "nothing was removed; without what no checkpoint has: "+f.without(c.Paths, paths, held.Patterns, glob))
	}
	if held, ok := errors.AsType[*maintain.NotHeldError](err); ok && len(c.Paths) == 1 && len(held.Patterns) == 1 && namesCheckpoint(ctx, c, p, c.Paths[0]) {
		err = app.Hinted(err, "nothing was removed; for the checkpoint: rewind forget --checkpoint "+app.ShellQuote(c.Paths[0]))
	}
	return f.print(ctx, c, p, done, err, func() { printPaths(c, done) })
}

// without is the command without the arguments whose patterns are unknown.
func (f forgetFlags) without(args, patterns, unknown []string, glob bool) string {
	line := "rewind forget"
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--yes", f.yes}, {"--dry-run", f.dryRun}, {"--glob", glob}} {
		if flag.set {
			line += " " + flag.name
		}
	}
	line += " --"
	for i, arg := range args {
		if !slices.Contains(unknown, patterns[i]) {
			line += " " + app.ShellQuote(arg)
		}
	}
	return line
}

func forgetText(ctx context.Context, c *app.Call, f forgetFlags) error {
	for _, text := range f.texts {
		if !f.isRegexp && len(text) < maintain.MinForgetText {
			return app.Usagef("the text of --text is too short: it needs at least %d bytes", maintain.MinForgetText)
		}
		if !f.isRegexp {
			continue
		}
		if _, err := regexp.Compile(text); err != nil {
			return app.Usagef("%q is not a pattern: %s", text, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	if err := mayForget(c, f, "This redacts "+app.ByCount(len(f.texts), "the text", "the texts")+" in every stored conversation and cannot be undone. Continue?"); err != nil {
		return err
	}
	done, err := maintain.ForgetText(ctx, p, f.texts, f.isRegexp, f.dryRun)
	return f.print(ctx, c, p, done, err, func() {
		verb := app.Did(f.dryRun, "Redacted", "Would redact")
		if done.Texts == 0 {
			c.Out.Summary("No stored conversation contains %s.", app.ItOrThem(len(f.texts)))
		} else {
			c.Out.Summary("%s %s in %s.", verb, app.Plural(done.Texts, "occurrence", "occurrences"), app.Plural(done.Checkpoints, "checkpoint", "checkpoints"))
		}
		if done.HeldAll {
			c.Out.Summary("%s rewind's copies of git's objects, since any of them can contain the text: the next checkpoint copies what git has; what git has lost cannot be restored.", app.Did(f.dryRun, "Removed", "Would remove"))
		}
		git := ""
		if account.Exists(filepath.Join(p.Root(), ".git")) {
			git = "; what is committed stays in git"
		}
		c.Out.Hint("the captured files were not searched: rewind grep finds those that contain it, and rewind forget -- path… removes them%s", git)
	})
}

// forgetCheckpoint removes one checkpoint and leaves no byte of what it alone has.
func forgetCheckpoint(ctx context.Context, c *app.Call, f forgetFlags, spec string) error {
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	chosen, err := c.Resolve(ctx, p, spec)
	if err != nil {
		return err
	}
	if err := mayForget(c, f, "This removes checkpoint "+rows.Named(c.Out, chosen)+" and cannot be undone. Continue?"); err != nil {
		return err
	}
	done, err := maintain.ForgetCheckpoint(ctx, p, chosen.ID, f.dryRun)
	return f.print(ctx, c, p, done, err, func() {
		removed, freed := app.Did(f.dryRun, "Removed", "Would remove"), app.Did(f.dryRun, ", freed "+app.FormatSize(done.Freed), "")
		c.Out.Summary("%s checkpoint %s%s.", removed, rows.Named(c.Out, chosen), freed)
		if done.Shared > 0 {
			c.Out.Summary("%s also in other checkpoints or operations, and %s there.",
				app.Plural(done.Shared, "file of it is", "files of it are"), app.ByCount(done.Shared, "stays", "stay"))
		}
		if n := done.SharedGit; n > 0 {
			c.Out.Summary("%s that %s held of git %[2]s also reached by git's state in other checkpoints, and %[3]s: rewind forget -- path… lets go of a file in %[4]s.",
				app.Plural(n, "object", "objects"), app.ByCount(n, "is", "are"), app.ByCount(n, "stays", "stay"), app.ByCount(n, "it", "them"))
		}
	})
}

// mayForget asks for confirmation, since forget cannot be undone. Without a terminal, --yes is required.
func mayForget(c *app.Call, f forgetFlags, question string) error {
	if f.yes || f.dryRun {
		return nil
	}
	if !c.Out.Interactive() {
		return &project.RefusedError{What: "forgetting cannot be undone, and there is no terminal to ask at", Next: "rewind forget --yes …"}
	}
	ok, err := c.Out.Ask("%s", question)
	if err == nil && !ok {
		err = &restore.DeclinedError{}
	}
	return err
}
