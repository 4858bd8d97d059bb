package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
)

func NewStores() *app.Command {
	var f removeFlags
	return &app.Command{
		Name:  "stores",
		Usage: "[rm ID… | rm . | --gone [--older AGE]] [--dry-run] [--force] [--yes]",
		Short: "list the stores of this account, or remove one",
		Long: "Shows every store of this account, most recently saved first: id, size on disk,\n" +
			"checkpoints, last save, state, and project. rm permanently removes stores and their\n" +
			"mirrors under ~/.rewind/vault, after showing what that includes. A store whose project\n" +
			"still exists is refused without --force. rm . removes the store of this project, with all\n" +
			"its checkpoints; the files of the project and the agents' hooks stay.\n" +
			"Nothing else ever removes the store of a deleted project, since it is the last copy: rm\n" +
			"--gone removes all of these, with --older only those that were last saved to so long\n" +
			"ago. Whether the project of an unregistered mirror exists is not known: rm takes its id.\n\n" +
			"live           the project exists, with its store\n" +
			"lost           the project exists; its next command rebuilds the store\n" +
			"moved          nothing is at its path; its directory or its packs are elsewhere\n" +
			"gone           nothing is at its path; the mirror or the global store is left\n" +
			"replaced       another directory, or another store, is at its path\n" +
			"unfinished     init was interrupted before there was anything in it\n" +
			"being removed  its removal was interrupted: rm finishes it (with --json: going)\n" +
			"unreachable    its path cannot be accessed: its disk is not mounted, or this is\n" +
			"               a container without it\n" +
			"foreign        it belongs to another user, or cannot be read\n" +
			"unregistered   a mirror that is not in the registry",
		Examples: []app.Example{
			{Line: "rewind stores", Does: "all of them"},
			{Line: "rewind stores rm 3f9c --dry-run", Does: "what would be removed, by the beginning of its id"},
			{Line: "rewind stores rm . --dry-run", Does: "what removing this project's store includes"},
			{Line: "rewind stores rm --gone --older 90d", Does: "those of projects that were deleted, unused for 90 days"},
		},
		Answers: app.Answers{"stores": storesView{}, "stores-rm": removedView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitRefused},
		MaxArgs: -1,
		Flags: func(fs *pflag.FlagSet) {
			f.define(fs)
			fs.BoolVar(&f.gone, "gone", false, "with rm: the stores of deleted projects")
			fs.StringVar(&f.older, "older", "", "with --gone: last saved to at least this `age` ago: 12h, 30d, 2w")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			args := append(append([]string(nil), c.Args...), c.Paths...)
			switch {
			case len(args) == 0 && (f.dryRun || f.force || f.yes || f.gone || f.older != ""):
				return &app.UsageError{Msg: "--dry-run, --force, --yes, --gone and --older need rm", Hint: "rewind stores rm ID"}
			case len(args) == 0:
				return listStores(ctx, c)
			case args[0] != "rm":
				return &app.UsageError{Msg: "unknown subcommand " + app.Quote(args[0]) + " of stores", Hint: "rewind stores rm ID"}
			case f.gone && len(args) > 1:
				return &app.UsageError{Msg: "--gone takes no ids", Hint: "rewind stores rm --gone"}
			case f.older != "" && !f.gone:
				return &app.UsageError{Msg: "--older needs --gone", Hint: "rewind stores rm --gone --older " + app.ShellQuote(f.older)}
			case f.gone:
				return removeGone(ctx, c, f)
			case len(args) == 1:
				return &app.UsageError{Msg: "too few arguments: ID is missing", Hint: "rewind stores rm ID"}
			}
			if len(args) == 2 && args[1] == "." {
				return runDeinit(ctx, c, f)
			}
			return removeStores(ctx, c, f, args[1:])
		},
	}
}

// removeFlags are those of stores rm and of deinit.
type removeFlags struct {
	dryRun, force, yes, gone bool
	older                    string
}

func (f *removeFlags) define(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.dryRun, "dry-run", "n", false, "print what would be removed, and remove nothing")
	fs.BoolVar(&f.force, "force", false, "remove it even if its project exists or an unfinished restore needs it")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

