package rows

import (
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Owned says who changed each path.
type Owned map[string]attribution.Owner

// OwnedOf puts the steps of each path together: the newest's owner, and also those before it. A path that the first look
// found has no known owner.
func OwnedOf(steps map[string][]attribution.Step) Owned {
	o := make(Owned, len(steps))
	for path, list := range steps {
		if list[0].Found() {
			continue
		}
		o[path] = attribution.Together(list)
	}
	return o
}

// RowOwned says it of a row's own changes; nil where they are not known, and of an operation.
func RowOwned(a *attribution.Attribution, r *timeline.Row) (Owned, error) {
	steps, err := rowSteps(a, r)
	if steps == nil {
		return nil, err
	}
	return OwnedOf(steps), err
}

// RowCounted is RowOwned of the paths alone that Row.Count counts: a directory that comes with its files is none of them, nor
// is what came and went.
func RowCounted(a *attribution.Attribution, r *timeline.Row) (Owned, error) {
	steps, err := rowSteps(a, r)
	if steps == nil {
		return nil, err
	}
	return OwnedOf(Counted(steps)), err
}

// Counted removes from steps, which it returns, the paths whose change no list counts.
func Counted(steps map[string][]attribution.Step) map[string][]attribution.Step {
	maps.DeleteFunc(steps, func(_ string, list []attribution.Step) bool {
		from, to := list[0].From.Entry, list[len(list)-1].To.Entry
		var n timeline.Counts
		if from != nil || to != nil {
			n.Count(manifest.Change{Old: from, New: to})
		}
		return n.None()
	})
	return steps
}

func rowSteps(a *attribution.Attribution, r *timeline.Row) (map[string][]attribution.Step, error) {
	if r == nil || r.To == nil || r.Kind == timeline.Operation {
		return nil, nil
	}
	from, to := uint64(0), r.To.Seq
	if r.From != nil {
		from = r.From.Seq
	}
	if r.To.Now {
		to = attribution.ThenNow
	}
	if to == 0 { // what an operation found
		return nil, nil
	}
	return a.Between(from, to)
}

// ownerView says who changed a path.
type ownerView struct {
	Class     string          `json:"class,omitempty"` // declared, outside, shell, shared, operation; "" where it is not known
	SessionID string          `json:"session_id,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Subagent  string          `json:"subagent,omitempty"`
	PromptID  string          `json:"prompt_id,omitempty"`
	Prompt    string          `json:"prompt,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Summary   string          `json:"tool_summary,omitempty"`
	Operation *uint64         `json:"operation,omitempty"` // by its seq, where it was one
	Also      []OwnerWorkView `json:"also,omitempty"`      // who else could have, or wrote before
	OrYou     bool            `json:"also_outside,omitempty"`
}

// OwnerWorkView is one call of an agent's, its turn, or an operation.
type OwnerWorkView struct {
	SessionID string  `json:"session_id"`
	Agent     string  `json:"agent"`
	Subagent  string  `json:"subagent"`
	PromptID  string  `json:"prompt_id"`
	Prompt    string  `json:"prompt"`
	Tool      string  `json:"tool"`
	ToolUseID string  `json:"tool_use_id"`
	Summary   string  `json:"tool_summary"`
	Operation *uint64 `json:"operation"` // by its seq; null for a call
}

func ViewOwnerWork(w *attribution.Work) OwnerWorkView {
	v := OwnerWorkView{SessionID: w.Session, Agent: w.Agent, Subagent: w.Subagent, PromptID: w.PromptID, Prompt: w.Prompt, Tool: w.Tool, ToolUseID: w.Call, Summary: w.Summary}
	if w.Operation != 0 {
		v.Operation = &w.Operation
	}
	return v
}

// OwnedChangesView is ChangesView with who changed each path.
type OwnedChangesView struct{ byLetter[ownedDiffView] }

type ownedDiffView struct {
	diffView
	ownerView
}

func ViewOwned(changes []manifest.Change, whose Owned) OwnedChangesView {
	v := OwnedChangesView{newByLetter[ownedDiffView]()}
	for _, ch := range changes {
		d := ownedDiffView{diffView: diffView{PathView: app.ViewPath(ch.Path), Precious: ch.Precious()}}
		if o, ok := whose[ch.Path]; ok {
			d.ownerView = viewOwner(o)
		}
		v.add(Letter(ch), d)
	}
	return v
}

func viewOwner(o attribution.Owner) ownerView {
	v := ownerView{Class: string(o.Class), OrYou: o.AlsoOutside}
	if o.By != nil {
		w := ViewOwnerWork(o.By)
		v.SessionID, v.Agent, v.Subagent, v.PromptID, v.Prompt = w.SessionID, w.Agent, w.Subagent, w.PromptID, w.Prompt
		v.Tool, v.ToolUseID, v.Summary, v.Operation = w.Tool, w.ToolUseID, w.Summary, w.Operation
	}
	for _, w := range o.Also {
		v.Also = append(v.Also, ViewOwnerWork(w))
	}
	return v
}

// Text returns a function that names who changed a path, in few words: "" if only the person changed anything and agents is
// false. Sessions are named if there are several, with session, which is named elsewhere; "" for none.
func (owners Owned) Text(session string, agents bool) func(path string) string {
	sessions := map[string]bool{}
	if session != "" || agents {
		sessions[session] = true
	}
	anybody := agents
	for _, o := range owners {
		for _, w := range o.Works() {
			anybody = true
			if w.Session != "" {
				sessions[w.Session] = true
			}
		}
	}
	if !anybody {
		return func(string) string { return "" }
	}
	return func(path string) string {
		o, ok := owners[path]
		if !ok {
			return ""
		}
		return OwnerText(o, path, sessions)
	}
}

// Others reports whether some of it was surely done by another session than this one.
func (owners Owned) Others(session string) bool {
	for _, o := range owners {
		works := o.Works()
		if session != "" && len(works) > 0 && !slices.ContainsFunc(works, func(w *attribution.Work) bool { return w.Session == session || w.Session == "" }) {
			return true
		}
	}
	return false
}

// maxAlso is how many are named of those that could have changed a path.
const maxAlso = 3

func OwnerText(o attribution.Owner, path string, sessions map[string]bool) string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if o.By == nil {
		add("you")
	}
	for _, w := range o.Works() {
		add(workText(w, path, sessions))
	}
	if n := len(names); n > maxAlso {
		names = append(names[:maxAlso], app.Plural(n-maxAlso, "other", "others"))
	}
	if o.AlsoOutside {
		add("you")
	}
	if last := len(names) - 1; o.Each && last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, ", or ")
}

