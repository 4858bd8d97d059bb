package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/hookio"
)

func NewStatus() *app.Command {
	return &app.Command{
		Name:  "status",
		Usage: "[--check] [-v]",
		Short: "show whether rewind is on, what it captures, and its size",
		Long: "Shows the project, its store, the tier, the last checkpoint, what is not captured and\n" +
			"why, and anything that needs attention. With -v, also shows what uses the space.\n" +
			"--check looks for every state in which nothing would be captured, with a fix for each\n" +
			"problem, and ends with 1 if there is one.",
		Examples: []app.Example{
			{Line: "rewind status", Does: "at a glance"},
			{Line: "rewind status --check", Does: "is everything right? Runs the registered hooks, too"},
			{Line: "rewind status -v", Does: "with the space by kind, checkpoint and path"},
			{Line: "rewind status --json", Does: "for scripts; the schema is in docs/schema/status.schema.json"},
		},
		Exits: []int{app.ExitBusy, app.ExitDamaged},
		Flags: func(f *pflag.FlagSet) {
			f.Bool("check", false, "check settings, hooks and store")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			p, err := c.Open(ctx)
			if err != nil {
				if e := project.LastHookError(c.Env, nil); e != nil {
					c.Out.Warn("the last hook failed: %s", hookErrorText(e))
				}
				return err
			}
			st, err := inspect.StatusOf(ctx, p)
			if err != nil {
				return err
			}
			agents := ViewAgents(c.Env, p.Root())
			if c.JSON {
				v := ViewStatus(st, p.Settings())
				v.Agents, v.AgentStates = append(v.Agents, Calling(agents)...), agents
				if c.Verbose {
					stats, err := maintain.StatsOf(ctx, p)
					if err != nil {
						return err
					}
					space := viewStats(stats)
					v.Stats = &space
				}
				return c.Out.Document(v)
			}
			printStatus(c.Out, st, p.Settings(), agents)
			for _, f := range inOne(hookFindings(ctx, c.Env, p.Root(), false)) {
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

// StatusView is described by docs/schema/status.schema.json.
type StatusView struct {
	Initialised   bool                 `json:"initialised"`
	Root          string               `json:"root"`
	Store         string               `json:"store"`
	Mode          string               `json:"mode"`
	ReadOnly      bool                 `json:"read_only"`
	Tier          string               `json:"tier"`
	TierSource    string               `json:"tier_source"`
	Agents        []string             `json:"agents"`
	AgentStates   []agentView          `json:"agent_states"`
	Last          *rows.CheckpointView `json:"last"`
	Checkpoints   int                  `json:"checkpoints"`
	Bytes         int64                `json:"bytes"`
	MaxBytes      int64                `json:"max_bytes"`
	FreeBytes     int64                `json:"free_bytes"`
	MinFreeBytes  int64                `json:"min_free_bytes"`
	Mirrored      bool                 `json:"second_name"`
	MirrorReason  string               `json:"second_name_reason"`
	NotCovered    []rows.ProblemView   `json:"not_covered"`
	Coverage      []rows.ProblemView   `json:"coverage"` // the same, as show calls it
	Precious      int                  `json:"precious"`
	Crashed       *crashedView         `json:"crashed_restore"`
	ForgetPending *string              `json:"forget_pending"` // since when
	Orphans       []string             `json:"orphans"`
	LastHookError string               `json:"last_hook_error"`
	Outsiders     []outsiderView       `json:"sessions_captured_elsewhere"`
	Gone          int                  `json:"gone_stores"` // of deleted projects
	GoneBytes     int64                `json:"gone_bytes"`
	Stats         *StatsView           `json:"stats,omitempty"` // with -v
}

// outsiderView is a session that works in the project and is captured elsewhere.
type outsiderView struct {
	Agent     string  `json:"agent"`
	SessionID string  `json:"session_id"`
	Dir       string  `json:"directory"`
	Root      *string `json:"root"` // of the project that has its checkpoints, null for none
	Time      string  `json:"time"`
}

func viewOutsiders(all []hook.Outsider) []outsiderView {
	out := []outsiderView{}
	for _, o := range all {
		v := outsiderView{Agent: o.Agent, SessionID: o.Session, Dir: o.Dir, Time: app.ViewTime(o.Time)}
		if o.Root != "" {
			v.Root = &o.Root
		}
		out = append(out, v)
	}
	return out
}

type agentView struct {
	Agent string                  `json:"agent"`
	Title string                  `json:"title"`
	State registration.AgentState `json:"state"`
}

// ViewAgents lists every agent that could call rewind.
func ViewAgents(env account.Env, root string) []agentView {
	out := []agentView{}
	for _, a := range registration.AgentsOf(env, root) {
		out = append(out, agentView{string(a.Agent), a.Title, a.State()})
	}
	return out
}

// Calling are the names of those that call rewind.
func Calling(agents []agentView) (out []string) {
	for _, a := range agents {
		if a.State.Calls() {
			out = append(out, a.Agent)
		}
	}
	return out
}

// AgentsText is one line about all agents that are used here.
func AgentsText(agents []agentView) string {
	text := strings.Join(Calling(agents), ", ")
	if text == "" {
		text = "none registered: only rewind save takes checkpoints"
	}
	for _, s := range []struct {
		state registration.AgentState
		words string
	}{{registration.AgentIncomplete, "incomplete"}, {registration.AgentUnknowing, "not registered"}, {registration.AgentUnread, "unreadable settings"}} {
		var names []string
		for _, a := range agents {
			if a.State == s.state {
				names = append(names, a.Agent)
			}
		}
		if len(names) > 0 {
			text += "; " + s.words + ": " + strings.Join(names, ", ")
		}
	}
	return text
}

type crashedView struct {
	Time       string  `json:"time"`
	Checkpoint *string `json:"checkpoint"`
	Paths      int     `json:"paths"`
}

func ViewStatus(st *inspect.Status, set *settings.Settings) StatusView {
	v := StatusView{
		Initialised: true, Root: st.Root, Store: st.Store, Mode: string(st.Mode), ReadOnly: st.ReadOnly,
		Tier: set.Tier, TierSource: tierSource(set), Agents: []string{},
		Checkpoints: st.Checkpoints, Bytes: st.Bytes, MaxBytes: st.MaxSize,
		FreeBytes: st.FreeDisk, MinFreeBytes: st.MinFreeDisk,
		Mirrored: st.Mirrored, MirrorReason: st.MirrorReason,
		NotCovered: rows.ViewProblems(st.NotCovered), Coverage: rows.ViewProblems(st.NotCovered), Precious: st.Precious, Orphans: append([]string{}, st.Orphans...), LastHookError: hookErrorText(st.LastHookError),
		Outsiders: viewOutsiders(st.Outsiders), Gone: len(st.Gone), GoneBytes: stores.Bytes(st.Gone),
	}
	if st.Last != nil {
		last := rows.ViewCheckpoint(*st.Last)
		v.Last = &last
	}
	if st.Forgetting != nil {
		since := app.ViewTime(*st.Forgetting)
		v.ForgetPending = &since
	}
	if cr := st.Crashed; cr != nil {
		v.Crashed = &crashedView{app.ViewTime(cr.Time), rows.ViewID(cr.Checkpoint), cr.Paths}
	}
	return v
}

// hookErrorText is when and why the last hook failed, "" where it did not.
func hookErrorText(e *project.HookError) string {
	if e == nil {
		return ""
	}
	return e.Time.Local().Format("2006-01-02 15:04:05") + ": " + e.Reason
}

// tierSource is where the tier comes from: default, account, project, or the variable.
func tierSource(set *settings.Settings) string {
	v, _ := set.Value("tier")
	if v.Origin.Source == settings.FromEnvironment {
		return v.Origin.Name
	}
	return string(v.Origin.Source)
}

// notCoveredShown bounds what status names on a screen.
const notCoveredShown = 10

func printStatus(o *app.Output, st *inspect.Status, set *settings.Settings, agents []agentView) {
	field := func(name, format string, args ...any) {
		o.Line("%s %s", o.Color.Paint(screen.Dim, app.Pad(name+":", 13)), fmt.Sprintf(format, args...))
	}
	field("project", "%s", app.Escape(st.Root))
	field("store", "%s (%s)", app.Escape(st.Store), st.Mode)
	field("tier", "%s (%s)", app.Escape(set.Tier), app.Escape(tierSource(set)))
	field("agents", "%s", app.Escape(AgentsText(agents)))
	if slices.ContainsFunc(agents, func(a agentView) bool {
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
	} else if st.MirrorsNext {
		field("mirror", "incomplete: the next save or hook completes it")
	} else {
		field("mirror", "no: %s", app.Escape(st.MirrorReason))
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
	for _, f := range storeFindings(st) {
		if f.id == crashedFinding {
			continue // every command prints it already
		}
		o.Warn("%s", f.Message)
		if f.Cure != "" {
			o.Hint("%s", f.Cure)
		}
	}
}
