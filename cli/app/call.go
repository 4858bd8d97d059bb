package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
)

// Call is one run of one command.
type Call struct {
	Globals
	Cmd   *Command
	Name  string // as typed: jump for restore
	Typed string // name, or the visible command and flag that run it: list --ops
	Flags *pflag.FlagSet
	Args  []string // before --
	Paths []string // after --, as typed
	Env   account.Env
	Out   *Output

	Project *project.Project
	Noticed int // of the project's notices, those that were printed

	deep    []string // the path arguments that match at any depth
	release func()   // gives back what OpenToRead took; nil for nothing
}

// CheckArgs refuses a wrong number of arguments before anything else happens.
func (c *Call) CheckArgs() error {
	usage := "rewind " + c.Typed
	if c.Cmd.Usage != "" {
		usage += " " + c.Cmd.Usage
	}
	switch {
	case len(c.Args) < c.Cmd.MinArgs:
		return &UsageError{Msg: "too few arguments" + missing(c.Cmd.Usage, len(c.Args)), Hint: usage}
	case c.Cmd.MaxArgs >= 0 && len(c.Args) > c.Cmd.MaxArgs && c.Cmd.Paths && !c.Cmd.OnePath:
		most := c.Cmd.MaxArgs
		words := append([]string{"rewind", c.Typed}, QuoteAll(c.Args[:most])...)
		words = append(append(words, "--"), QuoteAll(c.Args[most:])...)
		return &UsageError{Msg: "unexpected argument " + Quote(c.Args[most]),
			Hint: "paths go after --: " + strings.Join(words, " ")}
	case c.Cmd.MaxArgs >= 0 && len(c.Args) > c.Cmd.MaxArgs:
		stray := c.Args[c.Cmd.MaxArgs]
		if c.Cmd.Stray != nil {
			usage = c.Cmd.Stray(stray)
		}
		return &UsageError{Msg: "unexpected argument " + Quote(stray), Hint: usage}
	case c.Flags.ArgsLenAtDash() >= 0 && len(c.Paths) == 0 && c.Cmd.MaxArgs >= 0:
		// Mostly a script's list that came out empty: it must not mean everything.
		return &UsageError{Msg: "no paths after --", Hint: usage}
	case len(c.Paths) > 0 && !c.Cmd.Paths && c.Cmd.MaxArgs >= 0:
		return &UsageError{Msg: "unexpected argument " + Quote(c.Paths[0]) + " after --", Hint: usage}
	}
	return nil
}

// missing names the n-th argument of a usage line, as far as the line has it outside of brackets.
func missing(usage string, n int) string {
	for word := range strings.FieldsSeq(usage) {
		if strings.ContainsAny(word, "[|") {
			break
		}
		if n == 0 {
			return ": " + word + " is missing"
		}
		n--
	}
	return ""
}

func QuoteAll(words []string) []string { return Map(words, ShellQuote) }

// Open finds the project and its store. The call closes it.
func (c *Call) Open(ctx context.Context) (*project.Project, error) {
	p, err := project.Open(ctx, c.OpenOptions())
	if err != nil {
		return nil, err
	}
	return p, c.Opened(ctx, p)
}

// OpenToRead is Open for a command that changes nothing: its questions share one open database. The store is in use until the
// command prints, since the person may read for as long as they like.
func (c *Call) OpenToRead(ctx context.Context) (*project.Project, error) {
	p, err := c.Open(ctx)
	if err == nil {
		c.release, err = p.Use(ctx)
	}
	return p, err
}

// HasRead gives back what OpenToRead took.
func (c *Call) HasRead() {
	if c.release != nil {
		c.release()
		c.release = nil
	}
}

// Opened takes the project over, and prints what was found on opening it.
func (c *Call) Opened(ctx context.Context, p *project.Project) error {
	c.Project = p
	c.Out.Note("project %s, store %s", p.Root(), p.StoreDir())
	committed := p.Committed.Load()
	maintain.CatchUp(ctx, p)
	p.Committed.Store(committed)
	c.tellNotices()
	if !c.Quiet {
		for _, w := range p.Warnings() {
			c.Out.Warn("%s", w.Error())
		}
	}
	return c.reportCrash(ctx, p)
}

// tellNotices prints what the project has to say that was not printed yet: a copy becomes a project
// of its own in the middle of a command.
func (c *Call) tellNotices() {
	for _, notice := range c.Project.Notices()[c.Noticed:] {
		c.Out.Warn("%s", notice)
		c.Noticed++
	}
}

// tellUnmirrored warns once, with the pack that the mirror did not get; rewind status shows it from then on.
func (c *Call) tellUnmirrored() {
	if c.Project.Copied {
		return
	}
	if err := c.Project.Store.Unmirrored(); err != nil {
		c.Out.Warn("the mirror could not be written (%s): what is saved now is in the project's store alone, and is lost with it, as with git clean -fdx; the next command that can write the mirror completes it", problem.Text(err))
	}
}

// AccountFile is the settings file of the account, "" without a home.
func (c *Call) AccountFile() string {
	if c.Env.Home == "" {
		return ""
	}
	return filepath.Join(c.Env.Home, ".rewind", "config.json")
}

