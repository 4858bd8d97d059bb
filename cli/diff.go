package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/manifest"
)

func newDiff() *command {
	var stat, nameStatus, precious, glob bool
	return &command{
		name:  "diff",
		usage: "[<a>] [<b>] [--stat|--name-status] [--precious] [--glob] [-- path…]",
		short: "compare checkpoints, or one with the working tree",
		long: "Prints a unified diff from <a> (default: last) to <b>, or to the working tree if <b> is\n" +
			"omitted.\n" + aboutPaths,
		examples: []example{
			{"rewind diff", "what changed since the last checkpoint"},
			{"rewind diff 3 1", "from checkpoint 3 to the newest"},
			{"rewind diff v1 --stat", "lines per file"},
			{"rewind diff @{1h} -- src '*.go'", "against an hour ago, these paths only"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		maxArgs: 2, paths: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&stat, "stat", false, "lines added and deleted per file")
			f.BoolVar(&nameStatus, "name-status", false, "only the status letter (A, M, D, T) and the path")
			f.BoolVar(&precious, "precious", false, "also show the content of precious files")
			globFlag(f, &glob)
		},
		run: func(ctx context.Context, c *call) error {
			if stat && nameStatus {
				return usagef("--stat and --name-status cannot be combined")
			}
			p, a, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			o := engine.DiffOptions{A: a.Checkpoint, Patch: !nameStatus, WithPrecious: precious}
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
			if o.Paths, err = c.patterns(ctx, p, c.paths, glob, sides...); err != nil {
				return err
			}
			files, err := engine.Diff(ctx, p, o)
			if err != nil {
				return err
			}
			if c.json {
				v := newChangesView()
				for i := range files {
					var patch *string
					if !nameStatus {
						patch = &files[i].Patch
					}
					v.add(files[i].Change, patch)
				}
				return c.out.document(v)
			}
			c.out.endProgress()
			return c.out.paged(ctx, c.env, func() error {
				switch {
				case nameStatus:
					for _, d := range files {
						printChange(c.out, d.Change, "")
					}
				case stat:
					printStat(c.out, files)
				default:
					for _, d := range files {
						printPatch(c.out, d)
					}
				}
				return nil
			})
		},
	}
}

// printPatch prints one file's diff. To a terminal control characters of the
// content are shown escaped; elsewhere the patch keeps its bytes, so that it applies.
func printPatch(o *output, d engine.FileDiff) {
	if d.Patch == "" {
		switch {
		case d.Binary:
			o.line("%s", o.color.Paint(screen.Bold, "Binary file "+escapePath(d.Path)+" differs"))
		default:
			o.line("%s", o.color.Paint(screen.Bold, modeLine(d)))
		}
		return
	}
	if !o.outTerm {
		o.buf.WriteString(d.Patch)
		return
	}
	header := true
	for _, l := range strings.SplitAfter(d.Patch, "\n") {
		if l == "" {
			continue
		}
		text, end := strings.CutSuffix(l, "\n")
		st := screen.Plain
		switch {
		case strings.HasPrefix(text, "@@"):
			header, st = false, screen.Cyan
		case header:
			st = screen.Bold
		case strings.HasPrefix(text, "+"):
			st = screen.Green
		case strings.HasPrefix(text, "-"):
			st = screen.Red
		}
		o.buf.WriteString(o.color.Paint(st, escapeLine(strings.TrimSuffix(text, "\r"))))
		if end {
			o.buf.WriteByte('\n')
		}
	}
}

// modeLine tells of a change that no patch shows: mode, kind, or an empty file or directory.
func modeLine(d engine.FileDiff) string {
	switch {
	case d.Old == nil:
		return fmt.Sprintf("new %s %s mode %04o", entryKind(*d.New), escapePath(d.Path), d.New.Mode)
	case d.New == nil:
		return fmt.Sprintf("deleted %s %s mode %04o", entryKind(*d.Old), escapePath(d.Path), d.Old.Mode)
	case entryKind(*d.Old) != entryKind(*d.New):
		return fmt.Sprintf("%s: %s changed to %s", escapePath(d.Path), entryKind(*d.Old), entryKind(*d.New))
	case d.Old.Mode != d.New.Mode:
		return fmt.Sprintf("%s: mode %04o changed to %04o", escapePath(d.Path), d.Old.Mode, d.New.Mode)
	}
	return escapePath(d.Path) + " differs"
}

// printStat prints lines per file with a bar, as git does.
func printStat(o *output, files []engine.FileDiff) {
	const maxBar = 40
	longest, most := 0, 1
	for _, d := range files {
		longest = max(longest, displaywidth.String(escapePath(d.Path)))
		most = max(most, d.Added+d.Deleted)
	}
	if w := o.width(); w > 0 {
		longest = min(longest, max(w-maxBar-12, 20))
	}
	added, deleted := 0, 0
	for _, d := range files {
		name := screen.Clip(escapePath(d.Path), longest)
		name += strings.Repeat(" ", longest-displaywidth.String(name))
		if d.Binary || d.Hidden {
			what := "binary"
			if d.Hidden {
				what = "precious"
			}
			o.line(" %s | %s", name, what)
			continue
		}
		added += d.Added
		deleted += d.Deleted
		plus, minus := d.Added, d.Deleted
		if most > maxBar {
			plus, minus = (plus*maxBar+most-1)/most, (minus*maxBar+most-1)/most
		}
		o.line(" %s | %4d %s%s", name, d.Added+d.Deleted,
			o.color.Paint(screen.Green, strings.Repeat("+", plus)), o.color.Paint(screen.Red, strings.Repeat("-", minus)))
	}
	if len(files) > 0 {
		o.line(" %s changed, %s, %s", plural(len(files), "file", "files"),
			plural(added, "line added", "lines added"), plural(deleted, "line deleted", "lines deleted"))
	}
}
