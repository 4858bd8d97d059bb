package cli

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
	"github.com/rewind-cli/rewind/engine/project"
)

// call is one run of one command.
type call struct {
	globals
	cmd   *command
	name  string // as typed: jump for restore
	typed string // name, or the visible command and flag that run it: list --ops
	flags *pflag.FlagSet
	args  []string // before --
	paths []string // after --, as typed
	env   account.Env
	out   *output

	project *project.Project
	noticed int // of the project's notices, those that were printed
}

// checkArgs refuses a wrong number of arguments before anything else happens.
func (c *call) checkArgs() error {
	usage := "rewind " + c.typed
	if c.cmd.usage != "" {
		usage += " " + c.cmd.usage
	}
	switch {
	case len(c.args) < c.cmd.minArgs:
		return &usageError{msg: "too few arguments" + missing(c.cmd.usage, len(c.args)), hint: usage}
	case c.cmd.maxArgs >= 0 && len(c.args) > c.cmd.maxArgs && c.cmd.paths && !c.cmd.onePath:
		most := c.cmd.maxArgs
		words := append([]string{"rewind", c.typed}, quoteAll(c.args[:most])...)
		words = append(append(words, "--"), quoteAll(c.args[most:])...)
		return &usageError{msg: "unexpected argument " + quote(c.args[most]),
			hint: "paths go after --: " + strings.Join(words, " ")}
	case c.cmd.maxArgs >= 0 && len(c.args) > c.cmd.maxArgs:
		stray := c.args[c.cmd.maxArgs]
		if c.cmd.stray != nil {
			usage = c.cmd.stray(stray)
		}
		return &usageError{msg: "unexpected argument " + quote(stray), hint: usage}
	case c.flags.ArgsLenAtDash() >= 0 && len(c.paths) == 0 && c.cmd.maxArgs >= 0:
		// Mostly a script's list that came out empty: it must not mean everything.
		return &usageError{msg: "no paths after --", hint: usage}
	case len(c.paths) > 0 && !c.cmd.paths && c.cmd.maxArgs >= 0:
		return &usageError{msg: "unexpected argument " + quote(c.paths[0]) + " after --", hint: usage}
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

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellQuote(w)
	}
	return out
}

// open finds the project and its store. The call closes it.
func (c *call) open(ctx context.Context) (*project.Project, error) {
	p, err := project.Open(ctx, c.openOptions())
	if err != nil {
		return nil, err
	}
	return p, c.opened(ctx, p)
}

// opened takes the project over, and tells what was found on opening it.
func (c *call) opened(ctx context.Context, p *project.Project) error {
	c.project = p
	c.out.note("project %s, store %s", p.Root(), p.StoreDir())
	committed := p.Committed.Load()
	maintain.CatchUp(ctx, p)
	p.Committed.Store(committed)
	c.tellNotices()
	if !c.quiet {
		for _, w := range p.Warnings() {
			c.out.warn("%s", w.Error())
		}
	}
	return c.reportCrash(ctx, p)
}

// tellNotices prints what the project has to say that was not printed yet: a copy becomes a project
// of its own in the middle of a command.
func (c *call) tellNotices() {
	for _, notice := range c.project.Notices()[c.noticed:] {
		c.out.warn("%s", notice)
		c.noticed++
	}
}

// accountFile is the settings file of the account, "" without a home.
func (c *call) accountFile() string {
	if c.env.Home == "" {
		return ""
	}
	return filepath.Join(c.env.Home, ".rewind", "config.json")
}

func (c *call) openOptions() project.OpenOptions {
	c.out.working(c.cmd.name)
	return project.OpenOptions{Env: c.env, Root: c.root, Progress: c.out.progress(), Waiting: c.waiting()}
}

// waiting tells a person, once, why nothing happens; nil where nobody would see it.
func (c *call) waiting() func(pid int) {
	if !c.out.errTerm || c.quiet {
		return nil
	}
	var once sync.Once
	return func(pid int) {
		once.Do(func() {
			who := "another rewind"
			if pid != 0 {
				who += fmt.Sprintf(" (pid %d)", pid)
			}
			c.out.tell("Waiting for %s to finish…", who)
		})
	}
}

func (c *call) close() {
	c.out.endProgress()
	if c.project != nil {
		c.tellNotices()
		// What had to be durable is so before a verb returns; closing only gives back.
		c.out.committed = c.project.Committed.Load()
		_ = c.project.Close()
		c.project = nil
	}
}

// checkpoint opens the project and resolves the i-th argument, or last.
func (c *call) checkpoint(ctx context.Context, i int) (*project.Project, project.Listed, error) {
	p, err := c.open(ctx)
	if err != nil {
		return nil, project.Listed{}, err
	}
	spec := "last"
	if i < len(c.args) {
		spec = c.args[i]
	}
	l, err := c.resolve(ctx, p, spec)
	return p, l, err
}

// resolve finds a checkpoint; where that takes a session, it says which.
func (c *call) resolve(ctx context.Context, p *project.Project, spec string) (project.Listed, error) {
	if spec != "" && c.session != "" {
		return inspect.ResolveIn(ctx, p, spec, c.session)
	}
	if !strings.HasPrefix(spec, "prompt~") {
		l, err := resolve(ctx, p, spec)
		return l, c.orPath(spec, err)
	}
	n, _ := conversation.PromptNumber(spec)
	s, err := c.chooseSessionWith(ctx, p, n)
	if err != nil {
		return project.Listed{}, err
	}
	return inspect.ResolveIn(ctx, p, spec, s.ID)
}

// orPath adds to an error about a checkpoint how a path is named, where the word is one.
func (c *call) orPath(spec string, err error) error {
	if !errors.As(err, new(*project.NoCheckpointError)) || spec == "" {
		return err
	}
	if _, statErr := os.Lstat(filepath.Join(c.env.Dir, spec)); statErr != nil {
		return err
	}
	hint := "rewind history " + shellQuote(spec) + " shows the checkpoints that changed it"
	switch c.cmd.name {
	case "diff":
		hint = "paths go after --: rewind diff -- " + shellQuote(spec)
	case "restore":
		hint = "paths go after --: rewind restore last -- " + shellQuote(spec)
	}
	return &hintedError{err, hint}
}

// resolve finds a checkpoint. An empty word is mostly a script's unset variable:
// it must not mean the newest.
func resolve(ctx context.Context, p *project.Project, spec string) (project.Listed, error) {
	if spec == "" {
		return project.Listed{}, &usageError{msg: "the checkpoint is an empty string", hint: "rewind list"}
	}
	return inspect.Resolve(ctx, p, spec)
}
