package app

import (
	"context"

	"github.com/spf13/pflag"
)

// Command is one entry of the table: what a person may type, and what then runs.
type Command struct {
	Name     string
	Usage    string // arguments after the name
	Short    string // one line, for the overview
	Long     string // paragraphs of the command's own help
	Examples []Example
	Exits    []int // the codes it can end with, beside 0, 1, 2, 4 and 130

	MinArgs, MaxArgs int // before --; MaxArgs -1: any number
	// Stray is the hint for an argument too many; nil: the usage.
	Stray    func(arg string) string
	Paths    bool
	OnePath  bool // one argument or path is all that it takes
	Verbatim bool // the first argument ends the flags: what follows are a command's own words
	Flags    func(*pflag.FlagSet)
	Run      func(context.Context, *Call) error
}

// OwnFlags are the flags of the command, without those that all have.
func (c *Command) OwnFlags() *pflag.FlagSet {
	f := NewFlagSet(c.Name)
	if c.Flags != nil {
		c.Flags(f)
	}
	return f
}

type Example struct{ Line, Does string }
