package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

func NewImport() *app.Command {
	var git string
	var dryRun bool
	return &app.Command{
		Name:  "import",
		Usage: "[DIR | --git REPO [REV…]] [--dry-run]",
		Short: "take over checkpoints of other programs",
		Long: "Takes over what an older rewind has saved (.agent/rewind/checkpoints, with conversations\n" +
			"of Claude Code and Droid), what pi's older extension keeps in a git repository\n" +
			"(" + port.PiRef + ", with what its sessions bind to it), or commits of any git\n" +
			"repository: those that the revisions reach, all of them without one; tags become names.\n" +
			"Without an argument, shows what there is in the project and imports nothing.\n" +
			"Times and names are kept, and nothing is removed from the source; importing again adds\n" +
			"what is new. Imported checkpoints are listed where they were imported, followed by one\n" +
			"with the files of the newest checkpoint, so that undo begins where it did before.\n" +
			"A checkpoint that is damaged is left out and named; where only its conversation is, or has\n" +
			"more than 512 MiB, its files are imported. Submodules and .git are not.",
		Examples: []app.Example{
			{Line: "rewind import", Does: "what there is to import here"},
			{Line: "rewind import .", Does: "import it"},
			{Line: "rewind import --git ~/.shadow/repo.git --dry-run", Does: "what all commits of a repository would add"},
			{Line: "rewind import --git . v1.0..HEAD", Does: "part of the project's own history"},
		},
		Answers: app.Answers{"import": importedView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MaxArgs: 1000,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&git, "git", "", "the git repository `REPO`")
			f.BoolVarP(&dryRun, "dry-run", "n", false, "only show what would be imported")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if slices.Contains(c.Args, "") || c.Flags.Changed("git") && git == "" { // mostly a script's unset variable
				return &app.UsageError{Msg: "an argument is an empty string", Hint: "rewind import --help"}
			}
			if !c.Flags.Changed("git") && len(c.Args) > 1 {
				return &app.UsageError{Msg: "unexpected argument " + app.Quote(c.Args[1]), Hint: "rewind import DIR, or rewind import --git REPO REV…"}
			}
			p, err := c.Open(ctx)
			if err != nil {
				return err
			}
			abs := func(dir string) string {
				if filepath.IsAbs(dir) {
					return dir
				}
				return filepath.Join(c.Env.Dir, dir)
			}
			named := git
			if !c.Flags.Changed("git") && len(c.Args) == 1 {
				named = c.Args[0]
			}
			if info, err := os.Stat(abs(named)); named != "" && err == nil && !info.IsDir() {
				return &app.UsageError{Msg: app.Quote(named) + " is not a directory", Hint: "rewind import reads directories: unpack an archive first"}
			}
			if c.Flags.Changed("git") {
				return imports(ctx, c, p, []port.ImportOptions{{Git: abs(git), Revs: c.Args, DryRun: dryRun}})
			}
			dir := p.Root()
			if len(c.Args) == 1 {
				dir = abs(c.Args[0])
			}
			s := port.FindImports(dir)
			var list []port.ImportOptions
			if s.Older != "" {
				list = append(list, port.ImportOptions{Older: s.Older, DryRun: dryRun || len(c.Args) == 0})
			}
			if s.Pi != "" {
				list = append(list, port.ImportOptions{Git: s.Pi, Pi: true, DryRun: dryRun || len(c.Args) == 0})
			}
			if len(list) == 0 && len(c.Args) == 1 {
				return app.Hinted(&project.NothingError{What: "import from " + dir}, "commits of a git repository: rewind import --git "+app.ShellQuote(c.Args[0]))
			}
			return imports(ctx, c, p, list)
		},
	}
}

type importedView struct {
	Sources []importView `json:"sources"`
	DryRun  bool         `json:"dry_run"`
}

type importView struct {
	app.PathView
	Found               int              `json:"found"`
	Known               int              `json:"known"`
	Checkpoints         []importedOne    `json:"checkpoints"`
	Bindings            int              `json:"bindings"`
	Skipped             []importSkipView `json:"skipped"`
	Conversations       int              `json:"conversations"`
	WithoutConversation []importSkipView `json:"without_conversation"`
	LeftOut             int              `json:"paths_left_out"`
	Newest              *string          `json:"newest"`
}