// workText names a call: its session where there are several, its tool and command, and what was asked.
func workText(w *attribution.Work, path string, sessions map[string]bool) string {
	if w.Operation != 0 {
		return "the " + app.Escape(w.Tool)
	}
	var parts []string
	if len(sessions) > 1 && w.Session != "" {
		parts = append(parts, app.Escape(shortest(w.Session, sessions)))
	}
	switch summary := app.FirstLine(w.Summary); {
	case w.Tool == "" && len(parts) == 0:
		parts = append(parts, "the agent")
	case w.Tool != "" && summary != "" && w.Summary != path:
		parts = append(parts, app.Escape(w.Tool)+" `"+screen.Clip(summary, maxQuoted)+"`")
	case w.Tool != "":
		parts = append(parts, app.Escape(w.Tool))
	}
	if prompt := app.FirstLine(w.Prompt); prompt != "" {
		parts = append(parts, Quoted(prompt))
	}
	return strings.Join(parts, " ")
}

// The names of OwnerCounts beside those of sessions.
const OwnerYou, OwnerShared = "you", "shared"

// OwnerCounts counts paths by the names of those who changed them, as a list of several sessions has them; among are
// the ids of all sessions.
func OwnerCounts(all Owned, whose map[AgentSession]string, session string) (counts map[string]uint64, among map[string]bool) {
	counts, among = map[string]uint64{}, map[string]bool{session: true}
	for _, o := range all {
		for _, w := range o.Works() {
			among[w.Session] = true
		}
	}
	for _, o := range all {
		name := OwnerYou
		for i, w := range o.Works() {
			switch of := WorkName(w, whose, among); {
			case o.Class == attribution.Operation:
			case o.By == nil, i > 0 && of != name:
				name = OwnerShared
			default:
				name = of
			}
		}
		counts[name]++
	}
	return counts, among
}

// WorkName is the name of a session in a list of several; among are the ids of these.
func WorkName(w *attribution.Work, whose map[AgentSession]string, among map[string]bool) string {
	if name := whose[AgentSession{w.Agent, w.Session}]; name != "" {
		return name
	}
	if w.Session == "" {
		return app.Escape(w.Agent)
	}
	return app.Escape(shortest(w.Session, among)) // of its agent there may be several
}
