package app

import (
	"context"
	"io"

	"github.com/spf13/pflag"
)

// Command is one entry of the table: what a person may type, and what then runs.
type Command struct {
	Name     string
	Usage    string // arguments after the name
	Short    string // one line, for the overview
	Long     string // paragraphs of the command's own help
	Examples []Example
	Answers  Answers
	Exits    []int // the codes it can end with, beside 0, 1, 2, 4 and 130

	MinArgs, MaxArgs int // before --; MaxArgs -1: any number
	// Stray is the hint for an argument too many; nil: the usage.
	Stray    func(arg string) string
	Pulled   bool // takes checkpoints of logs that were pulled, too
	Paths    bool
	OnePath  bool // one argument or path is all that it takes
	Verbatim bool // the first argument ends the flags: what follows are a command's own words
	Flags    func(*pflag.FlagSet)
	Run      func(context.Context, *Call) error
}

// Answers are the documents that a command prints with --json, empty, by the names of their schemas in docs/schema.
type Answers map[string]any

// OwnFlags are the flags of the command, without those that all have.
func (c *Command) OwnFlags() *pflag.FlagSet {
	f := NewFlagSet(c.Name)
	if c.Flags != nil {
		c.Flags(f)
	}
	return f
}

type Example struct{ Line, Does string }

// Globals are the flags that every command has.
type Globals struct {
	Root, Session                 string
	JSON, Quiet, Verbose, noColor bool
	Help, Version                 bool
}

func (g *Globals) Define(f *pflag.FlagSet) {
	f.BoolVar(&g.JSON, "json", g.JSON, "print one JSON document")
	f.BoolVarP(&g.Quiet, "quiet", "q", g.Quiet, "print no summaries and no progress")
	f.BoolVarP(&g.Verbose, "verbose", "v", g.Verbose, "print more on stderr")
	f.BoolVar(&g.noColor, "no-color", g.noColor, "print no colours, as with $NO_COLOR")
	f.StringVar(&g.Root, "root", g.Root, "the project's `directory` (default: found from the working directory)")
	f.StringVar(&g.Session, "session", g.Session, "the agent's session, by `id`, agent or title")
	f.BoolVarP(&g.Help, "help", "h", false, "show this help")
	f.BoolVar(&g.Version, "version", g.Version, "print the version")
}

func NewFlagSet(name string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.Usage = func() {}
	f.SetOutput(io.Discard)
	f.SortFlags = false
	return f
}

// Parse reads a command line into the flags. One that takes a single value and is given a second, different one is refused,
// since the first would be dropped without a word. Errors: those of pflag, *UsageError.
func Parse(f *pflag.FlagSet, args []string) error {
	return f.ParseAll(args, func(flag *pflag.Flag, value string) error {
		before, given := flag.Value.String(), flag.Changed
		if err := f.Set(flag.Name, value); err != nil {
			return err
		}
		_, isList := flag.Value.(pflag.SliceValue)
		if now := flag.Value.String(); given && !isList && flag.Value.Type() != "bool" && now != before {
			return Usagef("--%s takes one value, and has two: %s and %s", flag.Name, Quote(before), Quote(now))
		}
		return nil
	})
}

// NotEmpty refuses the first of the flags that has an empty value: mostly a script's unset variable.
func (c *Call) NotEmpty(flags ...string) error {
	for _, name := range flags {
		if c.Flags.Changed(name) && c.Flags.Lookup(name).Value.String() == "" {
			return Usagef("--%s is an empty string", name)
		}
	}
	return nil
}

// OverrideEnv makes a flag stand for the environment variable that it beats.
func OverrideEnv(getenv func(string) string, key, value string) func(string) string {
	return func(k string) string {
		if k == key {
			return value
		}
		return getenv(k)
	}
}
