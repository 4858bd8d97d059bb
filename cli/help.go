package cli

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/spf13/pflag"
)

func newHelp() *app.Command {
	var all bool
	return &app.Command{
		Name:  "help",
		Usage: "[command] [--all]",
		Short: "show help",
		Long:  "Shows the commands, or one command's flags, examples and exit codes.",
		Examples: []app.Example{
			{Line: "rewind help", Does: "the commands"},
			{Line: "rewind help restore", Does: "one command"},
			{Line: "rewind help --all", Does: "older names, too"},
		},
		Answers: app.Answers{"help": overviewView{}, "help-command": helpView{}},
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&all, "all", false, "also list older names of commands, which go on working")
		},
		Run: func(_ context.Context, c *app.Call) error {
			if len(c.Args) == 0 {
				return printOverview(c.Out, all)
			}
			cmd := lookup(c.Args[0])
			if cmd == nil {
				return unknownCommand(c.Args[0])
			}
			return printHelp(c.Out, cmd, cmd.Name)
		},
	}
}

// overviewView is what help prints with --json, and helpView that of one command.
type overviewView struct {
	Commands []helpView `json:"commands"`
}

type helpView struct {
	Name      string     `json:"name"`
	Usage     string     `json:"usage"`
	Short     string     `json:"short"`
	Long      string     `json:"long,omitempty"`
	Flags     []flagView `json:"flags,omitempty"`
	ExitCodes []int      `json:"exit_codes"`
}

type flagView struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Type      string `json:"type"`
	Default   string `json:"default"`
	Usage     string `json:"usage"`
}

func viewHelp(cmd *app.Command) helpView {
	v := helpView{Name: cmd.Name, Usage: strings.TrimSpace("rewind " + cmd.Name + " " + cmd.Usage), Short: cmd.Short, Long: cmd.Long, ExitCodes: exitCodes(cmd)}
	if cmd.Name == "hook" {
		v.ExitCodes = []int{app.ExitOK, app.ExitUsage}
	}
	cmd.OwnFlags().VisitAll(func(f *pflag.Flag) {
		v.Flags = append(v.Flags, flagView{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage})
	})
	return v
}

func printOverview(o *app.Output, all bool) error {
	if o.JSON {
		var v overviewView
		for _, e := range entries() {
			if !e.hidden || all && e.now != "" {
				v.Commands = append(v.Commands, viewHelp(e.make()))
			}
		}
		return o.Document(v)
	}
	o.Line("rewind takes checkpoints of a project and restores them exactly.")
	o.Line("")
	o.Line("Usage: rewind [command] [flags]")
	o.Line("")
	o.Line("%s", overviewBare)
	grouped(func(title string, commands []*app.Command) {
		o.Line("")
		o.Line("%s:", title)
		for _, c := range commands {
			o.Line("  %s %s", app.Pad(c.Name, 13), c.Short)
		}
	})
	if all {
		o.Line("")
		o.Line("Older names, which still work:")
		for _, e := range entries() {
			if e.now != "" {
				o.Line("  %s now rewind %s", app.Pad(e.name, 13), e.now)
			}
		}
		o.Line("  %s now rewind restore", app.Pad("jump", 13))
	}
	o.Line("")
	o.Line("Global flags:")
	o.Buf.WriteString(globalUsages())
	o.Line("")
	for _, l := range namingLines {
		o.Line("%s", l)
	}
	o.Line("")
	o.Line("See rewind help <command> for details.")
	return nil
}

const overviewBare = "Without a command, shows the picker at a terminal, status elsewhere."

var namingLines = [...]string{
	"A checkpoint is named by last, prev, its number in list, a name, an id or four",
	"or more letters of it, @{5m}, @{2026-11-20 14:30}, @green, prompt~1, attempt~1.",
}

