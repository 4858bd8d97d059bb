package show

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// listFlags are those of list.
type listFlags struct {
	all, oneline              bool
	limit                     int
	paths                     []string
	grep, since, until, agent string
}

func NewList() *app.Command {
	var o listFlags
	return &app.Command{
		Name:  "list",
		Usage: "[MACHINE/] [--all] [--path P] [--grep TEXT] [--since T] [--until T] [--agent A] [--session S] [--limit N] [--oneline] [--ops] [--attempts [prompt]]",
		Short: "show the checkpoints, newest first",
		Long: "Shows the newest 20 checkpoints: number, id, age, why it was taken, the prompt or the\n" +
			"tool's command or file, and +added ~changed -deleted files. @ is the project as it is\n" +
			"now, * marks pinned checkpoints, and !N says that N paths could not be captured.\n" +
			"\n" +
			"Under MADE OR SAVED is what a prompt's whole turn or a restore made, or what a save found\n" +
			"changed since the checkpoint before it: each change is in one of these rows. The row of a\n" +
			"tool call has its part of the turn again. After the word then are changes that came later\n" +
			"and that no other row has: mostly yours. Safety checkpoints of restores are rows where no\n" +
			"other row has the changes. Calls without changes, and ends of turns and sessions behind\n" +
			"which nothing changed, are left out.\n" +
			"\n" +
			"(3f2a 1, shared 1) counts files that are not the row's own: one of session 3f2a, and one\n" +
			"that several could have changed. rewind show names them.\n" +
			"\n" +
			"MACHINE/ lists what rewind pull has fetched of another machine, as laptop/.\n" +
			"\n" +
			"--grep looks at prompts, descriptions, names, tools and their arguments, and at what git\n" +
			"did. It ignores case unless TEXT has a capital letter. A time is an age (2h, 3d), a date,\n" +
			"a time of day, or a date and a time. --json and --oneline have every checkpoint.\n" +
			"\n" +
			"--ops lists the operations instead (restores, undos, gc, …), with the numbers that\n" +
			"rewind undo --to takes. --attempts lists the attempts at one prompt: the newest that was\n" +
			"tried more than once, or the prompt that is given.",
		Examples: []app.Example{
			{Line: "rewind list", Does: "the newest 20"},
			{Line: "rewind list --limit 0", Does: "all of them"},
			{Line: "rewind list --all", Does: "include rows without changes, and all safety checkpoints"},
			{Line: "rewind list --path src/main.go", Does: "what changed this file"},
			{Line: "rewind list --grep 'rm -rf' --since 2h", Does: "who deleted it"},
			{Line: "rewind list --ops", Does: "what was restored and undone, and when"},
			{Line: "rewind list --attempts prompt~3", Does: "what came of a prompt each time it was tried"},
			{Line: "rewind list --json | jq -r '.checkpoints[].id'", Does: "for scripts"},
		},
		Answers: app.Answers{"list": listView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		Stray:   strayListed,
		MaxArgs: 1,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.all, "all", false, "no limit, rows without changes, and all safety checkpoints that restores took")
			f.StringArrayVar(&o.paths, "path", nil, "only what changed path or glob `P`; may be repeated")
			f.StringVar(&o.grep, "grep", "", "only what has `TEXT` in its prompt, description, name, tool call, or in what git did")
			f.StringVar(&o.since, "since", "", "only from time `T` on")
			f.StringVar(&o.until, "until", "", "only up to time `T`")
			f.StringVar(&o.agent, "agent", "", "only of agent `A`, by the beginning of its name")
			f.IntVarP(&o.limit, "limit", "n", 20, "show at most `N`, 0 for all")
			f.BoolVar(&o.oneline, "oneline", false, "id and text only")
			f.Bool("ops", false, "the operations instead of the checkpoints")
			f.Bool("attempts", false, "the attempts at a prompt instead of the checkpoints")
		},
		Run: func(ctx context.Context, c *app.Call) error { return runList(ctx, c, o) },
	}
}

