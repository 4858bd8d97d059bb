package show

import (
	"context"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

func NewLs() *app.Command {
	var glob bool
	return &app.Command{
		Name:  "ls",
		Usage: "<ckpt> [path]",
		Short: "list the paths of a checkpoint",
		Long: "Lists everything at and below the path (default: the whole project): mode, size and\n" +
			"path. Precious files are marked.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind ls last", Does: "everything"},
			{Line: "rewind ls 3 src", Does: "one directory"},
			{Line: "rewind ls 3 '*.md'", Does: "a glob"},
			{Line: "rewind ls last --json", Does: "with the hash of each file"},
		},
		Answers: app.Answers{"ls": rows.EntriesView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 1, MaxArgs: 2, Paths: true, OnePath: true, Pulled: true,
		Flags: func(f *pflag.FlagSet) { app.GlobFlag(f, &glob) },
		Run: func(ctx context.Context, c *app.Call) error {
			arg, err := onePath(c, 1, false)
			if err != nil {
				return err
			}
			p, l, err := c.CheckpointToRead(ctx, 0)
			if err != nil {
				return err
			}
			var args []string
			if arg != "" {
				args = append(args, arg)
			}
			patterns, err := c.Patterns(ctx, p, args, glob, l.Checkpoint)
			if err != nil {
				return err
			}
			entries, err := inspect.Entries(ctx, p, l.Checkpoint, patterns)
			if err != nil {
				return err
			}
			return c.Answer(ctx, func() any { return rows.EntriesView{Entries: app.Map(entries, rows.ViewEntry)} }, func() { printEntries(c.Out, entries) })
		},
	}
}

// onePath takes the path that may follow the checkpoint, before or after --.
func onePath(c *app.Call, at int, required bool) (string, error) {
	given := append(append([]string(nil), c.Args[min(at, len(c.Args)):]...), c.Paths...)
	switch {
	case len(given) > 1:
		return "", &app.UsageError{Msg: "unexpected argument " + app.Quote(given[1]), Hint: "rewind " + c.Typed + " " + c.Cmd.Usage}
	case len(given) == 1:
		if given[0] == "" {
			return "", app.Usagef("the path is an empty string")
		}
		return given[0], nil
	case required:
		return "", &app.UsageError{Msg: "too few arguments: a path is missing", Hint: "rewind " + c.Typed + " " + c.Cmd.Usage}
	}
	return "", nil
}

// printEntries is like ls -l, as far as a checkpoint knows it.
func printEntries(o *app.Output, entries []inspect.TreeEntry) {
	for _, e := range entries {
		mode := fs.FileMode(e.Mode & 0o777)
		name := app.EscapePath(e.Path)
		switch e.Kind {
		case manifest.Symlink:
			mode = fs.ModeSymlink | 0o777
			name = o.Color.Paint(screen.Cyan, name) + " -> " + app.Escape(e.Target)
		case manifest.Subdir:
			mode |= fs.ModeDir
			name = o.Color.Paint(screen.Blue, name+"/")
		}
		mode |= specialBits(e.Mode)
		size := app.Utoa(e.Size)
		if e.Kind == manifest.Subdir || e.Kind == manifest.Symlink {
			size = "-"
		}
		o.Line("%s %12s  %s%s", mode, size, name, markOf(o, e.Precious))
	}
}

func specialBits(mode uint32) fs.FileMode {
	var m fs.FileMode
	if mode&0o4000 != 0 {
		m |= fs.ModeSetuid
	}
	if mode&0o2000 != 0 {
		m |= fs.ModeSetgid
	}
	if mode&0o1000 != 0 {
		m |= fs.ModeSticky
	}
	return m
}