// printHelp prints the help of a command that was typed so: list --ops, for log.
func printHelp(o *app.Output, cmd *app.Command, typed string) error {
	v := viewHelp(cmd)
	usage := strings.TrimSpace("rewind " + typed + " " + cmd.Usage)
	if v.Usage = usage; o.JSON {
		return o.Document(v)
	}
	for i, l := range wrapUsage(usage, helpWidth-len("           ")) {
		o.Line("%s%s", [2]string{"Usage: ", "           "}[min(i, 1)], l)
	}
	o.Line("")
	o.Line("%s", wrapText(cmd.Long, helpWidth))
	if own := cmd.OwnFlags(); own.HasFlags() {
		o.Line("")
		o.Line("Flags:")
		o.Buf.WriteString(flagUsages(own))
	}
	o.Line("")
	o.Line("Global flags:")
	o.Buf.WriteString(globalUsages())
	if len(cmd.Examples) > 0 {
		o.Line("")
		o.Line("Examples:")
		for _, e := range cmd.Examples {
			o.Line("  %s", e.Line)
			o.Line("      %s", strings.ReplaceAll(wrapText(e.Does, helpWidth-6), "\n", "\n      "))
		}
	}
	o.Line("")
	o.Line("Exit codes:")
	for _, e := range statuses(cmd) {
		o.Line("  %3d  %s", e.code, strings.ReplaceAll(wrapText(e.meaning, helpWidth-7), "\n", "\n       "))
	}
	return nil
}

type exitStatus struct {
	code    int
	meaning string
}

// statuses is what the codes of the command mean, in order.
func statuses(c *app.Command) []exitStatus {
	if c.Name == "hook" { // hooks never fail an agent
		return []exitStatus{
			{app.ExitOK, "done, or failed: rewind status shows why"},
			{app.ExitUsage, "the tool call is blocked: it would damage the store, or only the user may run it"},
		}
	}
	var out []exitStatus
	more := map[string]string{"grep": "nothing matches, or ", "status": "--check found a problem, or ", "validate": "a problem was found, or "}[c.Name]
	for _, code := range exitCodes(c) {
		meaning := app.ExitMeaning(code)
		if code == app.ExitFailed {
			meaning = more + meaning
		}
		out = append(out, exitStatus{code, meaning})
	}
	return out
}

// wrapUsage breaks a usage line between its parts. A text in brackets is one part.
func wrapUsage(usage string, width int) []string {
	var lines, parts []string
	depth, from := 0, 0
	for i, r := range usage + " " {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ' ' && depth == 0:
			parts = append(parts, usage[from:i])
			from = i + 1
		}
	}
	line := ""
	for _, part := range parts {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(part) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+part, " ")
	}
	return append(lines, line)
}

func globalUsages() string { return flagUsages(globalFlags()) }

// helpWidth is how many columns a help text takes at most, but for words and examples that are longer.
const helpWidth = 80

func flagUsages(f *pflag.FlagSet) string {
	f.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" { // what it means without a value is in its text
			f.NoOptDefVal = ""
		}
	})
	return f.FlagUsagesWrapped(helpWidth)
}

// wrapText breaks a text anew, paragraph by paragraph. Tables and examples stay as they are.
func wrapText(text string, width int) string {
	parts := strings.Split(text, "\n\n")
	for i, part := range parts {
		if setOut(strings.Split(part, "\n")) {
			continue
		}
		var out strings.Builder
		column := 0
		for word := range strings.FieldsSeq(part) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > width:
				out.WriteByte('\n')
				column = 0
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += n
		}
		parts[i] = out.String()
	}
	return strings.Join(parts, "\n\n")
}

func globalFlags() *pflag.FlagSet {
	f := app.NewFlagSet("")
	new(app.Globals).Define(f)
	return f
}

// exitCodes are those that the command can end with, in order.
func exitCodes(c *app.Command) []int {
	codes := append([]int{app.ExitOK, app.ExitFailed, app.ExitUsage, app.ExitInterrupted}, c.Exits...)
	if c.Name != "help" && c.Name != "completion" && c.Name != "man" {
		codes = append(codes, app.ExitNoProject)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// versionView is what --version prints with --json.
type versionView struct {
	Version string `json:"version"`
}

func printVersion(o *app.Output) error {
	v := app.VersionText()
	if o.JSON {
		return o.Document(versionView{v})
	}
	o.Line("rewind %s", v)
	return nil
}
