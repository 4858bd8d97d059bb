package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// diffFlags are those of diff.
type diffFlags struct {
	stat, nameOnly, nameStatus          bool
	context                             int
	ignoreSpace, noRenames, binary      bool
	copies                              bool
	reverse                             bool
	precious, glob                      bool
	tool                                string
	contextGiven, toolGiven, namesAlone bool
}

// defaultContext is how many unchanged lines stand around a change, as git has it.
const defaultContext = 3

func (d *diffFlags) define(f *pflag.FlagSet) {
	f.BoolVar(&d.stat, "stat", false, "lines added and deleted per file")
	f.BoolVar(&d.nameOnly, "name-only", false, "only the paths")
	f.BoolVar(&d.nameStatus, "name-status", false, "only the status letter (A, M, D, T, R, C) and the path")
	f.IntVarP(&d.context, "unified", "U", defaultContext, "`N` unchanged lines around each change")
	f.BoolVarP(&d.ignoreSpace, "ignore-all-space", "w", false, "lines that differ in white space alone are the same")
	f.BoolVar(&d.noRenames, "no-renames", false, "show a rename as a deletion and an addition")
	f.BoolVarP(&d.copies, "find-copies", "C", false, "find copies that were changed, too, of files that differ")
	f.BoolVar(&d.binary, "binary", false, "patches that hold the content of binary files, for git apply")
	f.BoolVarP(&d.reverse, "reverse", "R", false, "the other way round: from <b> to <a>")
	f.StringVar(&d.tool, "tool", "", "show both sides with `CMD` (--tool=CMD; default: $REWIND_DIFFTOOL, then git's diff.tool)")
	f.Lookup("tool").NoOptDefVal = defaultTool
	f.BoolVar(&d.precious, "precious", false, "also show the content of precious files")
	f.String("base", "", "compare what both sides changed since `CKPT` (--base=CKPT; default: what they have in common)")
	f.Lookup("base").NoOptDefVal = "newest"
	globFlag(f, &d.glob)
}

// check refuses flags that contradict each other.
func (d *diffFlags) check(c *call) error {
	d.contextGiven, d.toolGiven = c.flags.Changed("unified"), c.flags.Changed("tool")
	d.namesAlone = d.nameOnly || d.nameStatus
	forms := 0
	for _, given := range []bool{d.stat, d.nameOnly, d.nameStatus, d.toolGiven} {
		if given {
			forms++
		}
	}
	switch {
	case d.stat && d.nameStatus && !d.nameOnly && !d.toolGiven:
		return usagef("--stat and --name-status cannot be combined")
	case forms > 1:
		return usagef("only one of --stat, --name-only, --name-status and --tool can be used")
	case d.context < 0:
		return usagef("--unified must not be negative")
	case d.toolGiven && c.json:
		return usagef("--tool and --json cannot be combined")
	}
	return nil
}

func newDiff() *command {
	var d diffFlags
	return &command{
		name: "diff",
		usage: "[<a>] [<b>] [--stat|--name-only|--name-status|--tool[=CMD]] [-U N] [-w] [-R] [-C] [--no-renames] [--binary] [--precious] " +
			"[--base[=CKPT]] [-- path…]",
		short: "compare checkpoints, or one with the working tree",
		long: "Prints the differences from <a> (default: last) to <b>, or to the working tree if <b> is\n" +
			"omitted, in git's format: git apply and patch -p1 take them. Renames and copies are found\n" +
			"by content. Directories and permissions other than x, for which git has no format, are in\n" +
			"lines that begin with #, which both ignore. At a terminal it goes through\n" +
			"$REWIND_PAGER, else $PAGER, else less.\n" +
			"--base compares what <a> and <b> each changed since the newest checkpoint from which both\n" +
			"came, or since CKPT, as for two attempts at a prompt (attempt~1).\n" + aboutPaths,
		examples: []example{
			{"rewind diff", "what changed since the last checkpoint"},
			{"rewind diff 3 1", "from checkpoint 3 to the newest"},
			{"rewind diff v1 --stat", "lines per file"},
			{"rewind diff @{1h} -- src '*.go'", "against an hour ago, these paths only"},
			{"rewind diff 3 1 --binary | git apply", "make the same changes elsewhere"},
			{"rewind diff -w -U 10", "ignore white space, show more around"},
			{"rewind diff attempt~1 attempt~2 --base", "what two attempts at a prompt changed"},
			{"rewind diff 3 --tool=meld", "look at both sides in another program"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		maxArgs: 2, paths: true,
		flags: d.define,
		run:   func(ctx context.Context, c *call) error { return runDiff(ctx, c, &d) },
	}
}

func runDiff(ctx context.Context, c *call, d *diffFlags) error {
	if err := d.check(c); err != nil {
		return err
	}
	p, a, err := c.checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	o := inspect.DiffOptions{
		A: a.Checkpoint, Patch: !d.namesAlone && !d.toolGiven, WithPrecious: d.precious,
		Context: d.context, IgnoreSpace: d.ignoreSpace, Binary: d.binary, Renames: !d.noRenames, Copies: d.copies, Reverse: d.reverse,
	}
	if o.Context == 0 {
		o.Context = -1 // none, not the default
	}
	if len(c.args) == 2 {
		b, err := c.resolve(ctx, p, c.args[1])
		if err != nil {
			return err
		}
		o.B = &b.Checkpoint
	}
	sides := []manifest.Checkpoint{o.A}
	if o.B != nil {
		sides = append(sides, *o.B)
	}
	if o.Paths, err = c.patterns(ctx, p, c.paths, d.glob, sides...); err != nil {
		return err
	}
	if d.toolGiven {
		return c.diffTool(ctx, p, o, d.tool)
	}
	files, err := inspect.Diff(ctx, p, o)
	if err != nil {
		return err
	}
	return printDiff(ctx, c, p, d, files)
}

func printDiff(ctx context.Context, c *call, _ *project.Project, d *diffFlags, files []inspect.FileDiff) error {
	if c.json {
		v := newChangesView()
		for i := range files {
			v.addDiff(files[i], !d.namesAlone)
		}
		return c.out.document(v)
	}
	c.out.endProgress()
	return c.out.paged(ctx, c.env, func() error {
		switch {
		case d.nameOnly:
			for _, f := range files {
				c.out.line("%s", escapePath(f.Path))
			}
		case d.nameStatus:
			for _, f := range files {
				printNameStatus(c.out, f)
			}
		case d.stat:
			printStat(c.out, files)
		default:
			for _, f := range files {
				printPatch(c.out, f)
			}
		}
		return nil
	})
}

// printNameStatus prints git's line: of a rename or a copy with the score, and both paths.
func printNameStatus(o *output, f inspect.FileDiff) {
	if f.Status == patch.Renamed || f.Status == patch.Copied {
		o.line("%s\t%s\t%s", o.color.Paint(letterStyle(byte(f.Status)), formatScore(f)), escapePath(f.From), escapePath(f.Path))
		return
	}
	printChange(o, f.Change, "")
}
