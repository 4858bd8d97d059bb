package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Stdio is where a call reads and writes. Files that are terminals get colours,
// questions and progress lines; all others get plain text.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
	Progress project.Progress // is told how long work goes on, instead of a line on Err; nil: the line
}

// Main runs one call of rewind and returns its exit code. args[0] is the
// program's name. It never exits the process and never panics on its own account.
func Main(args []string, env account.Env, stdio Stdio) int {
	var rest []string
	if len(args) > 0 {
		rest = args[1:]
	}
	if words, ok := hookWords(args); ok { // before flags and tables: an agent waits
		return runHook(words, args, env, stdio)
	}
	if env.Getenv != nil {
		if zone := posixZone(env.Getenv("TZ")); zone != nil {
			time.Local = zone // as package time would, did it read this form
		}
	}
	ctx, stop := interruptible()
	defer stop()
	return run(ctx, rest, env, stdio)
}

// globals are the flags that every command has.
type globals struct {
	root, session                 string
	json, quiet, verbose, noColor bool
	help, version                 bool
}

func (g *globals) define(f *pflag.FlagSet) {
	f.BoolVar(&g.json, "json", g.json, "print one JSON document")
	f.BoolVarP(&g.quiet, "quiet", "q", g.quiet, "print no summaries and no progress")
	f.BoolVarP(&g.verbose, "verbose", "v", g.verbose, "print more on stderr")
	f.BoolVar(&g.noColor, "no-color", g.noColor, "print no colours, as with $NO_COLOR")
	f.StringVar(&g.root, "root", g.root, "the project's `directory` (default: found from the working directory)")
	f.StringVar(&g.session, "session", g.session, "the agent's session, by `id`, agent or title")
	f.BoolVarP(&g.help, "help", "h", false, "show this help")
	f.BoolVar(&g.version, "version", g.version, "print the version")
}

// run is Main with a context.
func run(ctx context.Context, args []string, env account.Env, stdio Stdio) int {
	var g globals
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	// A broken command line must still be answered in JSON when JSON was asked for.
	o := newOutput(stdio, env, asksJSON(args))
	o.interrupted = ctx.Done()

	front := newFlagSet("rewind")
	front.SetInterspersed(false)
	g.define(front)
	if err := front.Parse(args); err != nil {
		return o.fail(flagError(err, "", "", front))
	}
	asked := o.json
	o.configure(g, env)
	o.json = asked || g.json // --json may also follow the command
	rest := front.Args()
	switch {
	case g.version:
		return o.finish(printVersion(o))
	case len(rest) == 0 && g.help:
		return o.finish(printOverview(o, false))
	case len(rest) == 0 && o.interactive() && !g.json:
		rest = []string{"pick"}
	case len(rest) == 0:
		rest = []string{"status"}
	}
	return runCommand(ctx, rest[0], rest[1:], g, env, o)
}

func runCommand(ctx context.Context, name string, args []string, g globals, env account.Env, o *output) int {
	if name == completeName { // what the completion scripts call: its words are not flags of ours
		return o.finish(complete(ctx, args, env, o))
	}
	asked := name
	name, args = variant(name, args)
	cmd := lookup(name)
	if cmd == nil {
		return o.fail(unknownCommand(name))
	}
	c := &call{cmd: cmd, name: name, typed: typed(asked, name), env: env, out: o}
	f := newFlagSet(cmd.name)
	if cmd.flags != nil {
		cmd.flags(f)
	}
	own := f
	f = newFlagSet(cmd.name)
	f.AddFlagSet(own)
	help := g.help
	g.define(f)
	f.SetInterspersed(!cmd.verbatim)
	if err := f.Parse(args); err != nil {
		err = flagError(err, asked, c.typed, f)
		if n, ok := numberFlag(args); ok && cmd.stray != nil {
			err = &usageError{msg: err.Error(), hint: cmd.stray(n)}
		}
		return o.fail(err)
	}
	o.configure(g, env)
	switch {
	case g.help || help:
		return o.finish(printHelp(o, cmd, typed(synonym(asked), name)))
	case g.version:
		return o.finish(printVersion(o))
	}
	c.flags = f
	c.globals = g
	c.args, c.paths = splitArgs(f)
	if err := c.checkArgs(); err != nil {
		return o.fail(err)
	}
	if g.session != "" {
		c.env.Getenv = overrideEnv(env.Getenv, "REWIND_SESSION_ID", g.session)
		c.env.Asked = g.session
	}
	err := c.completed(ctx, cmd.run(ctx, c))
	c.close()
	if err != nil && ctx.Err() != nil && !saysMore(err) {
		err = &interruptedError{command: synonym(name), cause: err}
	}
	return o.finish(err)
}

// saysMore reports whether an error of a call that was interrupted tells what the interruption does not:
// what was done all the same, or could not be put back.
func saysMore(err error) bool {
	var aborted *treeio.AbortedError
	return errors.As(err, new(*partialError)) || errors.As(err, new(*commandExit)) || errors.As(err, &aborted) && len(aborted.Left) > 0
}

func newFlagSet(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.Usage = func() {}
	f.SetOutput(io.Discard)
	f.SortFlags = false
	return f
}

// splitArgs separates the arguments before -- from the paths after it.
func splitArgs(f *pflag.FlagSet) (args, paths []string) {
	all := f.Args()
	if dash := f.ArgsLenAtDash(); dash >= 0 {
		return all[:dash], all[dash:]
	}
	return all, nil
}

func asksJSON(args []string) bool {
	for _, a := range args {
		switch a {
		case "--json", "--json=true":
			return true
		case "--":
			return false
		}
	}
	return false
}

// overrideEnv makes a flag stand for the environment variable that it beats.
func overrideEnv(getenv func(string) string, key, value string) func(string) string {
	return func(k string) string {
		if k == key {
			return value
		}
		return getenv(k)
	}
}

// numberFlag finds a number that was typed as a flag, as in git log -8.
func numberFlag(args []string) (n string, ok bool) {
	for _, a := range args {
		if a == "--" {
			break
		}
		if digits, cut := strings.CutPrefix(a, "-"); cut && digits != "" && strings.Trim(digits, "0123456789") == "" {
			return digits, true
		}
	}
	return "", false
}

// flagError turns pflag's error into ours, with the flag that was probably meant. A command may have been typed with a flag
// that runs another one: list --ops.
func flagError(err error, command, typed string, flags *pflag.FlagSet) error {
	if errors.Is(err, pflag.ErrHelp) { // -h is defined, so this does not happen
		return nil
	}
	msg := flagText(err)
	hint := strings.TrimSpace("rewind "+command) + " --help"
	if near := nearestFlag(msg, flags); near != "" {
		hint = strings.TrimSpace("rewind "+typed) + " --" + near
	}
	if name, ok := strings.CutPrefix(msg, "unknown flag: "); ok && command != typed {
		msg = name + " is no flag of " + typed
	}
	return &usageError{msg: msg, hint: hint}
}
