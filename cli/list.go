package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
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

func newList() *command {
	var o listFlags
	return &command{
		name:  "list",
		usage: "[--all] [--path P] [--grep TEXT] [--since T] [--until T] [--agent A] [--session S] [--limit N] [--oneline] [--ops] [--attempts [prompt]]",
		short: "show the checkpoints, newest first",
		long: "Shows the newest 20 checkpoints: number, id, age, why it was taken, the prompt or the\n" +
			"tool's command or file, and +added ~changed -deleted files. @ is the project as it is\n" +
			"now, * marks pinned checkpoints, and !N says that N paths could not be captured.\n" +
			"\n" +
			"Under MADE OR SAVED each change is in one row: what a prompt's whole turn, a tool call or\n" +
			"a restore made, or what a save found changed since the checkpoint before it. After the\n" +
			"word then are changes that came later and that no other row has: mostly yours. Safety\n" +
			"checkpoints of restores are rows where no other row has the changes. Rows without changes\n" +
			"are left out.\n" +
			"\n" +
			"(3f2a 1, shared 1) counts files that are not the row's own: one of session 3f2a, and one\n" +
			"that several could have changed. rewind show names them.\n" +
			"\n" +
			"--grep looks at prompts, descriptions, names, tools and their arguments. It ignores case\n" +
			"unless TEXT has a capital letter. A time is an age (2h, 3d), a date, a time of day, or a\n" +
			"date and a time. --json and --oneline have every checkpoint.\n" +
			"\n" +
			"--ops lists the operations instead (restores, undos, gc, …), with the numbers that\n" +
			"rewind undo --to takes. --attempts lists the attempts at one prompt: the newest that was\n" +
			"tried more than once, or the prompt that is given.",
		examples: []example{
			{"rewind list", "the newest 20"},
			{"rewind list --limit 0", "all of them"},
			{"rewind list --all", "include rows without changes, and all safety checkpoints"},
			{"rewind list --path src/main.go", "what changed this file"},
			{"rewind list --grep 'rm -rf' --since 2h", "who deleted it"},
			{"rewind list --ops", "what was restored and undone, and when"},
			{"rewind list --attempts prompt~3", "what came of a prompt each time it was tried"},
			{"rewind list --json | jq -r '.checkpoints[].id'", "for scripts"},
		},
		exits: []int{exitNotFound, exitBusy, exitDamaged},
		stray: strayListed,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.all, "all", false, "no limit, rows without changes, and all safety checkpoints that restores took")
			f.StringArrayVar(&o.paths, "path", nil, "only what changed path or glob `P`; may be repeated")
			f.StringVar(&o.grep, "grep", "", "only what has `TEXT` in its prompt, description, name or tool call")
			f.StringVar(&o.since, "since", "", "only from time `T` on")
			f.StringVar(&o.until, "until", "", "only up to time `T`")
			f.StringVar(&o.agent, "agent", "", "only of agent `A`, by the beginning of its name")
			f.IntVarP(&o.limit, "limit", "n", 20, "show at most `N`, 0 for all")
			f.BoolVar(&o.oneline, "oneline", false, "id and text only")
			f.Bool("ops", false, "the operations instead of the checkpoints")
			f.Bool("attempts", false, "the attempts at a prompt instead of the checkpoints")
		},
		run: func(ctx context.Context, c *call) error { return runList(ctx, c, o) },
	}
}

// strayListed says how what was meant is typed: a number of rows, as in git log -8, a checkpoint, or a file.
func strayListed(arg string) string {
	word := shellQuote(arg)
	if _, err := strconv.ParseUint(arg, 10, 31); err == nil {
		return "rewind list -n " + word + " lists that many, rewind show " + word + " shows the checkpoint with that number"
	}
	return "rewind list --path " + word + " lists what changed a file, rewind show " + word + " shows one checkpoint"
}

