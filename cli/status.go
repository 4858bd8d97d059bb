package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

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

func newStatus() *command {
	return &command{
		name:  "status",
		usage: "[--check] [-v]",
		short: "show whether rewind is on, what it captures, and its size",
		long: "Shows the project, its store, the tier, the last checkpoint, what is not captured and\n" +
			"why, and anything that needs attention. With -v, also shows what uses the space.\n" +
			"--check looks for every state in which nothing would be captured, with a fix for each\n" +
			"problem, and ends with 1 if there is one.",
		examples: []example{
			{"rewind status", "at a glance"},
			{"rewind status --check", "is everything right? Runs the registered hooks, too"},
			{"rewind status -v", "with the space by kind, checkpoint and path"},
			{"rewind status --json", "for scripts; the schema is in docs/schema/status.schema.json"},
		},
		exits: []int{exitBusy, exitDamaged},
		flags: func(f *pflag.FlagSet) {
			f.Bool("check", false, "check settings, hooks and store")
		},
		run: func(ctx context.Context, c *call) error {
			p, err := c.open(ctx)
			if err != nil {
				if e := project.LastHookError(c.env, nil); e != nil {
					c.out.warn("the last hook failed: %s", hookErrorText(e))
				}
				return err
			}
			st, err := inspect.StatusOf(ctx, p)
			if err != nil {
				return err
			}
			agents := viewAgents(c.env, p.Root())
			if c.json {
				v := viewStatus(st, p.Settings())
				v.Agents, v.AgentStates = append(v.Agents, calling(agents)...), agents
				if c.verbose {
					stats, err := maintain.StatsOf(ctx, p)
					if err != nil {
						return err
					}
					space := viewStats(stats)
					v.Stats = &space
				}
				return c.out.document(v)
			}
			printStatus(c.out, st, p.Settings(), agents)
			for _, f := range inOne(hookFindings(ctx, c.env, p.Root(), false)) {
				c.out.warn("%s", f.Message)
				if f.Cure != "" {
					c.out.hint("%s", f.Cure)
				}
			}
			if !c.verbose {
				return nil
			}
			stats, err := maintain.StatsOf(ctx, p)
			if err != nil {
				return err
			}
			c.out.line("")
			printStats(c.out, stats)
			return nil
		},
	}
}

// statusView is described by docs/schema/status.schema.json.
type statusView struct {
	Initialised   bool            `json:"initialised"`
	Root          string          `json:"root"`
	Store         string          `json:"store"`
	Mode          string          `json:"mode"`
	ReadOnly      bool            `json:"read_only"`
	Tier          string          `json:"tier"`
	TierSource    string          `json:"tier_source"`
	Agents        []string        `json:"agents"`
	AgentStates   []agentView     `json:"agent_states"`
	Last          *checkpointView `json:"last"`
	Checkpoints   int             `json:"checkpoints"`
	Bytes         int64           `json:"bytes"`
	MaxBytes      int64           `json:"max_bytes"`
	FreeBytes     int64           `json:"free_bytes"`
	MinFreeBytes  int64           `json:"min_free_bytes"`
	Mirrored      bool            `json:"second_name"`
	MirrorReason  string          `json:"second_name_reason"`
	NotCovered    []problemView   `json:"not_covered"`
	Coverage      []problemView   `json:"coverage"` // the same, as show calls it
	Precious      int             `json:"precious"`
	Crashed       *crashedView    `json:"crashed_restore"`
	ForgetPending *string         `json:"forget_pending"` // since when
	Orphans       []string        `json:"orphans"`
	LastHookError string          `json:"last_hook_error"`
	Outsiders     []outsiderView  `json:"sessions_captured_elsewhere"`
	Gone          int             `json:"gone_stores"` // of deleted projects
	GoneBytes     int64           `json:"gone_bytes"`
	Stats         *statsView      `json:"stats,omitempty"` // with -v
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
		v := outsiderView{Agent: o.Agent, SessionID: o.Session, Dir: o.Dir, Time: viewTime(o.Time)}
		if o.Root != "" {
			v.Root = &o.Root
		}
		out = append(out, v)
	}
	return out
}

type agentView struct {
	Agent string     `json:"agent"`
	Title string     `json:"title"`
	State agentState `json:"state"`
}

// viewAgents lists every agent that could call rewind.
func viewAgents(env account.Env, root string) []agentView {
	out := []agentView{}
	for _, a := range agentsOf(env, root) {
		out = append(out, agentView{string(a.Agent), a.title, a.state()})
	}
	return out
}

