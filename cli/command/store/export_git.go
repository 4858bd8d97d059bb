package store

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// maxExported bounds the checkpoints that one command names.
const maxExported = 10000

type exportedGitView struct {
	app.PathView
	Format    string   `json:"format"`
	Branch    string   `json:"branch"`
	Head      string   `json:"head"`
	Commits   int      `json:"commits"`
	Unchanged int      `json:"unchanged"`
	Tags      []string `json:"tags"`
	NoTags    []string `json:"tags_left_out"`
	Empty     int      `json:"empty_directories_left_out"`
	LeftOut   int      `json:"precious_left_out"`
}

// exportGit is export --format git.
func exportGit(ctx context.Context, c *app.Call, dir string, o port.ExportGitOptions) error {
	switch {
	case dir == "" || dir == "-":
		return &app.UsageError{Msg: "--format git needs a directory", Hint: "rewind export --format git -o DIR"}
	case len(c.Paths) > 0:
		return app.Usagef("--format git takes no paths: a commit has the whole tree")
	case strings.IndexByte(dir, 0) >= 0:
		return app.Usagef("%q contains a NUL byte, which no path can", dir)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(c.Env.Dir, dir)
	}
	o.Dir = dir
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	for _, arg := range c.Args {
		if o.Checkpoints, err = someCheckpoints(ctx, c, p, o.Checkpoints, arg); err != nil {
			return err
		}
	}
	done, err := port.ExportGit(ctx, p, o)
	if err != nil {
		return err
	}
	c.Out.EndProgress()
	if c.JSON {
		return c.Out.Document(exportedGitView{
			PathView: app.ViewPath(filepath.ToSlash(done.Dir)), Format: "git", Branch: done.Branch, Head: done.Head, Commits: done.Commits,
			Unchanged: done.Unchanged, Tags: notNil(done.Tags), NoTags: notNil(done.NoTags), Empty: done.Empty, LeftOut: done.LeftOut,
		})
	}
	rest := ""
	if done.Unchanged > 0 {
		rest = "; " + app.Plural(done.Unchanged, "checkpoint", "checkpoints") + " with the same files as the one before left out"
	}
	c.Out.Summary("Exported %s to %s, branch %s%s.", app.Plural(done.Commits, "commit", "commits"), app.Escape(done.Dir), done.Branch, rest)
	if c.Quiet {
		return nil
	}
	if done.Empty > 0 {
		c.Out.Warn("%s left out: git has none", app.Plural(done.Empty, "empty directory was", "empty directories were"))
	}
	for _, name := range done.NoTags {
		c.Out.Warn("the name %s is none that git allows for a tag", name)
	}
	tellLeftOut(c.Out, done.LeftOut)
	return nil
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// someCheckpoints adds the checkpoint that an argument names, or those from A to B for A..B.
func someCheckpoints(ctx context.Context, c *app.Call, p *project.Project, list []manifest.Checkpoint, arg string) ([]manifest.Checkpoint, error) {
	l, err := c.Resolve(ctx, p, arg)
	if err == nil {
		return append(list, l.Checkpoint), nil
	}
	from, to, isRange := strings.Cut(arg, "..")
	if !isRange {
		return nil, err
	}
	a, err := c.Resolve(ctx, p, from)
	if err != nil {
		return nil, err
	}
	b, err := c.Resolve(ctx, p, to)
	if err != nil {
		return nil, err
	}
	if a.Seq > b.Seq {
		a, b = b, a
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for ch, err := range db.Checkpoints(manifest.Query{Before: b.Seq + 1}) {
			if err != nil {
				return err
			}
			if ch.Seq < a.Seq {
				break
			}
			list = append(list, ch)
		}
		return nil
	})
	return list, err
}
