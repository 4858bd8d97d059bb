package show

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// diffFlags are those of diff.
type diffFlags struct {
	stat, nameOnly, nameStatus     bool
	context                        int
	ignoreSpace, noRenames, binary bool
	copies                         bool
	reverse                        bool
	precious, glob                 bool
	tool                           string
	toolGiven, namesAlone          bool
}

func (d *diffFlags) define(f *pflag.FlagSet) {
	f.BoolVar(&d.stat, "stat", false, "lines added and deleted per file")
	f.BoolVar(&d.nameOnly, "name-only", false, "only the paths")
	f.BoolVar(&d.nameStatus, "name-status", false, "only the status letter (A, M, D, T, R, C) and the path")
	f.IntVarP(&d.context, "unified", "U", inspect.DefaultContext, "`N` unchanged lines around each change")
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
	app.GlobFlag(f, &d.glob)
}

// check refuses flags that contradict each other.
func (d *diffFlags) check(c *app.Call) error {
	d.toolGiven = c.Flags.Changed("tool")
	d.namesAlone = d.nameOnly || d.nameStatus
	forms := 0
	for _, given := range []bool{d.stat, d.nameOnly, d.nameStatus, d.toolGiven} {
		if given {
			forms++
		}
	}
	switch {
	case d.stat && d.nameStatus && !d.nameOnly && !d.toolGiven:
		return app.Usagef("--stat and --name-status cannot be combined")
	case forms > 1:
		return app.Usagef("only one of --stat, --name-only, --name-status and --tool can be used")
	case d.context < 0:
		return app.Usagef("--unified must not be negative")
	case d.toolGiven && c.JSON:
		return app.Usagef("--tool and --json cannot be combined")
	}
	return nil
}

func NewDiff() *app.Command {
	var d diffFlags
	return &app.Command{
		Name: "diff",
		Usage: "[<a>] [<b>] [--stat|--name-only|--name-status|--tool[=CMD]] [-U N] [-w] [-R] [-C] [--no-renames] [--binary] [--precious] " +
			"[--base[=CKPT]] [-- path…]",
		Short: "compare checkpoints, or one with the working tree",
		Long: "Prints the differences from <a> (default: last) to <b>, or to the working tree if <b> is\n" +
			"omitted, in git's format: git apply and patch -p1 take them. Renames and copies are found\n" +
			"by content. Directories and permissions other than x, for which git has no format, are in\n" +
			"lines that begin with #, which both ignore. At a terminal it goes through\n" +
			"$REWIND_PAGER, else $PAGER, else less.\n" +
			"--base compares what <a> and <b> each changed since the newest checkpoint from which both\n" +
			"came, or since CKPT, as for two attempts at a prompt (attempt~1). Without it, the\n" +
			"paths of two attempts that only you or other sessions changed come last.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind diff", Does: "what changed since the last checkpoint"},
			{Line: "rewind diff 3 1", Does: "from checkpoint 3 to the newest"},
			{Line: "rewind diff v1 --stat", Does: "lines per file"},
			{Line: "rewind diff @{1h} -- src '*.go'", Does: "against an hour ago, these paths only"},
			{Line: "rewind diff 3 1 --binary | git apply", Does: "make the same changes elsewhere"},
			{Line: "rewind diff -w -U 10", Does: "ignore white space, show more around"},
			{Line: "rewind diff attempt~1 attempt~2 --base", Does: "what two attempts at a prompt changed"},
			{Line: "rewind diff 3 --tool=meld", Does: "look at both sides in another program"},
		},
		Answers: app.Answers{"diff": diffAnswer{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MaxArgs: 2, Paths: true, Pulled: true,
		Flags: d.define,
		Run:   func(ctx context.Context, c *app.Call) error { return runDiff(ctx, c, &d) },
	}
}

// diffAnswer is what diff prints as JSON.
type diffAnswer struct {
	rows.ChangesView
	Head *rows.HeadMovedView `json:"head_moved,omitempty"` // where git's HEAD is, if not the same on both sides
}