// calling are the names of those that call rewind.
func calling(agents []agentView) (out []string) {
	for _, a := range agents {
		if a.State.calls() {
			out = append(out, a.Agent)
		}
	}
	return out
}

// agentsText is one line about all agents that are used here.
func agentsText(agents []agentView) string {
	text := strings.Join(calling(agents), ", ")
	if text == "" {
		text = "none registered: only rewind save takes checkpoints"
	}
	for _, s := range []struct {
		state agentState
		words string
	}{{agentIncomplete, "incomplete"}, {agentUnknowing, "not registered"}, {agentUnread, "unreadable settings"}} {
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

func viewStatus(st *inspect.Status, set *settings.Settings) statusView {
	v := statusView{
		Initialised: true, Root: st.Root, Store: st.Store, Mode: string(st.Mode), ReadOnly: st.ReadOnly,
		Tier: set.Tier, TierSource: tierSource(set), Agents: []string{},
		Checkpoints: st.Checkpoints, Bytes: st.Bytes, MaxBytes: st.MaxSize,
		FreeBytes: st.FreeDisk, MinFreeBytes: st.MinFreeDisk,
		Mirrored: st.Mirrored, MirrorReason: st.MirrorReason,
		NotCovered: viewProblems(st.NotCovered), Coverage: viewProblems(st.NotCovered), Precious: st.Precious, Orphans: append([]string{}, st.Orphans...), LastHookError: hookErrorText(st.LastHookError),
		Outsiders: viewOutsiders(st.Outsiders), Gone: len(st.Gone), GoneBytes: stores.Bytes(st.Gone),
	}
	if st.Last != nil {
		last := viewCheckpoint(*st.Last)
		v.Last = &last
	}
	if st.Forgetting != nil {
		since := viewTime(*st.Forgetting)
		v.ForgetPending = &since
	}
	if cr := st.Crashed; cr != nil {
		v.Crashed = &crashedView{viewTime(cr.Time), viewID(cr.Checkpoint), cr.Paths}
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

func printStatus(o *output, st *inspect.Status, set *settings.Settings, agents []agentView) {
	field := func(name, format string, args ...any) {
		o.line("%s %s", o.color.Paint(screen.Dim, pad(name+":", 13)), fmt.Sprintf(format, args...))
	}
	field("project", "%s", escape(st.Root))
	field("store", "%s (%s)", escape(st.Store), st.Mode)
	field("tier", "%s (%s)", escape(set.Tier), escape(tierSource(set)))
	field("agents", "%s", escape(agentsText(agents)))
	if slices.ContainsFunc(agents, func(a agentView) bool { return a.Agent == string(hookio.Droid) && a.State == agentRegistered }) {
		field("droid", "no REWIND_ variables in its shell: its model is given their names; save and back find the session by its process")
	}
	if l := st.Last; l != nil {
		text := checkpointText(*l)
		if text != "" {
			text = ": " + text
		}
		field("last", "%s, %s, %s%s", l.ID, ago(o, l.Time), reason(*l), text)
	} else {
		field("last", "none yet")
	}
	size := formatSize(st.Bytes)
	if st.MaxSize > 0 {
		size += " of " + formatSize(st.MaxSize)
	}
	count := fmt.Sprint(st.Checkpoints)
	if st.Safety > 0 {
		count += " and " + plural(st.Safety, "safety checkpoint", "safety checkpoints")
	}
	field("checkpoints", "%s, %s", count, size)
	if st.Mirrored {
		field("mirror", "yes: the store survives git clean -fdx")
	} else if st.MirrorsNext {
		field("mirror", "incomplete: the next save or hook completes it")
	} else {
		field("mirror", "no: %s", escape(st.MirrorReason))
	}
	if len(st.Gone) > 0 {
		field("other stores", "%s: rewind stores rm --gone removes %s", goneText(st.Gone), itOrThem(len(st.Gone)))
	}
	if st.Precious > 0 {
		field("precious", "%s ignored by git but captured", plural(st.Precious, "file", "files"))
	}
	if n := len(st.NotCovered); n > 0 {
		field("not captured", "%s", plural(n, "path", "paths"))
		for _, p := range firstN(st.NotCovered, notCoveredShown) {
			o.line("    %s: %s", escape(p.Path), escape(p.Reason))
		}
		if n > notCoveredShown {
			o.line("    and %d more: rewind show last --coverage", n-notCoveredShown)
		}
	}
	for _, f := range storeFindings(st) {
		if f.id == crashedFinding {
			continue // every command has told of it already
		}
		o.warn("%s", f.Message)
		if f.Cure != "" {
			o.hint("%s", f.Cure)
		}
	}
}
