package report

import (
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/revert"
)

// RevertedView answers revert: RestoredView and more.
type RevertedView struct {
	RestoredView
	Reverted  []turnView         `json:"reverted"`
	Merged    []mergedView       `json:"merged"`
	Kept      []app.KeptView     `json:"kept"`
	Conflicts []app.ConflictView `json:"conflicts"`
	Shared    []sharedView       `json:"shared"`
	Shell     []shellView        `json:"shell"`
	Near      []nearView         `json:"next_to"`
	Moved     []movedView        `json:"moved"` // renames that go back, with later edits
	// NotCovered are ignored files that the work wrote: they are in no state, and stay.
	NotCovered []app.PathView `json:"not_covered"`
	Forgotten  []app.PathView `json:"forgotten"` // files whose history was forgotten: they stay
	Elsewhere  []app.PathView `json:"elsewhere"` // absolute: what the work wrote outside the project, and stays
}

type turnView struct {
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	PromptID  string `json:"prompt_id"`
	Prompt    string `json:"prompt"`
	Paths     int    `json:"paths"`
}

type mergedView struct {
	app.PathView
	Removed  int `json:"removed"`
	Restored int `json:"restored"`
}

type sharedView struct {
	app.PathView
	Also     []app.WorkView `json:"also"`
	Outside  bool           `json:"outside"`
	Reverted bool           `json:"reverted"`
}

type shellView struct {
	app.WorkView
	Command string         `json:"command"`
	Paths   []app.PathView `json:"paths"`
}

type movedView struct {
	app.PathView
	Back app.PathView `json:"back_to"`
}

type nearView struct {
	app.PathView
	From int            `json:"from"`
	To   int            `json:"to"`
	By   []app.WorkView `json:"by"`
}

func viewReverted(r *revert.Reverted) RevertedView {
	v := RevertedView{RestoredView: ViewRestored(r.Restored), Reverted: []turnView{}, Merged: []mergedView{}, Kept: []app.KeptView{},
		Shared: []sharedView{}, Shell: []shellView{}, Near: []nearView{}, Moved: []movedView{}, Conflicts: viewConflicts(r.Conflicts), NotCovered: app.ViewPaths(r.NotCovered), Forgotten: app.ViewPaths(r.Forgotten), Elsewhere: app.ViewPaths(r.Elsewhere)}
	for _, t := range r.Turns {
		v.Reverted = append(v.Reverted, turnView{t.Agent, t.Session, t.PromptID, t.Prompt, t.Paths})
	}
	for _, m := range r.Merged {
		v.Merged = append(v.Merged, mergedView{app.ViewPath(m.Path), m.Removed, m.Restored})
	}
	for _, k := range r.Kept {
		v.Kept = append(v.Kept, app.KeptView{PathView: app.ViewPath(k.Path), From: k.From, To: k.To, Reason: k.Reason, By: viewWorks(k.By)})
	}
	for _, s := range r.Shared {
		v.Shared = append(v.Shared, sharedView{app.ViewPath(s.Path), viewWorks(s.Also), s.Outside, s.Goes})
	}
	for _, s := range r.Shell {
		v.Shell = append(v.Shell, shellView{viewWork(s.Work), s.Summary, app.ViewPaths(s.Paths)})
	}
	for _, to := range slices.Sorted(maps.Keys(r.Moved)) {
		v.Moved = append(v.Moved, movedView{app.ViewPath(to), app.ViewPath(r.Moved[to])})
	}
	for _, n := range r.Near {
		v.Near = append(v.Near, nearView{app.ViewPath(n.Path), n.From, n.To, viewWorks(n.By)})
	}
	return v
}

func viewConflicts(list []revert.RevertConflict) []app.ConflictView {
	out := []app.ConflictView{}
	for _, c := range list {
		out = append(out, app.ConflictView{KeptView: app.KeptView{PathView: app.ViewPath(c.Path), From: c.From, To: c.To, Reason: c.Reason, By: viewWorks(c.By)}, Choice: string(c.Choice)})
	}
	return out
}

func viewWorks(list []attribution.Work) []app.WorkView {
	out := []app.WorkView{}
	for _, w := range list {
		out = append(out, viewWork(w))
	}
	return out
}

func viewWork(w attribution.Work) app.WorkView {
	return app.WorkView{Agent: w.Agent, SessionID: w.Session, Subagent: w.Subagent, PromptID: w.PromptID, Prompt: w.Prompt, Tool: w.Tool, Call: w.Call, Time: app.ViewTime(w.Start)}
}
