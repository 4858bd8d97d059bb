package cli

import (
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/revert"
)

// revertedView answers revert: restoredView and more.
type revertedView struct {
	restoredView
	Reverted  []turnView     `json:"reverted"`
	Merged    []mergedView   `json:"merged"`
	Kept      []keptView     `json:"kept"`
	Conflicts []conflictView `json:"conflicts"`
	Shared    []sharedView   `json:"shared"`
	Shell     []shellView    `json:"shell"`
	Near      []nearView     `json:"next_to"`
	Moved     []movedView    `json:"moved"` // renames that go back, with later edits
	// NotCovered are ignored files that the work wrote: they are in no state, and stay.
	NotCovered []pathView `json:"not_covered"`
	Forgotten  []pathView `json:"forgotten"` // files whose history was forgotten: they stay
	Elsewhere  []pathView `json:"elsewhere"` // absolute: what the work wrote outside the project, and stays
}

type turnView struct {
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	PromptID  string `json:"prompt_id"`
	Prompt    string `json:"prompt"`
	Paths     int    `json:"paths"`
}

type mergedView struct {
	pathView
	Removed  int `json:"removed"`
	Restored int `json:"restored"`
}

// workView is who did something; without a session it is the person.
type workView struct {
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	Subagent  string `json:"subagent"`
	PromptID  string `json:"prompt_id"`
	Prompt    string `json:"prompt"`
	Tool      string `json:"tool"`
	Call      string `json:"call"`
	Time      string `json:"time"`
}

type keptView struct {
	pathView
	From   int        `json:"from"`
	To     int        `json:"to"`
	Reason string     `json:"reason"`
	By     []workView `json:"by"`
}

type conflictView struct {
	keptView
	Choice string `json:"choice"`
}

type sharedView struct {
	pathView
	Also     []workView `json:"also"`
	Outside  bool       `json:"outside"`
	Reverted bool       `json:"reverted"`
}

type shellView struct {
	workView
	Command string     `json:"command"`
	Paths   []pathView `json:"paths"`
}

type movedView struct {
	pathView
	Back pathView `json:"back_to"`
}

type nearView struct {
	pathView
	From int        `json:"from"`
	To   int        `json:"to"`
	By   []workView `json:"by"`
}

func viewReverted(r *revert.Reverted) revertedView {
	v := revertedView{restoredView: viewRestored(r.Restored), Reverted: []turnView{}, Merged: []mergedView{}, Kept: []keptView{},
		Shared: []sharedView{}, Shell: []shellView{}, Near: []nearView{}, Moved: []movedView{}, Conflicts: viewConflicts(r.Conflicts), NotCovered: viewPaths(r.NotCovered), Forgotten: viewPaths(r.Forgotten), Elsewhere: viewPaths(r.Elsewhere)}
	for _, t := range r.Turns {
		v.Reverted = append(v.Reverted, turnView{t.Agent, t.Session, t.PromptID, t.Prompt, t.Paths})
	}
	for _, m := range r.Merged {
		v.Merged = append(v.Merged, mergedView{viewPath(m.Path), m.Removed, m.Restored})
	}
	for _, k := range r.Kept {
		v.Kept = append(v.Kept, keptView{viewPath(k.Path), k.From, k.To, k.Reason, viewWorks(k.By)})
	}
	for _, s := range r.Shared {
		v.Shared = append(v.Shared, sharedView{viewPath(s.Path), viewWorks(s.Also), s.Outside, s.Goes})
	}
	for _, s := range r.Shell {
		v.Shell = append(v.Shell, shellView{viewWork(s.Work), s.Summary, viewPaths(s.Paths)})
	}
	for _, to := range slices.Sorted(maps.Keys(r.Moved)) {
		v.Moved = append(v.Moved, movedView{viewPath(to), viewPath(r.Moved[to])})
	}
	for _, n := range r.Near {
		v.Near = append(v.Near, nearView{viewPath(n.Path), n.From, n.To, viewWorks(n.By)})
	}
	return v
}

func viewConflicts(list []revert.RevertConflict) []conflictView {
	out := []conflictView{}
	for _, c := range list {
		out = append(out, conflictView{keptView{viewPath(c.Path), c.From, c.To, c.Reason, viewWorks(c.By)}, string(c.Choice)})
	}
	return out
}

func viewWorks(list []attribution.Work) []workView {
	out := []workView{}
	for _, w := range list {
		out = append(out, viewWork(w))
	}
	return out
}

func viewWork(w attribution.Work) workView {
	return workView{w.Agent, w.Session, w.Subagent, w.PromptID, w.Prompt, w.Tool, w.Call, viewTime(w.Start)}
}
