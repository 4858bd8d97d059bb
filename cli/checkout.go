package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/spf13/pflag"
)

func newCheckout() *command {
	var withoutPrecious, glob bool
	return &command{
		name:  "checkout",
		usage: "<ckpt> DIR [--without-precious] [-- path…]",
		short: "write a checkpoint's files into another directory",
		long: "Writes the files of the checkpoint into a directory of its own, to look at, run or compare\n" +
			"an old state beside the current one. The project stays as it is. The directory is created;\n" +
			"one that is there must be empty, and inside the project only an ignored one is allowed.\n" +
			"Files that have not changed since share their blocks with the project's where the file\n" +
			"system can. Modes, symlinks and empty directories are exact. Paths that are not captured,\n" +
			"such as .git or node_modules, are missing. Precious files (ignored by git but captured,\n" +
			"such as .env) are included, since an old state mostly needs them to run. Use rewind\n" +
			"export for a copy to hand on. If a checkout is interrupted, the same command completes it;\n" +
			"files that were changed meanwhile stay as they are and are named.\n" + aboutPaths,
		examples: []example{
			{"rewind checkout 3 /tmp/before", "the whole project as it was"},
			{"rewind checkout v1 ../old -- src", "one directory of it"},
			{"rewind checkout prompt~1 /tmp/x && diff -r /tmp/x .", "compare with any tool"},
		},
		exits:   []int{exitPartial, exitNotFound, exitBusy, exitDamaged, exitRefused},
		minArgs: 2, maxArgs: 2, paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&withoutPrecious, "without-precious", false, "leave out precious files")
			globFlag(f, &glob)
		},
		run: func(ctx context.Context, c *call) error {
			dir := c.args[1]
			switch {
			case dir == "": // mostly a script's unset variable
				return &usageError{msg: "the directory is an empty string", hint: "rewind checkout " + shellQuote(c.args[0]) + " DIR"}
			case strings.IndexByte(dir, 0) >= 0:
				return usagef("%q contains a NUL byte, which no path can", dir)
			case !filepath.IsAbs(dir):
				dir = filepath.Join(c.env.Dir, dir)
			}
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			o := port.CheckoutOptions{Checkpoint: l.Checkpoint, Dir: dir, WithoutPrecious: withoutPrecious}
			if o.Paths, err = c.patterns(ctx, p, c.paths, glob, l.Checkpoint); err != nil {
				return err
			}
			done, err := port.Checkout(ctx, p, o)
			if err != nil {
				return err
			}
			c.out.changed = true
			c.out.endProgress()
			if c.json {
				if err := c.out.document(viewCheckedOut(done)); err != nil {
					return err
				}
			} else {
				c.out.summary("Checked out %s into %s: %s, %s.", named(c.out, l), escape(done.Dir), plural(done.Files, "file", "files"), formatSize(done.Bytes))
			}
			if done.Precious > 0 && !c.quiet && !c.json {
				c.out.hint("%s included; --without-precious leaves them out", plural(done.Precious, "precious file is", "precious files are"))
			}
			if len(done.Problems) > 0 {
				return &partialError{verb: "written", paths: done.Problems}
			}
			return nil
		},
	}
}

type checkedOutView struct {
	Checkpoint string `json:"checkpoint"`
	pathView
	Files   int64         `json:"files"`
	Bytes   int64         `json:"bytes"`
	Shared  int64         `json:"shared"`
	Taken   int           `json:"precious"`
	LeftOut int           `json:"precious_left_out"`
	Skip    []problemView `json:"skip"`
}

func viewCheckedOut(d *port.CheckedOut) checkedOutView {
	return checkedOutView{
		Checkpoint: d.Checkpoint.ID.String(), pathView: viewPath(filepath.ToSlash(d.Dir)),
		Files: d.Files, Bytes: d.Bytes, Shared: d.Shared, Taken: d.Precious, LeftOut: d.LeftOut, Skip: viewProblems(d.Problems),
	}
}