func listStores(ctx context.Context, c *app.Call) error {
	all, err := stores.List(ctx, c.Env)
	if err != nil {
		return err
	}
	var gone []stores.Info
	for _, s := range all {
		if s.OfDeleted() {
			gone = append(gone, s)
		}
	}
	if c.JSON {
		return c.Out.Document(storesView{Stores: app.Map(all, viewStore), Bytes: stores.Bytes(all), Gone: len(gone), GoneBytes: stores.Bytes(gone)})
	}
	if len(all) == 0 {
		if problem := c.Env.HomeProblem(); problem != "" {
			c.Out.Warn("%s", problem)
		}
		c.Out.Hint("no stores yet; create one with rewind init")
		return nil
	}
	return c.Page(ctx, func() {
		printStores(c.Out, all)
		c.Out.Line("")
		c.Out.Line("%s, %s", app.Plural(len(all), "store", "stores"), app.FormatSize(stores.Bytes(all)))
		hintGone(c.Out, gone)
	})
}

// hintGone says what the stores of deleted projects take.
func hintGone(o *app.Output, gone []stores.Info) {
	if len(gone) > 0 {
		o.Hint("%s: rewind stores rm --gone removes %s", rows.GoneText(gone), app.ItOrThem(len(gone)))
	}
}

// removeGone takes away the stores of deleted projects.
func removeGone(ctx context.Context, c *app.Call, f removeFlags) error {
	var older time.Duration
	again := "rewind stores rm --gone"
	if f.older != "" {
		var err error
		if older, err = app.ParseAge(f.older); err != nil {
			return err
		}
		if older <= 0 {
			return app.Usagef("--older must be greater than zero")
		}
		again += " --older " + app.ShellQuote(f.older)
	}
	gone, err := stores.Gone(ctx, c.Env, older)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		c.Out.Summary("No store of a deleted project.")
		return c.Document(removedView{DryRun: f.dryRun, Removed: []removalView{}})
	}
	var plans []*stores.Removal
	for _, s := range gone {
		r, err := stores.PlanRemoval(ctx, c.Env, s.ID)
		if err != nil {
			return err
		}
		plans = append(plans, r)
	}
	return remove(ctx, c, f, plans, again, again+" --force")
}

func printStores(o *app.Output, all []stores.Info) {
	t := screen.Table{Columns: []screen.Column{
		{Title: "ID", Style: screen.Yellow}, {Title: "SIZE", Right: true}, {Title: "CHECKPOINTS", Right: true},
		{Title: "LAST SAVE", Right: true}, {Title: "STATE", Style: screen.Cyan}, {Title: "PROJECT", Flex: true},
	}}
	for _, s := range all {
		n, age := "", ""
		if s.Checkpoints >= 0 {
			n = app.Utoa(uint64(s.Checkpoints - s.Safety))
		}
		if !s.LastSave.IsZero() {
			age = app.FormatAge(o.Now().Sub(s.LastSave))
		}
		t.Rows = append(t.Rows, []string{s.ID[:app.ShortID], app.FormatSize(s.Bytes), n, age, storeState(s), app.Escape(s.Root)})
	}
	o.Table(t)
}

// storeState is the state in the words of the table.
func storeState(s stores.Info) string {
	words := []string{StateText(s.State)}
	if s.InUse {
		words = append(words, "in use")
	}
	if s.State == account.Live && s.Mirror == "" {
		words = append(words, "no mirror")
	}
	if s.Mode == account.GlobalMode {
		words = append(words, "global")
	}
	return strings.Join(words, ", ")
}

// StateText is a state as people read it; --json has its name.
func StateText(s account.State) string {
	if s == account.Going {
		return "being removed"
	}
	return string(s)
}

type storesView struct {
	Stores    []storeView `json:"stores"`
	Bytes     int64       `json:"bytes"`       // of all of them
	Gone      int         `json:"gone_stores"` // those of deleted projects
	GoneBytes int64       `json:"gone_bytes"`
}

// storeView is described by docs/schema/stores.schema.json.
type storeView struct {
	ID          string  `json:"id"`
	Root        string  `json:"root"`
	Mode        string  `json:"mode"`
	State       string  `json:"state"`
	InUse       bool    `json:"in_use"`
	Store       *string `json:"store"`
	Mirrored    bool    `json:"second_name"`
	Mirror      *string `json:"vault"`
	Bytes       int64   `json:"bytes"`
	Checkpoints *int    `json:"checkpoints"`
	LastSave    *string `json:"last_save"`
}

func viewStore(s stores.Info) storeView {
	v := storeView{
		ID: s.ID, Root: app.ViewPath(s.Root).Path, Mode: string(s.Mode), State: string(s.State), InUse: s.InUse,
		Store: app.OrNull(s.Store), Mirrored: s.Mirror != "", Mirror: app.OrNull(s.Mirror), Bytes: s.Bytes,
	}
	if s.Checkpoints >= 0 {
		v.Checkpoints = &s.Checkpoints
	}
	if !s.LastSave.IsZero() {
		v.LastSave = new(app.ViewTime(s.LastSave))
	}
	return v
}

