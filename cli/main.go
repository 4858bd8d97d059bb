package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/restore"
	"github.com/rewind-cli/rewind/cli/hook"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Stdio is where a call reads and writes.
type Stdio = app.Stdio

// Main runs one call of rewind and returns its exit code. args[0] is the
// program's name. It never exits the process and never panics on its own account.
func Main(args []string, env account.Env, stdio app.Stdio) int {
	var rest []string
	if len(args) > 0 {
		rest = args[1:]
	}
	if words, ok := hook.Words(args); ok { // before flags and tables: an agent waits
		return hook.Run(words, args, env, stdio, Run)
	}
	if env.Getenv != nil {
		if zone := app.PosixZone(env.Getenv("TZ")); zone != nil {
			time.Local = zone // as package time would, did it read this form
		}
	}
	ctx, stop := app.Interruptible()
	defer stop()
	return Run(ctx, rest, env, stdio)
}

// Run is Main, but for hooks, with a context: when it ends, the call ends as after Ctrl-C.
func Run(ctx context.Context, args []string, env account.Env, stdio app.Stdio) int {
	var g app.Globals
	if env.Getenv == nil {
		env.Getenv = func(string) string { return "" }
	}
	// A broken command line must still be answered in JSON when JSON was asked for.
	o := app.NewOutput(stdio, env, asksJSON(args))
	o.Interrupted = ctx.Done()

	front := app.NewFlagSet("rewind")
	front.SetInterspersed(false)
	g.Define(front)
	if err := app.Parse(front, args); err != nil {
		return o.Fail(flagError(err, "", "", front))
	}
	asked := o.JSON
	o.Configure(g, env)
	o.JSON = asked || g.JSON // --json may also follow the command
	rest := front.Args()
	switch {
	case g.Version:
		return o.Finish(printVersion(o))
	case len(rest) == 0 && g.Help:
		return o.Finish(printOverview(o, false))
	case len(rest) == 0 && o.Interactive() && !g.JSON:
		rest = []string{"pick"}
	case len(rest) == 0:
		rest = []string{"status"}
	}
	return runCommand(ctx, rest[0], rest[1:], g, env, o)
}

func runCommand(ctx context.Context, name string, args []string, g app.Globals, env account.Env, o *app.Output) int {
	if name == completeName { // what the completion scripts call: its words are not flags of ours
		return o.Finish(complete(ctx, args, env, o))
	}
	asked := name
	name, args = variant(name, args)
	cmd := lookup(name)
	if cmd == nil {
		return o.Fail(unknownCommand(name))
	}
	c := &app.Call{Cmd: cmd, Name: name, Typed: typed(asked, name), Env: env, Out: o}
	f := app.NewFlagSet(cmd.Name)
	f.AddFlagSet(cmd.OwnFlags())
	help := g.Help
	g.Define(f)
	f.SetInterspersed(!cmd.Verbatim)
	if err := app.Parse(f, args); err != nil {
		err = flagError(err, asked, c.Typed, f)
		if n, ok := numberFlag(args); ok && cmd.Stray != nil {
			err = &app.UsageError{Msg: err.Error(), Hint: cmd.Stray(n)}
		}
		return o.Fail(err)
	}
	o.Configure(g, env)
	switch {
	case g.Help || help:
		return o.Finish(printHelp(o, cmd, typed(synonym(asked), name)))
	case g.Version:
		return o.Finish(printVersion(o))
	}
	c.Flags = f
	c.Globals = g
	c.Args, c.Paths = splitArgs(f)
	if err := c.CheckArgs(); err != nil {
		return o.Fail(err)
	}
	if g.Session != "" {
		c.Env.Getenv = app.OverrideEnv(env.Getenv, "REWIND_SESSION_ID", g.Session)
		c.Env.Asked = g.Session
	}
	err := c.Completed(ctx, cmd.Run(ctx, c))
	if c.Project != nil && c.Project.Committed.Load() {
		_ = hook.StartPush(c.Project, false) // what waits goes with the next one
	}
	c.Close()
	if err != nil && ctx.Err() != nil && !saysMore(err) {
		err = &app.InterruptedError{Text: interruptedText(synonym(name), err)}
	}
	return o.Finish(err)
}

// saysMore reports whether an error of a call that was interrupted tells what the interruption does not:
// what was done all the same, or could not be put back.
func saysMore(err error) bool {
	var aborted *treeio.AbortedError
	return errors.As(err, new(*app.PartialError)) || errors.As(err, new(*restore.CommandExit)) || errors.As(err, &aborted) && len(aborted.Left) > 0
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
	return &app.UsageError{Msg: msg, Hint: hint}
}
