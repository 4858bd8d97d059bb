package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

func newHelp() *command {
	var all bool
	return &command{
		name:  "help",
		usage: "[command] [--all]",
		short: "show help",
		long:  "Shows the commands, or one command's flags, examples and exit codes.",
		examples: []example{
			{"rewind help", "the commands"},
			{"rewind help restore", "one command"},
			{"rewind help --all", "older names, too"},
		},
		maxArgs: 1,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&all, "all", false, "also list older names of commands, which go on working")
		},
		run: func(_ context.Context, c *call) error {
			if len(c.args) == 0 {
				return printOverview(c.out, all)
			}
			cmd := lookup(c.args[0])
			if cmd == nil {
				return unknownCommand(c.args[0])
			}
			return printHelp(c.out, cmd, cmd.name)
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

func viewHelp(cmd *command) helpView {
	v := helpView{Name: cmd.name, Usage: strings.TrimSpace("rewind " + cmd.name + " " + cmd.usage), Short: cmd.short, Long: cmd.long, ExitCodes: cmd.exitCodes()}
	if cmd.name == "hook" {
		v.ExitCodes = []int{exitOK, exitUsage}
	}
	if cmd.flags != nil {
		own := newFlagSet(cmd.name)
		cmd.flags(own)
		own.VisitAll(func(f *pflag.Flag) {
			v.Flags = append(v.Flags, flagView{f.Name, f.Shorthand, f.Value.Type(), f.DefValue, f.Usage})
		})
	}
	return v
}

func printOverview(o *output, all bool) error {
	if o.json {
		var v overviewView
		for _, e := range entries() {
			if !e.hidden || all && e.now != "" {
				v.Commands = append(v.Commands, viewHelp(e.make()))
			}
		}
		return o.document(v)
	}
	o.line("rewind takes checkpoints of a project and restores them exactly.")
	o.line("")
	o.line("Usage: rewind [command] [flags]")
	o.line("")
	o.line("%s", overviewBare)
	grouped(func(title string, commands []*command) {
		o.line("")
		o.line("%s:", title)
		for _, c := range commands {
			o.line("  %s %s", pad(c.name, 13), c.short)
		}
	})
	if all {
		o.line("")
		o.line("Older names, which still work:")
		for _, e := range entries() {
			if e.now != "" {
				o.line("  %s now rewind %s", pad(e.name, 13), e.now)
			}
		}
		o.line("  %s now rewind restore", pad("jump", 13))
	}
	o.line("")
	o.line("Global flags:")
	o.buf.WriteString(globalUsages())
	o.line("")
	for _, l := range namingLines {
		o.line("%s", l)
	}
	o.line("")
	o.line("See rewind help <command> for details.")
	return nil
}

const overviewBare = "Without a command, shows the picker at a terminal, status elsewhere."

var namingLines = [...]string{
	"A checkpoint is named by last, prev, its number in list, a name, an id or four",
	"or more letters of it, @{5m}, @{2026-11-20 14:30}, prompt~1, or attempt~1.",
}

// printHelp prints the help of a command that was typed so: list --ops, for log.
func printHelp(o *output, cmd *command, typed string) error {
	v := viewHelp(cmd)
	usage := strings.TrimSpace("rewind " + typed + " " + cmd.usage)
	if v.Usage = usage; o.json {
		return o.document(v)
	}
	for i, l := range wrapUsage(usage, helpWidth-len("           ")) {
		o.line("%s%s", [2]string{"Usage: ", "           "}[min(i, 1)], l)
	}
	o.line("")
	o.line("%s", wrapText(cmd.long, helpWidth))
	own := newFlagSet(cmd.name)
	if cmd.flags != nil {
		cmd.flags(own)
	}
	if own.HasFlags() {
		o.line("")
		o.line("Flags:")
		o.buf.WriteString(flagUsages(own))
	}
	o.line("")
	o.line("Global flags:")
	o.buf.WriteString(globalUsages())
	if len(cmd.examples) > 0 {
		o.line("")
		o.line("Examples:")
		for _, e := range cmd.examples {
			o.line("  %s", e.line)
			o.line("      %s", strings.ReplaceAll(wrapText(e.does, helpWidth-6), "\n", "\n      "))
		}
	}
	o.line("")
	o.line("Exit codes:")
	for _, e := range cmd.exitStatus() {
		o.line("  %3d  %s", e.code, strings.ReplaceAll(wrapText(e.meaning, helpWidth-7), "\n", "\n       "))
	}
	return nil
}

type exitStatus struct {
	code    int
	meaning string
}

// exitStatus is what the codes of the command mean, in order.
func (c *command) exitStatus() []exitStatus {
	if c.name == "hook" { // hooks never fail an agent
		return []exitStatus{
			{exitOK, "done, or failed: rewind status shows why"},
			{exitUsage, "the tool call is blocked: it would damage the store, or only the user may run it"},
		}
	}
	var out []exitStatus
	for _, code := range c.exitCodes() {
		out = append(out, exitStatus{code, exitMeaning(code)})
	}
	return out
}

// wrapUsage breaks a usage line between its parts. What stands in brackets is one.
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
	f := newFlagSet("")
	new(globals).define(f)
	return f
}

// exitCodes are those that the command can end with, in order.
func (c *command) exitCodes() []int {
	codes := append([]int{exitOK, exitFailed, exitUsage, exitInterrupted}, c.exits...)
	if c.name != "help" && c.name != "completion" && c.name != "man" {
		codes = append(codes, exitNoProject)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Version is set by the linker (-X <module>/cli.Version=1.2.3); without
// that the build information tells.
var Version string

// versionView is what --version prints with --json.
type versionView struct {
	Version string `json:"version"`
}

func printVersion(o *output) error {
	v := versionText()
	if o.json {
		return o.document(versionView{v})
	}
	o.line("rewind %s", v)
	return nil
}

func versionText() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := strings.Trim(info.Main.Version, "()")
	if v == "" {
		v = "devel"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if rev := settings["vcs.revision"]; v == "devel" && rev != "" {
		v = fmt.Sprintf("devel %.12s", rev)
		if settings["vcs.modified"] == "true" {
			v += " modified"
		}
	}
	return v
}