// strayListed says how what was meant is typed: a number of rows, as in git log -8, a checkpoint, or a file.
func strayListed(arg string) string {
	word := app.ShellQuote(arg)
	if _, err := strconv.ParseUint(arg, 10, 31); err == nil {
		return "rewind list -n " + word + " lists that many, rewind show " + word + " shows the checkpoint with that number"
	}
	return "rewind list --path " + word + " lists what changed a file, rewind show " + word + " shows one checkpoint"
}

func runList(ctx context.Context, c *app.Call, o listFlags) error {
	var err error
	if o.limit, err = o.most(c); err != nil {
		return err
	}
	filter, err := o.filter(c)
	if err != nil {
		return err
	}
	pulled := ""
	if len(c.Args) > 0 {
		of, rest, ok := inspect.CutLog(c.Args[0])
		if !ok || rest != "" {
			return &app.UsageError{Msg: "unexpected argument " + app.Quote(c.Args[0]), Hint: strayListed(c.Args[0])}
		}
		pulled = of
	}
	p, err := c.OpenToRead(ctx)
	if err != nil {
		return err
	}
	if pulled != "" {
		if p, err = p.ViewOf(pulled); err != nil {
			return err
		}
	}
	if c.Flags.Changed("session") || c.Session != "" {
		s, err := session.Named(ctx, p, c.Session)
		if err != nil {
			return err
		}
		filter.Sessions = map[string]bool{s.ID: true}
	}
	if len(o.paths) > 0 {
		if filter.Paths, err = c.Patterns(ctx, p, o.paths, false); err != nil {
			return err
		}
	}
	all := c.JSON || o.oneline // they promise every checkpoint
	options := timeline.Options{Folded: all || o.all, Safety: o.all, Only: all, Filter: filter}
	l := &listing{c: c, p: p, filtered: o.filtered(c), filter: filter, ofPaths: len(o.paths) > 0}
	if !o.oneline && p.Of() == "" {
		l.present, l.unseen = rows.Look(ctx, p)
		if err := ctx.Err(); err != nil {
			return err
		}
		options.Present = l.present
	}
	if l.release, err = p.Use(ctx); err != nil { // the rows, then what they changed
		return err
	}
	defer l.release()
	if err := l.read(ctx, timeline.New(p, options), o.limit, o.all); err != nil {
		return err
	}
	c.Out.EndProgress()
	if l.checkpoints == 0 && !l.filtered {
		if pack := p.Store.BrokenLog(); pack != "" {
			return &account.DamagedStoreError{What: pack, Err: errors.New("nothing in it can be read")}
		}
		if short, err := p.Shortened(true); err != nil || short != nil && short.Cut {
			if err == nil {
				err = errors.New(short.Text())
			}
			return &account.DamagedStoreError{What: "the log", Err: err}
		}
	}
	torn, err := p.Torn(ctx)
	if err != nil {
		return err
	}
	if what := rows.TornText(torn); what != "" {
		c.Out.Warn("%s; see rewind status --check", what)
	}
	switch {
	case c.JSON:
		return l.document(ctx)
	case l.checkpoints == 0 && !l.filtered:
		c.Out.Hint("no checkpoints yet; take one with rewind save")
		return nil
	case !slices.ContainsFunc(l.rows, func(r *timeline.Row) bool { return r.Checkpoint != nil || r.Kind == timeline.Operation && !o.oneline }):
		c.Out.Hint("no checkpoint matches; rewind list shows all")
		if len(l.rows) == 0 {
			return nil
		}
	}
	if o.oneline {
		return c.Page(ctx, func() { listOneline(c.Out, l.rows) })
	}
	if err := l.print(ctx); err != nil || l.filtered || p.Of() != "" {
		return err
	}
	return hintPulled(c, p)
}

// hintPulled says how to list what was pulled of other machines.
func hintPulled(c *app.Call, p *project.Project) error {
	all, err := p.Pulled()
	if err != nil || len(all) == 0 {
		return err
	}
	c.Out.Hint("pulled of other machines: %s", strings.Join(app.Map(all, func(l project.PulledLog) string { return "rewind list " + l.Name + "/" }), ", "))
	return nil
}

