package report

import (
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/status"
	"github.com/rewind-cli/rewind/engine/stores"
)

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
	AgentStates   []AgentView          `json:"agent_states"`
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
	Watcher       *watcherView         `json:"watcher"`
	LastHookError string               `json:"last_hook_error"`
	Outsiders     []outsiderView       `json:"sessions_captured_elsewhere"`
	Remotes       []RemoteView         `json:"remotes"`
	Pulled        []PulledView         `json:"pulled"`      // of other machines
	Gone          int                  `json:"gone_stores"` // of deleted projects
	GoneBytes     int64                `json:"gone_bytes"`
	Stats         *StatsView           `json:"stats,omitempty"` // with -v
}

// watcherView is a process that watches the project and tells hooks what changed.
type watcherView struct {
	PID         int    `json:"pid"`
	Directories int    `json:"directories"`
	Since       string `json:"since"`
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

// AgentView is an agent that could call rewind.
type AgentView struct {
	Agent string                  `json:"agent"`
	Title string                  `json:"title"`
	State registration.AgentState `json:"state"`
}

// ViewAgents lists every agent that could call rewind.
func ViewAgents(env account.Env, root string) []AgentView {
	out := []AgentView{}
	for _, a := range registration.AgentsOf(env, root) {
		out = append(out, AgentView{string(a.Agent), a.Title, a.State()})
	}
	return out
}

// Calling are the names of those that call rewind.
func Calling(agents []AgentView) (out []string) {
	for _, a := range agents {
		if a.State.Calls() {
			out = append(out, a.Agent)
		}
	}
	return out
}

// AgentsText is one line about all agents that are used here. generic is Status.Generic: a script that calls hook generic
// is registered nowhere.
func AgentsText(o *app.Output, agents []AgentView, generic *time.Time) string {
	text := strings.Join(Calling(agents), ", ")
	if text == "" && generic == nil {
		text = "none registered: only rewind save takes checkpoints"
	} else if text == "" {
		text = "none registered"
	}
	if generic != nil {
		text += "; a script calls rewind hook generic, last checkpoint " + app.Ago(o, *generic)
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

// ViewStatus is the status without the agents.
func ViewStatus(st *status.Status, set *settings.Settings) StatusView {
	v := StatusView{
		Initialised: true, Root: st.Root, Store: st.Store, Mode: string(st.Mode), ReadOnly: st.ReadOnly,
		Tier: set.Tier, TierSource: TierSource(set), Agents: []string{},
		Checkpoints: st.Checkpoints, Bytes: st.Bytes, MaxBytes: st.MaxSize,
		FreeBytes: st.FreeDisk, MinFreeBytes: st.MinFreeDisk,
		Mirrored: st.Mirrored, MirrorReason: st.MirrorReason,
		NotCovered: rows.ViewProblems(st.NotCovered), Coverage: rows.ViewProblems(st.NotCovered), Precious: st.Precious, Orphans: append([]string{}, st.Orphans...), LastHookError: HookErrorText(st.LastHookError),
		Outsiders: viewOutsiders(st.Outsiders), Remotes: app.Map(st.Remotes, ViewRemote), Gone: len(st.Gone), GoneBytes: stores.Bytes(st.Gone),
	}
	v.Pulled = app.Map(st.Pulled, func(l project.PulledLog) PulledView { return ViewPulled(l, st.Ahead[l.Name]) })
	if st.Last != nil {
		last := rows.ViewCheckpoint(*st.Last)
		v.Last = &last
	}
	if w := st.Watcher; w != nil {
		v.Watcher = &watcherView{w.PID, w.Directories, app.ViewTime(w.Since)}
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

// HookErrorText is when and why the last hook failed, "" where it did not.
func HookErrorText(e *project.HookError) string {
	if e == nil {
		return ""
	}
	return e.Time.Local().Format("2006-01-02 15:04:05") + ": " + e.Reason
}

// TierSource is where the tier comes from: default, account, project, or the variable.
func TierSource(set *settings.Settings) string {
	v, _ := set.Value("tier")
	if v.Origin.Source == settings.FromEnvironment {
		return v.Origin.Name
	}
	return string(v.Origin.Source)
}

// StatsView is described by docs/schema/stats.schema.json.
type StatsView struct {
	Checkpoints   int64                 `json:"checkpoints"`
	Objects       int64                 `json:"objects"`
	Bytes         map[string]int64      `json:"bytes"`
	RawBytes      int64                 `json:"raw_bytes"`
	StoredBytes   int64                 `json:"stored_bytes"`
	PerCheckpoint []checkpointBytesView `json:"per_checkpoint"`
	Largest       []pathBytesView       `json:"largest"`
}

type checkpointBytesView struct {
	Checkpoint string `json:"checkpoint"`
	Unique     int64  `json:"unique_bytes"`
	Shared     int64  `json:"shared_bytes"`
}

type pathBytesView struct {
	app.PathView
	Bytes    int64 `json:"bytes"`
	Versions int   `json:"versions"`
}

// ViewStats is what status -v --json says of the space.
func ViewStats(st *maintain.Stats) StatsView {
	v := StatsView{
		Checkpoints: st.Checkpoints, Objects: st.Objects, Bytes: st.Bytes, RawBytes: st.RawBytes, StoredBytes: st.StoredBytes,
		PerCheckpoint: make([]checkpointBytesView, len(st.PerCheckpoint)), Largest: make([]pathBytesView, len(st.Largest)),
	}
	if v.Bytes == nil {
		v.Bytes = map[string]int64{}
	}
	for i, c := range st.PerCheckpoint {
		v.PerCheckpoint[i] = checkpointBytesView{c.Checkpoint.ID.String(), c.Unique, c.Shared}
	}
	for i, p := range st.Largest {
		v.Largest[i] = pathBytesView{app.ViewPath(p.Path), p.Bytes, p.Versions}
	}
	return v
}