func runDiff(ctx context.Context, c *app.Call, d *diffFlags) error {
	if err := d.check(c); err != nil {
		return err
	}
	p, a, b, reverse, err := diffSides(ctx, c)
	if err != nil {
		return err
	}
	if reverse {
		d.reverse = !d.reverse
	}
	o := inspect.DiffOptions{
		A: a, B: b, Patch: !d.namesAlone && !d.toolGiven, WithPrecious: d.precious,
		Context: d.context, IgnoreSpace: d.ignoreSpace, Binary: d.binary, Renames: !d.noRenames, Copies: d.copies, Reverse: d.reverse,
	}
	if o.Context == 0 {
		o.Context = -1 // none, not the default
	}
	sides := []manifest.Checkpoint{o.A}
	if o.B != nil {
		sides = append(sides, *o.B)
	}
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, d.glob, sides...); err != nil {
		return err
	}
	head := inspect.HeadMoves(p, o.A, o.B)
	if head != nil && d.reverse {
		head.From, head.To = head.To, head.From
	}
	if d.toolGiven {
		return diffTool(ctx, c, p, o, d.tool)
	}
	files, err := inspect.Diff(ctx, p, o)
	if err != nil {
		return err
	}
	hint, err := othersLast(ctx, c, p, &o, files)
	if err != nil {
		return err
	}
	if c.JSON {
		v := diffAnswer{rows.NewChangesView(), rows.ViewHeadMoved(head)}
		for i := range files {
			v.AddDiff(files[i], !d.namesAlone)
		}
		return c.Document(v)
	}
	c.Out.EndProgress()
	var instead []problem.Problem
	for _, f := range files {
		if f.Instead.Path != "" && !slices.Contains(instead, f.Instead) {
			instead = append(instead, f.Instead)
		}
	}
	if text := rows.InsteadText(instead); text != "" {
		c.Out.Warn("files were replaced by what %s", text)
	}
	return c.Page(ctx, func() {
		if hint != "" && !c.Out.Quiet {
			defer c.Out.Hint("%s", hint)
		}
		if head != nil && !c.Out.Quiet {
			defer c.Out.Hint("%s: rewind list shows what git did", rows.HeadMovedText(head))
		}
		switch {
		case d.nameOnly:
			for _, f := range files {
				c.Out.Line("%s", app.EscapePath(f.Path))
			}
		case d.nameStatus:
			for _, f := range files {
				printNameStatus(c.Out, f)
			}
		case d.stat:
			printStat(c.Out, files)
		default:
			for _, f := range files {
				printPatch(c.Out, f)
			}
		}
	})
}

// diffSides finds what is compared. b is nil for the working tree, which is also the end of an attempt that has no checkpoint;
// where that is the first of two, reverse is true.
func diffSides(ctx context.Context, c *app.Call) (p *project.Project, a manifest.Checkpoint, b *manifest.Checkpoint, reverse bool, err error) {
	p, first, err := c.CheckpointToRead(ctx, 0)
	if len(c.Args) < 2 || err != nil && !endsNow(err) {
		return p, first.Checkpoint, nil, false, err
	}
	reverse = err != nil
	second, err := c.Resolve(ctx, p, c.Args[1])
	switch {
	case reverse:
		return p, second.Checkpoint, nil, true, err
	case endsNow(err):
		return p, first.Checkpoint, nil, false, nil
	}
	return p, first.Checkpoint, &second.Checkpoint, false, err
}

// endsNow reports whether a name means an attempt that ends with the working tree.
func endsNow(err error) bool {
	none := (*attempts.NoAttemptError)(nil)
	return errors.As(err, &none) && none.Now
}

// othersLast puts the paths that only others changed last, where attempts at a prompt are compared. hint says how many they are.
func othersLast(ctx context.Context, c *app.Call, p *project.Project, o *inspect.DiffOptions, files []inspect.FileDiff) (hint string, err error) {
	if !slices.ContainsFunc(c.Args, func(word string) bool { _, ok := attempts.Number(word); return ok }) {
		return "", nil
	}
	apart, err := inspect.ApartOf(ctx, p, &o.A, o.B)
	n := apart.Sort(files)
	if n == 0 || err != nil {
		return "", err
	}
	return rows.OthersLast(n) + "; rewind diff " + strings.Join(c.Args, " ") + " --base tells them apart", nil
}

// printNameStatus prints git's line: of a rename or a copy with the score, and both paths.
func printNameStatus(o *app.Output, f inspect.FileDiff) {
	if f.Status == patch.Renamed || f.Status == patch.Copied {
		o.Line("%s\t%s\t%s", o.Color.Paint(rows.LetterStyle(byte(f.Status)), formatScore(f)), app.EscapePath(f.From), app.EscapePath(f.Path))
		return
	}
	rows.PrintChange(o, f.Change, "")
}

// printPatch prints one file's diff. To a terminal control characters of the
// content are shown escaped; elsewhere the patch keeps its bytes, so that it applies.
func printPatch(o *app.Output, d inspect.FileDiff) {
	if d.Patch == "" {
		switch {
		case d.Large:
			o.Line("%s", o.Color.Paint(screen.Bold, "File "+app.EscapePath(d.Path)+" differs: too large to be shown line by line"))
		case d.Binary:
			o.Line("%s", o.Color.Paint(screen.Bold, "Binary file "+app.EscapePath(d.Path)+" differs"))
		default:
			o.Line("%s", o.Color.Paint(screen.Bold, rows.ModeLine(d)))
		}
		return
	}
	if !o.OutTerm {
		o.Buf.WriteString(d.Patch)
		return
	}
	o.Buf.WriteString(rows.PaintPatch(o.Color, d.Patch))
}
