package cli

import (
	"context"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/manifest"
)

func newLs() *command {
	var glob bool
	return &command{
		name:  "ls",
		usage: "<ckpt> [path]",
		short: "list the paths of a checkpoint",
		long: "Lists everything at and below the path (default: the whole project): mode, size and\n" +
			"path. Precious files are marked.\n" + aboutPaths,
		examples: []example{
			{"rewind ls last", "everything"},
			{"rewind ls 3 src", "one directory"},
			{"rewind ls 3 '*.md'", "a glob"},
			{"rewind ls last --json", "with the hash of each file"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 1, maxArgs: 2, paths: true, onePath: true,
		flags: func(f *pflag.FlagSet) { globFlag(f, &glob) },
		run: func(ctx context.Context, c *call) error {
			arg, err := c.onePath(1, false)
			if err != nil {
				return err
			}
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			var args []string
			if arg != "" {
				args = append(args, arg)
			}
			patterns, err := c.patterns(ctx, p, args, glob, l.Checkpoint)
			if err != nil {
				return err
			}
			entries, err := inspect.Entries(ctx, p, l.Checkpoint, patterns)
			if err != nil {
				return err
			}
			if c.json {
				v := entriesView{make([]entryView, len(entries))}
				for i, e := range entries {
					v.Entries[i] = viewEntry(e)
				}
				return c.out.document(v)
			}
			return c.out.paged(ctx, c.env, func() error {
				printEntries(c.out, entries)
				return nil
			})
		},
	}
}

// onePath takes the path that may follow the checkpoint, before or after --.
func (c *call) onePath(at int, required bool) (string, error) {
	given := append(append([]string(nil), c.args[min(at, len(c.args)):]...), c.paths...)
	switch {
	case len(given) > 1:
		return "", &usageError{msg: "unexpected argument " + quote(given[1]), hint: "rewind " + c.typed + " " + c.cmd.usage}
	case len(given) == 1:
		if given[0] == "" {
			return "", usagef("the path is an empty string")
		}
		return given[0], nil
	case required:
		return "", &usageError{msg: "too few arguments: a path is missing", hint: "rewind " + c.typed + " " + c.cmd.usage}
	}
	return "", nil
}

// printEntries is like ls -l, as far as a checkpoint knows it.
func printEntries(o *output, entries []inspect.TreeEntry) {
	for _, e := range entries {
		mode := fs.FileMode(e.Mode & 0o777)
		name := escapePath(e.Path)
		switch e.Kind {
		case manifest.Symlink:
			mode = fs.ModeSymlink | 0o777
			name = o.color.Paint(screen.Cyan, name) + " -> " + escape(e.Target)
		case manifest.Subdir:
			mode |= fs.ModeDir
			name = o.color.Paint(screen.Blue, name+"/")
		}
		mode |= specialBits(e.Mode)
		size := utoa(e.Size)
		if e.Kind == manifest.Subdir || e.Kind == manifest.Symlink {
			size = "-"
		}
		o.line("%s %12s  %s%s", mode, size, name, markOf(o, e.Precious))
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