func (c *Call) OpenOptions() project.OpenOptions {
	c.Out.Working(c.Cmd.Name)
	return project.OpenOptions{Env: c.Env, Root: c.Root, Progress: c.Out.progress(), Waiting: c.waiting()}
}

// waiting returns a function that prints, once, why nothing happens; nil where there is no terminal to print on.
func (c *Call) waiting() func(pid int) {
	if !c.Out.ErrTerm || c.Quiet {
		return nil
	}
	var once sync.Once
	return func(pid int) {
		once.Do(func() {
			who := "another rewind"
			if pid != 0 {
				who += fmt.Sprintf(" (pid %d)", pid)
			}
			c.Out.Tell("Waiting for %s to finish…", who)
		})
	}
}

func (c *Call) Close() {
	c.Out.EndProgress()
	c.HasRead()
	if c.Project != nil {
		c.tellNotices()
		c.Project.NoticesTold()
		c.tellUnmirrored()
		// What had to be durable is so before a verb returns; closing only gives back.
		c.Out.committed = c.Project.Committed.Load()
		_ = c.Project.Close()
		c.Project = nil
	}
}

// Checkpoint opens the project and resolves the i-th argument, or last.
func (c *Call) Checkpoint(ctx context.Context, i int) (*project.Project, project.Listed, error) {
	return c.checkpoint(ctx, i, c.Open)
}

// CheckpointToRead is Checkpoint by OpenToRead.
func (c *Call) CheckpointToRead(ctx context.Context, i int) (*project.Project, project.Listed, error) {
	return c.checkpoint(ctx, i, c.OpenToRead)
}

func (c *Call) checkpoint(ctx context.Context, i int, open func(context.Context) (*project.Project, error)) (*project.Project, project.Listed, error) {
	p, err := open(ctx)
	if err != nil {
		return nil, project.Listed{}, err
	}
	spec := "last"
	if i < len(c.Args) {
		spec = c.Args[i]
	}
	l, err := c.Resolve(ctx, p, spec)
	return p, l, err
}

// Resolve finds a checkpoint; where that takes a session, it says which.
func (c *Call) Resolve(ctx context.Context, p *project.Project, spec string) (project.Listed, error) {
	if _, _, ok := inspect.CutLog(spec); ok || spec != "" && c.Session != "" || !strings.HasPrefix(spec, "prompt~") {
		if spec == "" {
			return Resolve(ctx, p, spec)
		}
		l, err := inspect.ResolveAny(ctx, p, spec, c.Session)
		if err == nil && l.Of != "" && !c.Cmd.Pulled {
			return l, &project.PulledError{Log: l.Of}
		}
		if c.Session != "" {
			return l, err
		}
		return l, c.orPath(spec, err)
	}
	n, ok := conversation.PromptNumber(spec)
	if !ok && strings.Contains(spec, ":") { // prompt~N:PATH: of which session is a matter of prompt~N alone
		return project.Listed{}, c.orPath(spec, &project.NoCheckpointError{Spec: spec})
	}
	s, err := c.ChooseSessionWith(ctx, p, n)
	if err != nil {
		return project.Listed{}, err
	}
	return inspect.ResolveIn(ctx, p, spec, s.ID)
}

// orPath adds to an error about a checkpoint how a path is named, where the word is one.
func (c *Call) orPath(spec string, err error) error {
	if !errors.As(err, new(*project.NoCheckpointError)) || spec == "" {
		return err
	}
	verb := c.Cmd.Name
	if a, b, ok := strings.Cut(spec, ".."); ok && verb == "diff" && a != "" && strings.Trim(b, ".") != "" { // as in git
		return Hinted(err, "rewind diff "+ShellQuote(a)+" "+ShellQuote(strings.TrimPrefix(b, ".")))
	}
	if of, path, ok := strings.Cut(spec, ":"); ok && of != "" && path != "" && (verb == "diff" || verb == "restore") {
		if _, ok := conversation.PromptNumber(of); !ok {
			of = ShellQuote(of)
		}
		return Hinted(err, "paths go after --: rewind "+verb+" "+of+" -- "+ShellQuote(path))
	}
	if _, statErr := os.Lstat(filepath.Join(c.Env.Dir, spec)); statErr != nil {
		return err
	}
	hint := "rewind history " + ShellQuote(spec) + " shows the checkpoints that changed it"
	switch verb {
	case "diff":
		hint = "paths go after --: rewind diff -- " + ShellQuote(spec)
	case "restore":
		hint = "paths go after --: rewind restore last -- " + ShellQuote(spec)
	}
	return Hinted(err, hint)
}

// Resolve finds a checkpoint. An empty word is mostly a script's unset variable:
// it must not mean the newest.
func Resolve(ctx context.Context, p *project.Project, spec string) (project.Listed, error) {
	if spec == "" {
		return project.Listed{}, &UsageError{Msg: "the checkpoint is an empty string", Hint: "rewind list"}
	}
	return inspect.Resolve(ctx, p, spec)
}