type importedOne struct {
	ID          string `json:"id"`
	Time        string `json:"time"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Files       uint64 `json:"files"`
}

type importSkipView struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// imports takes over the sources, one after the other.
func imports(ctx context.Context, c *app.Call, p *project.Project, list []port.ImportOptions) error {
	v := importedView{Sources: []importView{}, DryRun: true}
	skipped, without := 0, 0
	for _, o := range list {
		done, err := port.Import(ctx, p, o)
		if err != nil {
			return err
		}
		c.Out.EndProgress()
		v.DryRun = o.DryRun
		skipped += len(done.Skipped)
		without += len(done.WithoutConversation)
		v.Sources = append(v.Sources, viewImported(done))
		if c.JSON {
			continue
		}
		did := app.Did(done.DryRun, "Imported", "Would import")
		text := ""
		if done.Known > 0 {
			text += ", " + app.Plural(done.Known, "was", "were") + " imported before"
		}
		if done.Conversations > 0 {
			text += ", " + app.Plural(done.Conversations, "conversation", "conversations")
		}
		if done.Bindings > 0 {
			text += ", " + app.Plural(done.Bindings, "entry", "entries") + " bound"
		}
		c.Out.Summary("%s %s from %s%s.", did, app.Plural(len(done.Added), "checkpoint", "checkpoints"), app.Escape(done.From), text)
		if n := len(done.Added); n > 0 && !c.Quiet {
			first, last := done.Added[0].Time, done.Added[n-1].Time
			c.Out.Line("  %s … %s", first.Local().Format("2006-01-02 15:04"), last.Local().Format("2006-01-02 15:04"))
		}
		skips(c, done.Skipped, "")
		skips(c, done.WithoutConversation, "its conversation was left out: ")
		if done.LeftOut > 0 && !c.Quiet {
			c.Out.Warn("%s left out, in no checkpoint (.git, submodules, devices, files over maxFileSize)", app.Plural(done.LeftOut, "path was", "paths were"))
		}
	}
	if c.JSON {
		if err := c.Out.Document(v); err != nil {
			return err
		}
	} else if len(list) == 0 {
		c.Out.Summary("There is nothing to import in %s.", app.Escape(p.Root()))
		c.Out.Hint("commits of a git repository: rewind import --git REPO")
	} else if len(c.Args) == 0 && !c.Flags.Changed("git") {
		c.Out.Hint("rewind import . imports it")
	}
	switch { // they were named
	case skipped > 0:
		return app.Coded(errors.New(app.Plural(skipped, "checkpoint", "checkpoints")+" could not be imported"), app.ExitPartial)
	case without > 0:
		return app.Coded(errors.New(app.Plural(without, "conversation", "conversations")+" could not be imported; the files were"), app.ExitPartial)
	}
	return nil
}

// skips names what was left out.
func skips(c *app.Call, list []port.ImportSkip, what string) {
	for i, s := range list {
		if i == app.MaxNamed {
			c.Out.Warn("… and %s", app.Plural(len(list)-i, "other", "others"))
			break
		}
		c.Out.Warn("%s: %s%s", s.Name, what, s.Reason)
	}
}

func viewImported(d *port.Imported) importView {
	skip := func(s port.ImportSkip) importSkipView { return importSkipView(s) }
	v := importView{PathView: app.ViewPath(filepath.ToSlash(d.From)), Found: d.Found, Known: d.Known, Bindings: d.Bindings, Skipped: app.Map(d.Skipped, skip),
		Conversations: d.Conversations, WithoutConversation: app.Map(d.WithoutConversation, skip), LeftOut: d.LeftOut, Checkpoints: app.Map(d.Added, func(a manifest.Checkpoint) importedOne {
			return importedOne{a.ID.String(), app.ViewTime(a.Time), a.Name, strings.ToValidUTF8(a.Description, "\uFFFD"), a.Files}
		})}
	if d.Newest != nil {
		v.Newest = new(d.Newest.ID.String())
	}
	return v
}
