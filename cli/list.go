package cli

import (
	"context"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

func newList() *command {
	var (
		o       project.ListOptions
		oneline bool
	)
	return &command{
		name:  "list",
		usage: "[--all] [--session S] [--limit N] [--oneline]",
		short: "show the checkpoints, newest first",
		long: "Shows the newest 20 checkpoints: number, id, age, why it was taken, the prompt or\n" +
			"description, +added ~changed -deleted files, and the size of the conversation. Every\n" +
			"command that takes a checkpoint accepts its number, its name, its id or four or more\n" +
			"letters of the id. A * marks pinned checkpoints.",
		examples: []example{
			{"rewind list", "the newest 20"},
			{"rewind list --limit 0", "all of them"},
			{"rewind list --all", "include safety checkpoints"},
			{"rewind list --json | jq -r '.checkpoints[].id'", "for scripts"},
		},
		exits: []int{exitNotFound, exitBusy, exitDamaged},
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.All, "all", false, "no limit, and include the safety checkpoints that restores took")
			f.IntVar(&o.Limit, "limit", 20, "show at most `N`, 0 for all")
			f.BoolVar(&oneline, "oneline", false, "id and text only")
		},
		run: func(ctx context.Context, c *call) error {
			if o.Limit < 0 {
				return usagef("--limit must be 0 or more, not %d", o.Limit)
			}
			if o.All && !c.flags.Changed("limit") {
				o.Limit = 0
			}
			named := c.flags.Changed("session") || c.session != ""
			if named && c.session == "" { // mostly a script's unset variable
				return &usageError{msg: "the session is an empty string", hint: "rewind sessions"}
			}
			p, err := c.open(ctx)
			if err != nil {
				return err
			}
			if named {
				s, err := conversation.SessionNamed(ctx, p, c.session)
				if err != nil {
					return err
				}
				o.Session = s.ID
			}
			checkpoints, err := p.List(ctx, o)
			if err != nil {
				return err
			}
			if c.json {
				v := listView{make([]checkpointView, len(checkpoints))}
				for i, l := range checkpoints {
					v.Checkpoints[i] = viewCheckpoint(l)
				}
				return c.out.document(v)
			}
			if len(checkpoints) == 0 {
				c.out.hint("no checkpoints yet; take one with rewind save")
				return nil
			}
			return c.out.paged(ctx, c.env, func() error {
				if oneline {
					listOneline(c.out, checkpoints)
				} else {
					listTable(c.out, checkpoints)
				}
				return nil
			})
		},
	}
}

func listOneline(o *output, checkpoints []project.Listed) {
	for _, l := range checkpoints {
		id := l.ID.String()
		text := screen.Clip(checkpointText(l), limit(o.width()-len(id)-1))
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

func listTable(o *output, checkpoints []project.Listed) {
	t := screen.Table{
		Width: o.width(),
		Columns: []screen.Column{
			{Title: "#", Right: true},
			{Title: "ID", Style: screen.Yellow},
			{Title: "AGE", Right: true},
			{Title: "WHY", Style: screen.Cyan},
			{Title: "TEXT", Flex: true},
			{Title: "CHANGES"},
			{Title: "CHAT"},
		},
	}
	for _, l := range checkpoints {
		t.Rows = append(t.Rows, listRow(o, l))
	}
	t.Write(o.color, func(s string) { o.line("%s", s) })
}

// shortID is how many letters of an id are shown: 32 bits, and any unambiguous prefix will do.
const shortID = 8

func listRow(o *output, l project.Listed) []string {
	n := ""
	if l.N > 0 {
		n = strconv.Itoa(l.N)
	}
	if l.Pinned {
		n += "*"
	}
	changes := changeCounts(l.Added, l.Modified, l.Deleted)
	if l.Partial > 0 {
		changes += " !" + utoa(l.Partial)
	}
	chat := ""
	if l.Transcript != nil {
		chat = formatSize(int64(l.Transcript.Offset))
	}
	return []string{n, l.ID.String()[:shortID], formatAge(o.now().Sub(l.Time)), reason(l), checkpointText(l), changes, chat}
}

// reason is why a checkpoint was taken: the tool, else the kind.
func reason(l project.Listed) string {
	if l.Tool != "" {
		return escape(l.Tool)
	}
	return escape(string(l.Kind))
}

// checkpointText is name, description and first line of the prompt, as far as there are any.
func checkpointText(l project.Listed) string {
	text := firstLine(l.Description)
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