// most is how many rows are shown at most; 0: all.
func (o *listFlags) most(c *app.Call) (int, error) {
	switch {
	case o.limit < 0:
		return 0, app.Usagef("--limit must be 0 or more, not %d", o.limit)
	case o.all && !c.Flags.Changed("limit"):
		return 0, nil
	}
	return o.limit, nil
}

// filter checks what can be checked without the store.
func (o *listFlags) filter(c *app.Call) (f timeline.Filter, err error) {
	for _, name := range []string{"path", "grep", "since", "until", "agent", "session"} {
		if flag := c.Flags.Lookup(name); flag != nil && flag.Changed && (flag.Value.String() == "" || flag.Value.String() == "[]") {
			if name == "session" { // mostly a script's unset variable
				return f, &app.UsageError{Msg: "the session is an empty string", Hint: "rewind sessions"}
			}
			return f, app.Usagef("--%s is an empty string", name)
		}
	}
	now := c.Env.Time()
	for _, t := range []struct {
		name, text string
		to         *time.Time
	}{{"since", o.since, &f.Since}, {"until", o.until, &f.Until}} {
		if t.text == "" {
			continue
		}
		text := t.text
		if inner, ok := strings.CutPrefix(text, "@{"); ok {
			text = strings.TrimSuffix(inner, "}")
		}
		if *t.to, err = inspect.ParseMoment(text, now); err != nil {
			return f, app.Usagef("--%s: %s", t.name, err)
		}
	}
	if !f.Until.IsZero() && f.Until.Before(f.Since) {
		return f, app.Usagef("--until %s is before --since %s", o.until, o.since)
	}
	f.Text, f.GitText = o.grep, rows.GitText
	if o.agent != "" {
		f.Agents = func(agent string) bool {
			return len(agent) >= len(o.agent) && strings.EqualFold(agent[:len(o.agent)], o.agent)
		}
	}
	return f, nil
}

func (o *listFlags) filtered(c *app.Call) bool {
	return len(o.paths) > 0 || o.grep != "" || o.since != "" || o.until != "" || o.agent != "" || c.Session != ""
}

// listing is what list prints, in one of its forms.
type listing struct {
	c           *app.Call
	p           *project.Project
	release     func()            // of the store
	present     *timeline.Present // nil: the tree was not looked at
	unseen      string            // why
	filtered    bool
	filter      timeline.Filter
	gitRows     int  // rows of which it was said what git did
	ofPaths     bool // only what changed some paths: what git did is left out
	rows        []*timeline.Row
	checkpoints int // among the rows
	folded      int // rows without news that were left out
	older       int // checkpoints behind the last row
}

// read takes rows until there are enough checkpoints, 0 for all. Safety checkpoints count where all of them are asked for.
func (l *listing) read(ctx context.Context, t *timeline.Timeline, limit int, safety bool) error {
	for limit == 0 || l.checkpoints < limit {
		want := 0
		if limit > 0 {
			want = limit - l.checkpoints
		}
		rows, err := t.Next(ctx, want)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			if r.Checkpoint != nil && (r.Checkpoint.N > 0 || safety) {
				l.checkpoints++
			}
		}
		l.rows = append(l.rows, rows...)
	}
	l.folded = t.FoldedAway()
	if limit == 0 || l.checkpoints < limit || l.filtered {
		return nil
	}
	last := 0 // its number
	for _, r := range l.rows {
		if r.Checkpoint != nil {
			last = max(last, r.Checkpoint.N)
		}
	}
	return l.p.Query(ctx, func(db *manifest.DB) error {
		count, _, err := db.Count()
		l.older = max(count-last, 0)
		return err
	})
}

func listOneline(o *app.Output, list []*timeline.Row) {
	for _, r := range list {
		if r.Checkpoint == nil {
			continue
		}
		id := r.Checkpoint.ID.String()
		text := screen.Clip(rows.CheckpointText(*r.Checkpoint), limit(o.Width()-len(id)-1))
		if text == "" {
			o.Line("%s", o.Color.Paint(screen.Yellow, id))
			continue
		}
		o.Line("%s %s", o.Color.Paint(screen.Yellow, id), text)
	}
}

