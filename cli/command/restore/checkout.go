package restore

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/spf13/pflag"
)

func NewCheckout() *app.Command {
	var withoutPrecious, glob bool
	return &app.Command{
		Name:  "checkout",
		Usage: "<ckpt> DIR [--without-precious] [-- path…]",
		Short: "write a checkpoint's files into another directory",
		Long: "Writes the files of the checkpoint into a directory of its own, to look at, run or compare\n" +
			"an old state beside the current one. The project stays as it is. The directory is created;\n" +
			"one that is there must be empty, and inside the project only an ignored one is allowed.\n" +
			"Files that have not changed since share their blocks with the project's where the file\n" +
			"system can. Modes, symlinks and empty directories are exact. Paths that are not captured,\n" +
			"such as .git or node_modules, are missing. Precious files (ignored by git but captured,\n" +
			"such as .env) are included, since an old state mostly needs them to run. Use rewind\n" +
			"export for a copy to hand on. If a checkout is interrupted, the same command completes it;\n" +
			"files that were changed meanwhile stay as they are and are named.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind checkout 3 /tmp/before", Does: "the whole project as it was"},
			{Line: "rewind checkout v1 ../old -- src", Does: "one directory of it"},
			{Line: "rewind checkout prompt~1 /tmp/x && diff -r /tmp/x .", Does: "compare with any tool"},
		},
		Answers: app.Answers{"checkout": checkedOutView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MinArgs: 2, MaxArgs: 2, Paths: true, Pulled: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&withoutPrecious, "without-precious", false, "leave out precious files")
			app.GlobFlag(f, &glob)
		},
		Run: func(ctx context.Context, c *app.Call) error {
			dir := c.Args[1]
			switch {
			case dir == "": // mostly a script's unset variable
				return &app.UsageError{Msg: "the directory is an empty string", Hint: "rewind checkout " + app.ShellQuote(c.Args[0]) + " DIR"}
			case strings.IndexByte(dir, 0) >= 0:
				return app.Usagef("%q contains a NUL byte, which no path can", dir)
			case !filepath.IsAbs(dir):
				dir = filepath.Join(c.Env.Dir, dir)
			}
			p, l, err := c.Checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			o := port.CheckoutOptions{Checkpoint: l.Checkpoint, Dir: dir, WithoutPrecious: withoutPrecious}
			if o.Paths, err = c.Patterns(ctx, p, c.Paths, glob, l.Checkpoint); err != nil {
				return err
			}
			done, err := port.Checkout(ctx, p, o)
			if err != nil {
				return err
			}
			c.Out.Changed = true
			c.Out.EndProgress()
			if err := c.Document(viewCheckedOut(done)); err != nil {
				return err
			}
			c.Out.Summary("Checked out %s into %s: %s, %s.", rows.Named(c.Out, l), app.Escape(done.Dir), app.Plural(done.Files, "file", "files"), app.FormatSize(done.Bytes))
			if done.Precious > 0 && !c.Quiet && !c.JSON {
				c.Out.Hint("%s included; --without-precious leaves them out", app.Plural(done.Precious, "precious file is", "precious files are"))
			}
			if len(done.Problems) > 0 {
				return &app.PartialError{Verb: "written", Paths: done.Problems}
			}
			return nil
		},
	}
}

type checkedOutView struct {
	Checkpoint string `json:"checkpoint"`
	app.PathView
	Files   int64              `json:"files"`
	Bytes   int64              `json:"bytes"`
	Shared  int64              `json:"shared"`
	Taken   int                `json:"precious"`
	LeftOut int                `json:"precious_left_out"`
	Skip    []rows.ProblemView `json:"skip"`
}

func viewCheckedOut(d *port.CheckedOut) checkedOutView {
	return checkedOutView{
		Checkpoint: d.Checkpoint.ID.String(), PathView: app.ViewPath(filepath.ToSlash(d.Dir)),
		Files: d.Files, Bytes: d.Bytes, Shared: d.Shared, Taken: d.Precious, LeftOut: d.LeftOut, Skip: rows.ViewProblems(d.Problems),
	}
}
