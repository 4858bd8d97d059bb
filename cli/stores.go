package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
)

func newStores() *command {
	var f removeFlags
	return &command{
		name:  "stores",
		usage: "[rm ID… | rm . | --gone [--older AGE]] [--dry-run] [--force] [--yes]",
		short: "list the stores of this account, or remove one",
		long: "Shows every store of this account, most recently saved first: id, size on disk,\n" +
			"checkpoints, last save, state, and project. rm permanently removes stores and their\n" +
			"mirrors under ~/.rewind/vault, after showing what that includes. A store whose project\n" +
			"still exists is refused without --force. rm . removes the store of this project, with all\n" +
			"its checkpoints; the files of the project and the agents' hooks stay.\n" +
			"Nothing else ever removes the store of a deleted project, since it is the last copy: rm\n" +
			"--gone removes all of these (gone and unregistered), with --older only those that were\n" +
			"last saved to that long ago.\n\n" +
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
		examples: []example{
			{"rewind stores", "all of them"},
			{"rewind stores rm 3f9c --dry-run", "what would be removed, by the beginning of its id"},
			{"rewind stores rm . --dry-run", "what removing this project's store includes"},
			{"rewind stores rm --gone --older 90d", "those of projects that were deleted, unused for 90 days"},
		},
		exits:   []int{exitPartial, exitNotFound, exitBusy, exitRefused},
		maxArgs: -1,
		flags: func(fs *pflag.FlagSet) {
			f.define(fs)
			fs.BoolVar(&f.gone, "gone", false, "with rm: the stores of deleted projects")
			fs.StringVar(&f.older, "older", "", "with --gone: last saved to at least this `age` ago: 12h, 30d, 2w")
		},
		run: func(ctx context.Context, c *call) error {
			args := append(append([]string(nil), c.args...), c.paths...)
			switch {
			case len(args) == 0 && (f.dryRun || f.force || f.yes || f.gone || f.older != ""):
				return &usageError{msg: "--dry-run, --force, --yes, --gone and --older need rm", hint: "rewind stores rm ID"}
			case len(args) == 0:
				return listStores(ctx, c)
			case args[0] != "rm":
				return &usageError{msg: "unknown subcommand " + quote(args[0]) + " of stores", hint: "rewind stores rm ID"}
			case f.gone && len(args) > 1:
				return &usageError{msg: "--gone takes no ids", hint: "rewind stores rm --gone"}
			case f.older != "" && !f.gone:
				return &usageError{msg: "--older needs --gone", hint: "rewind stores rm --gone --older " + shellQuote(f.older)}
			case f.gone:
				return removeGone(ctx, c, f)
			case len(args) == 1:
				return &usageError{msg: "too few arguments: ID is missing", hint: "rewind stores rm ID"}
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

func listStores(ctx context.Context, c *call) error {
	all, err := stores.List(ctx, c.env)
	if err != nil {
		return err
	}
	var gone []stores.Info
	for _, s := range all {
		if s.OfDeleted() {
			gone = append(gone, s)
		}
	}
	if c.json {
		v := storesView{Stores: make([]storeView, len(all)), Bytes: stores.Bytes(all), Gone: len(gone), GoneBytes: stores.Bytes(gone)}
		for i, s := range all {
			v.Stores[i] = viewStore(s)
		}
		return c.out.document(v)
	}
	if len(all) == 0 {
		c.out.hint("no stores yet; create one with rewind init")
		return nil
	}
	return c.out.paged(ctx, c.env, func() error {
		printStores(c.out, all)
		c.out.line("")
		c.out.line("%s, %s", plural(len(all), "store", "stores"), formatSize(stores.Bytes(all)))
		hintGone(c.out, gone)
		return nil
	})
}

// hintGone says what the stores of deleted projects take.
func hintGone(o *output, gone []stores.Info) {
	if len(gone) > 0 {
		o.hint("%s: rewind stores rm --gone removes %s", goneText(gone), itOrThem(len(gone)))
	}
}

func goneText(gone []stores.Info) string {
	if len(gone) == 1 {
		return "the store of a deleted project takes " + formatSize(stores.Bytes(gone))
	}
	return fmt.Sprintf("%d stores of deleted projects take %s", len(gone), formatSize(stores.Bytes(gone)))
}

// removeGone takes away the stores of deleted projects.
func removeGone(ctx context.Context, c *call, f removeFlags) error {
	var older time.Duration
	again := "rewind stores rm --gone"
	if f.older != "" {
		var err error
		if older, err = parseAge(f.older); err != nil {
			return err
		}
		if older <= 0 {
			return usagef("--older must be greater than zero")
		}
		again += " --older " + shellQuote(f.older)
	}
	gone, err := stores.Gone(ctx, c.env, older)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		c.out.summary("No store of a deleted project.")
		if c.json {
			return c.out.document(removedView{DryRun: f.dryRun, Removed: []removalView{}})
		}
		return nil
	}
	var plans []*stores.Removal
	for _, s := range gone {
		r, err := stores.PlanRemoval(ctx, c.env, s.ID)
		if err != nil {
			return err
		}
		plans = append(plans, r)
	}
	return c.remove(ctx, f, plans, again, again+" --force")
}

func printStores(o *output, all []stores.Info) {
	t := screen.Table{
		Width: o.width(),
		Columns: []screen.Column{
			{Title: "ID", Style: screen.Yellow}, {Title: "SIZE", Right: true}, {Title: "CHECKPOINTS", Right: true},
			{Title: "LAST SAVE", Right: true}, {Title: "STATE", Style: screen.Cyan}, {Title: "PROJECT", Flex: true},
		},
	}
	for _, s := range all {
		n, age := "", ""
		if s.Checkpoints >= 0 {
			n = utoa(uint64(s.Checkpoints - s.Safety))
		}
		if !s.LastSave.IsZero() {
			age = formatAge(o.now().Sub(s.LastSave))
		}
		t.Rows = append(t.Rows, []string{s.ID[:shortID], formatSize(s.Bytes), n, age, storeState(s), escape(s.Root)})
	}
	t.Write(o.color, func(s string) { o.line("%s", s) })
}

// storeState is the state in the words of the table.
func storeState(s stores.Info) string {
	words := []string{stateText(s.State)}
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

// stateText is a state as people read it; --json has its name.
func stateText(s account.State) string {
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
		ID: s.ID, Root: viewPath(s.Root).Path, Mode: string(s.Mode), State: string(s.State), InUse: s.InUse,
		Store: orNull(s.Store), Mirrored: s.Mirror != "", Mirror: orNull(s.Mirror), Bytes: s.Bytes,
	}
	if s.Checkpoints >= 0 {
		v.Checkpoints = &s.Checkpoints
	}
	if !s.LastSave.IsZero() {
		at := viewTime(s.LastSave)
		v.LastSave = &at
	}
	return v
}

// removeStores takes away the stores that ids name.
func removeStores(ctx context.Context, c *call, f removeFlags, ids []string) error {
	var plans []*stores.Removal
	seen := map[string]bool{}
	for _, id := range ids {
		r, err := stores.PlanRemoval(ctx, c.env, id)
		if err != nil {
			var none *project.NoStoreError
			if errors.As(err, &none) {
				return &hintedError{err, "rewind stores lists all stores; give at least four characters of the id"}
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
	return c.remove(ctx, f, plans, again, "rewind stores rm ., in the project, removes its store; "+force+" does so from here")
}

// remove shows what goes, asks, and removes it. again is the command as it was typed.
func (c *call) remove(ctx context.Context, f removeFlags, plans []*stores.Removal, again, force string) error {
	v := removedView{DryRun: f.dryRun, Removed: []removalView{}}
	for _, r := range plans {
		v.Removed = append(v.Removed, removalView{viewStore(r.Info), append([]string{}, r.Kept...), r.Note})
	}
	ask := c.out.interactive() && !f.yes && !f.dryRun
	if ask || f.dryRun {
		c.showRemovals(plans, ask)
	}
	for _, r := range plans {
		if r.Refused != "" && !f.force && !f.dryRun {
			return &hintedError{&project.RefusedError{What: r.Refused}, force}
		}
	}
	if f.dryRun {
		if c.json {
			return c.out.document(v)
		}
		return nil
	}
	switch {
	case ask:
		ok, err := c.out.ask("This cannot be undone. Continue?")
		if err != nil {
			return err
		}
		if !ok {
			return &restore.DeclinedError{}
		}
	case !f.yes:
		c.showRemovals(plans, true)
		return &hintedError{&project.RefusedError{What: "this removes checkpoints permanently"}, again + " --yes"}
	}
	for _, r := range plans {
		if err := r.Apply(ctx, 0); err != nil {
			return err
		}
		c.out.changed = true
		name := "the store " + r.ID[:min(shortID, len(r.ID))]
		if r.Root != "" {
			name += " of " + r.Root
		}
		c.out.summary("Removed %s, freed %s.", escape(name), formatSize(r.Bytes))
		for _, k := range r.Kept {
			c.out.summary("Kept %s.", escape(k))
		}
		if r.Note != "" && !ask {
			c.out.warn("%s", r.Note)
		}
	}
	if c.json {
		return c.out.document(v)
	}
	return nil
}

type removedView struct {
	Removed []removalView `json:"removed"`
	DryRun  bool          `json:"dry_run"`
}

type removalView struct {
	storeView
	Kept []string `json:"kept"`
	Note string   `json:"note"` // what cannot be told from here
}

// showRemovals tells what goes: on stderr where a question or a refusal follows.
func (c *call) showRemovals(plans []*stores.Removal, onStderr bool) {
	say := c.out.summary
	if onStderr {
		say = func(format string, args ...any) { c.out.tell(format, args...) }
	}
	for _, r := range plans {
		say("store    %s (%s)", r.ID, storeState(r.Info))
		if r.Root != "" {
			say("project  %s", escape(r.Root))
		}
		if r.MovedTo != "" {
			say("moved to %s", escape(r.MovedTo))
		}
		for _, dir := range []string{r.Store, r.Mirror} {
			if dir != "" {
				say("removes  %s", escape(dir))
			}
		}
		text := formatSize(r.Bytes)
		if r.Checkpoints >= 0 {
			text += ", " + checkpointCount(r.Checkpoints-r.Safety, r.Safety)
		}
		if !r.LastSave.IsZero() {
			text += ", last save " + r.LastSave.Local().Format(time.DateTime)
		}
		say("size     %s", text)
		for _, k := range r.Kept {
			say("keeps    %s", escape(k))
		}
		if r.Curable != "" {
			say("damaged  %s: rewind verify --repair would bring it back", escape(r.Curable))
		}
		if r.Note != "" {
			say("note     %s", r.Note)
		}
	}
}
