package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
)

func newImport() *command {
	var git string
	var dryRun bool
	return &command{
		name:  "import",
		usage: "[DIR | --git REPO [REV…]] [--dry-run]",
		short: "take over checkpoints of other programs",
		long: "Takes over what an older rewind has saved (.agent/rewind/checkpoints, with conversations\n" +
			"of Claude Code and Droid), what pi's older extension keeps in a git repository\n" +
			"(" + port.PiRef + ", with what its sessions bind to it), or commits of any git\n" +
			"repository: those that the revisions reach, all of them without one; tags become names.\n" +
			"Without an argument, shows what there is in the project and imports nothing.\n" +
			"Times and names are kept, and nothing is removed from the source; importing again adds\n" +
			"what is new. Imported checkpoints are listed where they were imported, followed by one\n" +
			"with the files of the newest checkpoint, so that undo begins where it did before.\n" +
			"A checkpoint that is damaged is left out and named; where only its conversation is, or has\n" +
			"more than 512 MiB, its files are imported. Submodules and .git are not.",
		examples: []example{
			{"rewind import", "what there is to import here"},
			{"rewind import .", "import it"},
			{"rewind import --git ~/.shadow/repo.git --dry-run", "what all commits of a repository would add"},
			{"rewind import --git . v1.0..HEAD", "part of the project's own history"},
		},
		exits:   []int{exitPartial, exitNotFound, exitBusy, exitDamaged},
		maxArgs: 1000,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&git, "git", "", "the git repository `REPO`")
			f.BoolVarP(&dryRun, "dry-run", "n", false, "only show what would be imported")
		},
		run: func(ctx context.Context, c *call) error {
			if slices.Contains(c.args, "") || c.flags.Changed("git") && git == "" { // mostly a script's unset variable
				return &usageError{msg: "an argument is an empty string", hint: "rewind import --help"}
			}
			if !c.flags.Changed("git") && len(c.args) > 1 {
				return &usageError{msg: "unexpected argument " + quote(c.args[1]), hint: "rewind import DIR, or rewind import --git REPO REV…"}
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			abs := func(dir string) string {
				if filepath.IsAbs(dir) {
					return dir
				}
				return filepath.Join(c.env.Dir, dir)
			}
			if c.flags.Changed("git") {
				return c.imports(ctx, p, []port.ImportOptions{{Git: abs(git), Revs: c.args, DryRun: dryRun}})
			}
			dir := p.Root()
			if len(c.args) == 1 {
				dir = abs(c.args[0])
			}
			s := port.FindImports(dir)
			var list []port.ImportOptions
			if s.Older != "" {
				list = append(list, port.ImportOptions{Older: s.Older, DryRun: dryRun || len(c.args) == 0})
			}
			if s.Pi != "" {
				list = append(list, port.ImportOptions{Git: s.Pi, Pi: true, DryRun: dryRun || len(c.args) == 0})
			}
			if len(list) == 0 && len(c.args) == 1 {
				return &hintedError{&project.NothingError{What: "import from " + dir}, "commits of a git repository: rewind import --git " + shellQuote(c.args[0])}
			}
			return c.imports(ctx, p, list)
		},
	}
}

type importedView struct {
	Sources []importView `json:"sources"`
	DryRun  bool         `json:"dry_run"`
}

type importView struct {
	pathView
	Found       int              `json:"found"`
	Known       int              `json:"known"`
	Checkpoints []importedOne    `json:"checkpoints"`
	Bindings    int              `json:"bindings"`
	Skipped     []importSkipView `json:"skipped"`
	Said        int              `json:"conversations"`
	Unsaid      []importSkipView `json:"without_conversation"`
	LeftOut     int              `json:"paths_left_out"`
	Newest      *string          `json:"newest"`
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

// skippedError: some checkpoints of a source could not be taken over. They were named.
type skippedError struct{ skipped, unsaid int }

func (e *skippedError) Error() string {
	if e.skipped == 0 {
		return plural(e.unsaid, "conversation", "conversations") + " could not be imported; the files were"
	}
	return plural(e.skipped, "checkpoint", "checkpoints") + " could not be imported"
}

// imports takes over the sources, one after the other.
func (c *call) imports(ctx context.Context, p *project.Project, list []port.ImportOptions) error {
	v := importedView{Sources: []importView{}, DryRun: true}
	var left skippedError
	for _, o := range list {
		done, err := port.Import(ctx, p, o)
		if err != nil {
			return err
		}
		c.out.endProgress()
		v.DryRun = o.DryRun
		left.skipped += len(done.Skipped)
		left.unsaid += len(done.Unsaid)
		v.Sources = append(v.Sources, viewImported(done))
		if c.json {
			continue
		}
		did := "Imported"
		if done.DryRun {
			did = "Would import"
		}
		text := ""
		if done.Known > 0 {
			text += ", " + plural(done.Known, "was", "were") + " imported before"
		}
		if done.Said > 0 {
			text += ", " + plural(done.Said, "conversation", "conversations")
		}
		if done.Bindings > 0 {
			text += ", " + plural(done.Bindings, "entry", "entries") + " bound"
		}
		c.out.summary("%s %s from %s%s.", did, plural(len(done.Added), "checkpoint", "checkpoints"), escape(done.From), text)
		if n := len(done.Added); n > 0 && !c.quiet {
			first, last := done.Added[0].Time, done.Added[n-1].Time
			c.out.line("  %s … %s", first.Local().Format("2006-01-02 15:04"), last.Local().Format("2006-01-02 15:04"))
		}
		c.skips(done.Skipped, "")
		c.skips(done.Unsaid, "its conversation was left out: ")
		if done.LeftOut > 0 && !c.quiet {
			c.out.warn("%s left out, in no checkpoint (.git, submodules, devices, files over maxFileSize)", plural(done.LeftOut, "path was", "paths were"))
		}
	}
	if c.json {
		if err := c.out.document(v); err != nil {
			return err
		}
	} else if len(list) == 0 {
		c.out.summary("There is nothing to import in %s.", escape(p.Root()))
		c.out.hint("commits of a git repository: rewind import --git REPO")
	} else if len(c.args) == 0 && !c.flags.Changed("git") {
		c.out.hint("rewind import . imports it")
	}
	if left != (skippedError{}) {
		return &left
	}
	return nil
}

// skips names what was left out.
func (c *call) skips(list []port.ImportSkip, what string) {
	for i, s := range list {
		if i == maxNamed {
			c.out.warn("… and %s", plural(len(list)-i, "other", "others"))
			break
		}
		c.out.warn("%s: %s%s", s.Name, what, s.Reason)
	}
}

func viewImported(d *port.Imported) importView {
	v := importView{pathView: viewPath(filepath.ToSlash(d.From)), Found: d.Found, Known: d.Known, Checkpoints: []importedOne{}, Bindings: d.Bindings, Skipped: []importSkipView{}, Said: d.Said, Unsaid: []importSkipView{}, LeftOut: d.LeftOut}
	for _, a := range d.Added {
		v.Checkpoints = append(v.Checkpoints, importedOne{a.ID.String(), viewTime(a.Time), a.Name, strings.ToValidUTF8(a.Description, "\uFFFD"), a.Files})
	}
	for _, s := range d.Skipped {
		v.Skipped = append(v.Skipped, importSkipView(s))
	}
	for _, s := range d.Unsaid {
		v.Unsaid = append(v.Unsaid, importSkipView(s))
	}
	if d.Newest != nil {
		id := d.Newest.ID.String()
		v.Newest = &id
	}
	return v
}