// limit keeps 0, no limit, apart from a width that became too small.
func limit(width int) int {
	if width <= 0 {
		return 1 << 30
	}
	return width
}

// print prints the rows as a table.
func (l *listing) print(ctx context.Context) error {
	o := l.c.Out
	t := screen.Table{
		Width: o.Width(),
		Columns: []screen.Column{{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "AGE", Right: true}, {Title: "WHY", Style: screen.Cyan},
			{Title: "SESSION"}, {Title: "TEXT", Flex: true}, {Title: "MADE OR SAVED"}},
	}
	whose := rows.SessionLabels(l.rows)
	others, err := l.others(ctx, whose)
	if err != nil {
		return err
	}
	if err := timeline.CountRows(ctx, l.p, l.rows, l.present, 0); err != nil {
		return err
	}
	git := timeline.NewGit(l.p, l.present, nil)
	for _, r := range l.rows {
		n, known, err := r.Count(ctx, l.p, l.present)
		if project.IsDamage(err) {
			n, known = timeline.Counts{}, false // verify tells of that
		} else if err != nil {
			return err
		}
		lines, err := l.gitCells(git, r)
		if err != nil {
			return err
		}
		t.Rows = append(t.Rows, lines...)
		age := app.FormatAge(o.Now().Sub(r.Time))
		cells := []string{rows.RowNumber(r), rows.RowID(r), age, screen.Clip(rows.RowWhy(r), rows.MaxWhy), whose[rows.SessionOf(r)], rows.RowText(r, n), rows.JoinNonEmpty(strings.TrimSpace(rows.RowChanges(r, n, known)+others(r)), strings.TrimSpace(rows.ThenChanges(r)+others(r.Then)))}
		if r.Kind == timeline.Now {
			if cells[1], cells[2] = "now", ""; t.Width > 0 && t.Width < rows.Narrow {
				cells[2] = "now"
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	if l.unseen != "" && !l.filtered {
		t.Rows = append([][]string{{"@", "now", "", "", "", "not compared: " + app.Escape(l.unseen), ""}}, t.Rows...)
	}
	if t.Width > 0 && t.Width < rows.Narrow {
		for i := range t.Rows {
			t.Rows[i][1] = ""
		}
	}
	l.release() // the person may read for as long as they like
	return l.c.Page(ctx, func() {
		o.Table(t)
		l.printRest()
	})
}

// gitCells are the lines of what git did after a row's state and before the next.
func (l *listing) gitCells(git *timeline.Git, r *timeline.Row) (lines [][]string, err error) {
	if l.ofPaths || l.gitRows >= maxDiffs {
		return nil, nil
	}
	events, err := git.Of(r)
	if len(events) > 0 {
		l.gitRows++
	}
	if found := l.filter.GitSaying(events); len(found) > 0 {
		events = found
	}
	for _, line := range rows.GitLines(events) {
		age := ""
		if !line.Time.IsZero() {
			age = app.FormatAge(l.c.Out.Now().Sub(line.Time))
		}
		lines = append(lines, []string{"", "", age, "git", "", line.Text, ""})
	}
	return lines, err
}

// printRest says what is not shown.
func (l *listing) printRest() {
	if l.present != nil && !l.filtered {
		if text := rows.InsteadText(l.present.Instead); text != "" {
			l.c.Out.Summary("Files were replaced by what %s.", text)
		}
	}
	var parts []string
	if l.folded > 0 {
		parts = append(parts, app.Plural(l.folded, "row without changes", "rows without changes"))
	}
	if l.older > 0 {
		parts = append(parts, app.Plural(l.older, "older checkpoint", "older checkpoints"))
	}
	if len(parts) > 0 {
		l.c.Out.Summary("%s", l.c.Out.Color.Paint(screen.Dim, "Not shown: "+strings.Join(parts, ", ")+". All: "+l.c.Out.Typed("rewind list --all")))
	}
}