// removeStores takes away the stores that ids name.
func removeStores(ctx context.Context, c *app.Call, f removeFlags, ids []string) error {
	var plans []*stores.Removal
	seen := map[string]bool{}
	for _, id := range ids {
		r, err := stores.PlanRemoval(ctx, c.Env, id)
		if err != nil {
			var none *project.NoStoreError
			if errors.As(err, &none) {
				return app.Hinted(err, "rewind stores lists all stores; give at least four characters of the id")
			}
			return err
		}
		if !seen[r.ID] {
			plans = append(plans, r)
		}
		seen[r.ID] = true
	}
	again := "rewind stores rm " + strings.Join(ids, " ")
	force := again + " --force"
	if f.force {
		again = force
	}
	return remove(ctx, c, f, plans, again, "rewind stores rm ., in the project, removes its store; "+force+" does so from here")
}

// remove shows what goes, asks, and removes it. again is the command as it was typed.
func remove(ctx context.Context, c *app.Call, f removeFlags, plans []*stores.Removal, again, force string) error {
	v := removedView{DryRun: f.dryRun, Removed: app.Map(plans, func(r *stores.Removal) removalView { return removalView{viewStore(r.Info), notNil(r.Kept), r.Note} })}
	ask := c.Out.Interactive() && !f.yes && !f.dryRun
	if ask || f.dryRun {
		showRemovals(c, plans, ask)
	}
	for _, r := range plans {
		if r.Refused != "" && !f.force && !f.dryRun {
			return app.Hinted(&project.RefusedError{What: r.Refused}, force)
		}
	}
	if f.dryRun {
		return c.Document(v)
	}
	switch {
	case ask:
		ok, err := c.Out.Ask("This cannot be undone. Continue?")
		if err != nil {
			return err
		}
		if !ok {
			return &restore.DeclinedError{}
		}
	case !f.yes:
		showRemovals(c, plans, true)
		return app.Hinted(&project.RefusedError{What: "this removes checkpoints permanently"}, again+" --yes")
	}
	for _, r := range plans {
		if err := r.Apply(ctx, 0); err != nil {
			return err
		}
		c.Out.Changed = true
		name := "the store " + r.ID[:min(app.ShortID, len(r.ID))]
		if r.Root != "" {
			name += " of " + r.Root
		}
		c.Out.Summary("Removed %s, freed %s.", app.Escape(name), app.FormatSize(r.Bytes))
		for _, k := range r.Kept {
			c.Out.Summary("Kept %s.", app.Escape(k))
		}
		if r.Note != "" && !ask {
			c.Out.Warn("%s", r.Note)
		}
	}
	return c.Document(v)
}

type removedView struct {
	Removed []removalView `json:"removed"`
	DryRun  bool          `json:"dry_run"`
}

type removalView struct {
	storeView
	Kept []string `json:"kept"`
	Note string   `json:"note"` // what cannot be found out on this machine
}

// showRemovals tells what goes: on stderr where a question or a refusal follows.
func showRemovals(c *app.Call, plans []*stores.Removal, onStderr bool) {
	say := c.Out.Summary
	if onStderr {
		say = func(format string, args ...any) { c.Out.Tell(format, args...) }
	}
	for _, r := range plans {
		say("store    %s (%s)", r.ID, storeState(r.Info))
		if r.Root != "" {
			say("project  %s", app.Escape(r.Root))
		}
		if r.MovedTo != "" {
			say("moved to %s", app.Escape(r.MovedTo))
		}
		for _, dir := range []string{r.Store, r.Mirror} {
			if dir != "" {
				say("removes  %s", app.Escape(dir))
			}
		}
		text := app.FormatSize(r.Bytes)
		if r.Checkpoints >= 0 {
			text += ", " + app.CheckpointCount(r.Checkpoints-r.Safety, r.Safety)
		}
		if !r.LastSave.IsZero() {
			text += ", last save " + r.LastSave.Local().Format(time.DateTime)
		}
		say("size     %s", text)
		for _, k := range r.Kept {
			say("keeps    %s", app.Escape(k))
		}
		if r.Curable != "" {
			say("damaged  %s: rewind verify --repair would bring it back", app.Escape(r.Curable))
		}
		if r.Note != "" {
			say("note     %s", r.Note)
		}
	}
}
