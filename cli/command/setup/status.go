package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/status"
	"github.com/rewind-cli/rewind/hookio"
)

func NewStatus() *app.Command {
	return &app.Command{
		Name:  "status",
		Usage: "[--check] [-v]",
		Short: "show whether rewind is on, what it captures, and its size",
		Long: "Shows the project, its store, the tier, the last checkpoint, what is not captured and\n" +
			"why, and anything that needs attention. With -v, also shows what uses the space.\n" +
			"--check looks for every state in which nothing that an agent does would be captured,\n" +
			"with a fix for each problem, and ends with 1 if there is one. If no agent is used on\n" +
			"this account, it is only a warning that none calls rewind.",
		Examples: []app.Example{
			{Line: "rewind status", Does: "at a glance"},
			{Line: "rewind status --check", Does: "is everything right? Runs the registered hooks, too"},
			{Line: "rewind status -v", Does: "with the space by kind, checkpoint and path"},
			{Line: "rewind status --json", Does: "for scripts; the schema is in docs/schema/status.schema.json"},
		},
		Answers: app.Answers{"status": report.StatusView{}},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		Flags: func(f *pflag.FlagSet) {
			f.Bool("check", false, "check settings, hooks and store")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.OpenToRead(ctx)
			if err != nil {
				if e := project.LastHookError(c.Env, nil); e != nil {
					c.Out.Warn("the last hook failed: %s", report.HookErrorText(e))
				}
				return err
			}
			st, err := status.Of(ctx, p)
			if err != nil {
				return err
			}
			agents := report.ViewAgents(c.Env, p.Root())
			if c.JSON {
				v := report.ViewStatus(st, p.Settings())
				v.Agents, v.AgentStates = append(v.Agents, report.Calling(agents)...), agents
				if c.Verbose {
					stats, err := maintain.StatsOf(ctx, p)
					if err != nil {
						return err
					}
					space := report.ViewStats(stats)
					v.Stats = &space
				}
				return c.Document(v)
			}
			c.HasRead()
			printStatus(c.Out, st, p.Settings(), agents)
			var hooks findings
			hooks.ofHooks(ctx, c.Env, p.Root(), false, st.Generic != nil)
			for _, f := range hooks.inOne() {
				c.Out.Warn("%s", f.Message)
				if f.Cure != "" {
					c.Out.Hint("%s", f.Cure)
				}
			}
			if !c.Verbose {
				return nil
			}
			stats, err := maintain.StatsOf(ctx, p)
			if err != nil {
				return err
			}
			c.Out.Line("")
			printStats(c.Out, stats)
			return nil
		},
	}
}

// notCoveredShown bounds what status names on a screen.
const notCoveredShown = 10

func printStatus(o *app.Output, st *status.Status, set *settings.Settings, agents []report.AgentView) {
	field := func(name, format string, args ...any) {
		o.Line("%s %s", o.Color.Paint(screen.Dim, app.Pad(name+":", 13)), fmt.Sprintf(format, args...))
	}
	field("project", "%s", app.Escape(st.Root))
	field("store", "%s (%s)", app.Escape(st.Store), st.Mode)
	field("tier", "%s (%s)", app.Escape(set.Tier), app.Escape(report.TierSource(set)))
	field("agents", "%s", app.Escape(report.AgentsText(o, agents, st.Generic)))
	if slices.ContainsFunc(agents, func(a report.AgentView) bool {
		return a.Agent == string(hookio.Droid) && a.State == registration.AgentRegistered
	}) {
		field("droid", "no REWIND_ variables in its shell: its model is given their names; save and back find the session by its process")
	}
	if l := st.Last; l != nil {
		text := rows.CheckpointText(*l)
		if text != "" {
			text = ": " + text
		}
		field("last", "%s, %s, %s%s", l.ID, app.Ago(o, l.Time), rows.Reason(*l), text)
	} else {
		field("last", "none yet")
	}
	size := app.FormatSize(st.Bytes)
	if st.MaxSize > 0 {
		size += " of " + app.FormatSize(st.MaxSize)
	}
	count := fmt.Sprint(st.Checkpoints)
	if st.Safety > 0 {
		count += " and " + app.Plural(st.Safety, "safety checkpoint", "safety checkpoints")
	}
	field("checkpoints", "%s, %s", count, size)
	if st.Mirrored {
		field("mirror", "yes: the store survives git clean -fdx")
	} else if st.MirrorsNext && st.Last == nil {
		field("mirror", "not yet: the first save or hook makes it")
	} else if st.MirrorsNext {
		field("mirror", "incomplete: the next save or hook completes it")
	} else {
		field("mirror", "no: %s", app.Escape(st.MirrorReason))
	}
	if w := st.Watcher; w != nil {
		field("watcher", "rewind watch (process %d) tells hooks what changed, %s, started %s", w.PID, app.Plural(w.Directories, "directory", "directories"), app.Ago(o, w.Since))
	}
	for _, r := range st.Remotes {
		field("remote", "%s: %s", r.Name, report.RemoteText(o, r))
	}
	for _, l := range st.Pulled {
		text := report.PulledText(o, l)
		if st.Ahead[l.Name] {
			text += "; it continues from where this store is: rewind restore " + l.Name + "/last"
		}
		field("pulled", "%s", text)
	}
	if len(st.Gone) > 0 {
		field("other stores", "%s: rewind stores rm --gone removes %s", rows.GoneText(st.Gone), app.ItOrThem(len(st.Gone)))
	}
	if st.Precious > 0 {
		field("precious", "%s ignored by git but captured", app.Plural(st.Precious, "file", "files"))
	}
	if n := len(st.NotCovered); n > 0 {
		field("not captured", "%s", app.Plural(n, "path", "paths"))
		for _, p := range app.FirstN(st.NotCovered, notCoveredShown) {
			o.Line("    %s: %s", app.Escape(p.Path), app.Escape(p.Reason))
		}
		if n > notCoveredShown {
			o.Line("    and %d more: rewind show last --coverage", n-notCoveredShown)
		}
	}
	var found findings
	found.ofStore(st)
	for _, f := range found {
		if f.id == crashedFinding {
			continue // every command prints it already
		}
		o.Warn("%s", f.Message)
		if f.Cure != "" {
			o.Hint("%s", f.Cure)
		}
	}
}
