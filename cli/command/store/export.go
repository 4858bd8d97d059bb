package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
)

func NewExport() *app.Command {
	var x exportFlags
	return &app.Command{
		Name:  "export",
		Usage: "<ckpt> [-o FILE] [--format tar.gz|tar.zst|tar] [--with-precious] [-- path…] | --format git -o DIR [<ckpt>… | A..B] [--all]",
		Short: "write a checkpoint as an archive, or checkpoints as git commits",
		Long: "Writes an archive of the checkpoint to stdout (tar.gz), or to a file in the format given\n" +
			"by its suffix. The same checkpoint always gives the same bytes. A file is written under\n" +
			"a temporary name and renamed, so it is never incomplete. Precious files (ignored by git\n" +
			"but captured, such as .env) are left out.\n" + app.AboutPaths + "\n" +
			"With --format git, writes a new bare repository whose branch " + port.GitBranch + " has a commit for\n" +
			"each checkpoint, or for those that are given; A..B are those from A to B, both included.\n" +
			"Prompts and descriptions become the messages, names become tags. Checkpoints with the\n" +
			"files of the one before are left out, safety checkpoints too; --all includes them. The\n" +
			"same checkpoints always give the same commit ids. git holds no empty directories and of\n" +
			"the permissions only the executable bit.",
		Examples: []app.Example{
			{Line: "rewind export last -o project.tar.zst", Does: "to a file"},
			{Line: "rewind export v1 | tar tzv", Does: "to a pipe"},
			{Line: "rewind export last --format tar -- src | tar x -C /elsewhere", Does: "one directory"},
			{Line: "rewind export --format git -o history.git && git -C history.git log -p", Does: "all of it, for git"},
		},
		Answers: app.Answers{"export": exportView{}, "export-git": exportedGitView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MaxArgs: maxExported, Paths: true, Pulled: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVarP(&x.file, "output", "o", "", "write to this `file`, or git directory; - is stdout")
			f.StringVar(&x.format, "format", "", "`tar.gz|tar.zst|tar|git` (default: by the file's suffix, else tar.gz)")
			f.BoolVar(&x.withPrecious, "with-precious", false, "include precious files")
			f.BoolVar(&x.all, "all", false, "with git: unchanged and safety checkpoints too")
			app.GlobFlag(f, &x.glob)
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if x.format == "git" {
				return exportGit(ctx, c, x.file, port.ExportGitOptions{Unchanged: x.all, WithPrecious: x.withPrecious})
			}
			return exportArchive(ctx, c, x)
		},
	}
}

// exportFlags are those of export.
type exportFlags struct {
	file, format            string
	withPrecious, glob, all bool
}

// check refuses what an archive cannot be made of, and gives its format.
func (x *exportFlags) check(c *app.Call) (format string, err error) {
	switch {
	case x.all:
		return "", &app.UsageError{Msg: "--all goes with --format git", Hint: "rewind export --format git -o DIR --all"}
	case len(c.Args) == 0:
		return "", &app.UsageError{Msg: "too few arguments: <ckpt> is missing", Hint: "rewind export " + c.Cmd.Usage}
	case len(c.Args) > 1:
		return "", &app.UsageError{Msg: "unexpected argument " + app.Quote(c.Args[1]), Hint: "paths go after --; several checkpoints go with --format git"}
	}
	if err := c.NotEmpty("output"); err != nil {
		return "", err
	}
	if x.file == "-" {
		x.file = ""
	}
	if format, err = exportFormat(x.format, x.file); err != nil {
		return "", err
	}
	switch {
	case x.file != "":
		x.file, err = app.OutputFile(c.Env, x.file)
	case c.JSON:
		err = &app.UsageError{Msg: "--json needs an output file, since stdout would carry the archive", Hint: "rewind export " + c.Args[0] + " -o FILE --json"}
	case c.Out.OutTerm:
		err = &app.UsageError{Msg: "refusing to write an archive to a terminal", Hint: "rewind export " + c.Args[0] + " -o FILE"}
	}
	return format, err
}

// exportArchive writes an archive of one checkpoint. Error: *app.PartialError for files that were being written when it was taken.
func exportArchive(ctx context.Context, c *app.Call, x exportFlags) error {
	format, err := x.check(c)
	if err != nil {
		return err
	}
	p, l, err := c.Checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	leftOut := 0
	o := port.ExportOptions{Checkpoint: l.Checkpoint, Format: format, WithPrecious: x.withPrecious, LeftOut: func(string) { leftOut++ }}
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, x.glob, l.Checkpoint); err != nil {
		return err
	}
	torn, err := rows.TornFiles(ctx, c, p, l.Checkpoint)
	if err != nil {
		return err
	}
	var mixed []problem.Problem
	o.Taken = func(path string) {
		if torn[path] {
			mixed = append(mixed, problem.Problem{Path: path, Code: problem.TargetIsTorn, Reason: restore.ReasonTorn})
		}
	}
	if x.file == "" {
		err = port.Export(ctx, p, c.Out.Buf, o)
	} else {
		w := &app.AsideFile{File: x.file}
		if err := port.Export(ctx, p, w, o); err != nil {
			w.Abort()
			return err
		}
		if err := w.Commit(); err != nil {
			return err
		}
		c.Out.EndProgress()
		if c.JSON {
			err = c.Out.Document(exportView{l.ID.String(), l.ID.String(), app.ViewPath(filepath.ToSlash(x.file)), o.Format, w.N, leftOut})
		} else {
			c.Out.Summary("Exported %s to %s: %s.", rows.Named(c.Out, l), app.Escape(x.file), app.FormatSize(w.N))
		}
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		tellLeftOut(c.Out, leftOut)
	}
	if len(mixed) > 0 {
		return &app.PartialError{Verb: "exported intact", Paths: mixed}
	}
	return nil
}

type exportView struct {
	Checkpoint string `json:"checkpoint"`
	ID         string `json:"id"` // the same, as list calls it
	app.PathView
	Format string `json:"format"`
	Bytes  int64  `json:"bytes"`
	// LeftOut counts the files that are not in the archive since they are precious.
	LeftOut int `json:"precious_left_out"`
}

// tellLeftOut says on stderr that an archive is not the whole checkpoint.
func tellLeftOut(o *app.Output, n int) {
	if n > 0 && !o.Quiet {
		o.Warn("%s left out", app.Plural(n, "precious file was", "precious files were"))
		o.Hint("--with-precious includes them")
	}
}

// exportFormat is the flag's, else the suffix's.
func exportFormat(flag, file string) (string, error) {
	switch flag {
	case "tar.gz", "tar.zst", "tar":
		return flag, nil
	case "tgz":
		return "tar.gz", nil
	case "":
	default:
		return "", app.Usagef("--format is tar.gz, tar.zst, tar or git, not %q", flag)
	}
	if file == "" {
		return "tar.gz", nil
	}
	for _, s := range []struct{ suffix, format string }{
		{".tar.gz", "tar.gz"}, {".tgz", "tar.gz"}, {".tar.zst", "tar.zst"}, {".tzst", "tar.zst"}, {".tar", "tar"},
	} {
		if strings.HasSuffix(strings.ToLower(file), s.suffix) {
			return s.format, nil
		}
	}
	return "", &app.UsageError{Msg: fmt.Sprintf("cannot tell the archive format from the suffix of %q", file), Hint: "use .tar.gz, .tar.zst or .tar, or add --format"}
}