func runList(ctx context.Context, c *call, o listFlags) error {
	var err error
	if o.limit, err = o.most(c); err != nil {
		return err
	}
	filter, err := o.filter(c)
	if err != nil {
		return err
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	if c.flags.Changed("session") || c.session != "" {
		s, err := conversation.SessionNamed(ctx, p, c.session)
		if err != nil {
			return err
		}
		filter.Sessions = map[string]bool{s.ID: true}
	}
	if len(o.paths) > 0 {
		if filter.Paths, err = c.patterns(ctx, p, o.paths, false); err != nil {
			return err
		}
	}
	all := c.json || o.oneline // they promise every checkpoint
	options := timeline.Options{Folded: all || o.all, Safety: o.all, Only: all, Filter: filter}
	l := &listing{c: c, p: p, filtered: o.filtered(c)}
	if !o.oneline {
		l.present, l.unseen = look(ctx, p)
		if err := ctx.Err(); err != nil {
			return err
		}
		options.Present = l.present
	}
	if err := l.read(ctx, timeline.New(p, options), o.limit, o.all); err != nil {
		return err
	}
	c.out.endProgress()
	if l.checkpoints == 0 && !l.filtered {
		if pack := p.Store.BrokenLog(); pack != "" {
			return &account.DamagedStoreError{What: pack, Err: errors.New("nothing in it can be read")}
		}
	}
	switch {
	case c.json:
		return l.document(ctx)
	case l.checkpoints == 0 && !l.filtered:
		c.out.hint("no checkpoints yet; take one with rewind save")
		return nil
	case !slices.ContainsFunc(l.rows, func(r *timeline.Row) bool { return r.Checkpoint != nil || r.Kind == timeline.Operation && !o.oneline }):
		c.out.hint("no checkpoint matches; rewind list shows all")
		if len(l.rows) == 0 {
			return nil
		}
	}
	if o.oneline {
		return c.out.paged(ctx, c.env, func() error {
			listOneline(c.out, l.rows)
			return nil
		})
	}
	return l.print(ctx)
}

// most is how many rows are shown at most; 0: all.
func (o *listFlags) most(c *call) (int, error) {
	switch {
	case o.limit < 0:
		return 0, usagef("--limit must be 0 or more, not %d", o.limit)
	case o.all && !c.flags.Changed("limit"):
		return 0, nil
	}
	return o.limit, nil
}

// filter checks what can be checked without the store.
func (o *listFlags) filter(c *call) (f timeline.Filter, err error) {
	for _, name := range []string{"path", "grep", "since", "until", "agent", "session"} {
		if flag := c.flags.Lookup(name); flag != nil && flag.Changed && (flag.Value.String() == "" || flag.Value.String() == "[]") {
			if name == "session" { // mostly a script's unset variable
				return f, &usageError{msg: "the session is an empty string", hint: "rewind sessions"}
			}
			return f, usagef("--%s is an empty string", name)
		}
	}
	now := c.env.Time()
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
			return f, usagef("--%s: %s", t.name, err)
		}
	}
	if !f.Until.IsZero() && f.Until.Before(f.Since) {
		return f, usagef("--until %s is before --since %s", o.until, o.since)
	}
	if f.Text = o.grep; o.agent != "" {
		f.Agents = func(agent string) bool {
			return len(agent) >= len(o.agent) && strings.EqualFold(agent[:len(o.agent)], o.agent)
		}
	}
	return f, nil
}

func (o *listFlags) filtered(c *call) bool {
	return len(o.paths) > 0 || o.grep != "" || o.since != "" || o.until != "" || o.agent != "" || c.session != ""
}

// lookTime bounds the look at the tree: a list is there at once or it is no use.
const lookTime = 500 * time.Millisecond

// look is timeline.Look for a list; why says what kept it from looking.
func look(ctx context.Context, p *project.Project) (n *timeline.Present, why string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	n, err := timeline.Look(ctx, p)
	var busy *account.BusyError
	switch {
	case err == nil:
		return n, ""
	case errors.As(err, &busy) && busy.Lock == account.TreeLockName:
		return nil, "a restore is running"
	case ctx.Err() != nil:
		return nil, fmt.Sprintf("looking at all files takes more than %s; rewind diff does it", formatTook(lookTime))
	}
	return nil, explain(err).message
}

// listing is what list prints, in one of its forms.
type listing struct {
	c           *call
	p           *project.Project
	present     *timeline.Present // nil: nobody looked
	unseen      string            // why
	filtered    bool
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

func listOneline(o *output, rows []*timeline.Row) {
	for _, r := range rows {
		if r.Checkpoint == nil {
			continue
		}
		id := r.Checkpoint.ID.String()
		text := screen.Clip(checkpointText(*r.Checkpoint), limit(o.width()-len(id)-1))
		if text == "" {
			o.line("%s", o.color.Paint(screen.Yellow, id))
			continue
		}
		o.line("%s %s", o.color.Paint(screen.Yellow, id), text)
	}
}

// limit keeps 0, no limit, apart from a width that became too small.
func limit(width int) int {
	if width <= 0 {
		return 1 << 30
	}
	return width
}

// shortID is how many letters of an id are shown: 32 bits, and any unambiguous prefix will do.
const shortID = 8

// reason is why a checkpoint was taken: the tool, else the kind.
func reason(l project.Listed) string {
	if l.Tool != "" {
		return escape(l.Tool)
	}
	return escape(string(l.Kind))
}

// checkpointText is name, description, what a tool was called with, and first line of the prompt,
// as far as there are any.
func checkpointText(l project.Listed) string {
	text := firstLine(l.Description)
	if text == "" && (l.Kind == manifest.PreTool || l.Kind == manifest.PostTool) {
		text = firstLine(l.ToolSummary)
	}
	if text == "" {
		text = firstLine(l.Prompt)
		if text != "" && (l.Kind == manifest.Stop || l.Kind == manifest.SessionEnd) {
			text = "end of: " + text // it has the state after that prompt's turn
		}
	}
	switch {
	case l.Name == "":
		return text
	case text == "":
		return "[" + escape(l.Name) + "]"
	}
	return "[" + escape(l.Name) + "] " + text
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
