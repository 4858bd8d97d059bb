package report

import (
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// RevertedView answers revert: RestoredView and more.
type RevertedView struct {
	RestoredView
	Reverted  []work.RevertedTurn `json:"reverted"`
	Merged    []mergedView        `json:"merged"`
	Kept      []app.KeptView      `json:"kept"`
	Conflicts []app.ConflictView  `json:"conflicts"`
	Shared    []sharedView        `json:"shared"`
	Shell     []shellView         `json:"shell"`
	Near      []nearView          `json:"next_to"`
	Moved     []movedView         `json:"moved"` // renames that go back, with later edits
	// NotCovered are ignored files that the work wrote: they are in no state, and stay.
	NotCovered []app.PathView `json:"not_covered"`
	Forgotten  []app.PathView `json:"forgotten"` // files whose history was forgotten: they stay
	Elsewhere  []app.PathView `json:"elsewhere"` // absolute: what the work wrote outside the project, and stays
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
	return RevertedView{
		RestoredView: viewRestored(r.Restored),
		Reverted:     append([]work.RevertedTurn{}, r.Turns...),
		Merged:       app.Map(r.Merged, func(m revert.MergedPath) mergedView { return mergedView{app.ViewPath(m.Path), m.Removed, m.Restored} }),
		Kept:         app.Map(r.Kept, func(k revert.KeptPart) app.KeptView { return viewKept(k.Path, k.From, k.To, k.Reason, k.By) }),
		Conflicts:    app.Map(r.Conflicts, viewConflict),
		Shared: app.Map(r.Shared, func(s revert.SharedPath) sharedView {
			return sharedView{app.ViewPath(s.Path), app.Map(s.Also, viewWork), s.Outside, s.Goes}
		}),
		Shell: app.Map(r.Shell, func(s revert.ShellWork) shellView {
			return shellView{viewWork(s.Work), s.Summary, app.ViewPaths(s.Paths)}
		}),
		Near: app.Map(r.Near, func(n revert.NearPart) nearView {
			return nearView{app.ViewPath(n.Path), n.From, n.To, app.Map(n.By, viewWork)}
		}),
		Moved: app.Map(slices.Sorted(maps.Keys(r.Moved)), func(to string) movedView {
			return movedView{app.ViewPath(to), app.ViewPath(r.Moved[to])}
		}),
		NotCovered: app.ViewPaths(r.NotCovered), Forgotten: app.ViewPaths(r.Forgotten), Elsewhere: app.ViewPaths(r.Elsewhere),
	}
}

func viewKept(path string, from, to int, reason string, by []attribution.Work) app.KeptView {
	return app.KeptView{PathView: app.ViewPath(path), From: from, To: to, Reason: reason, By: app.Map(by, viewWork)}
}

func viewConflict(c revert.RevertConflict) app.ConflictView {
	return app.ConflictView{KeptView: viewKept(c.Path, c.From, c.To, c.Reason, c.By), Choice: string(c.Choice)}
}

func viewWork(w attribution.Work) app.WorkView {
	return app.WorkView{Agent: w.Agent, SessionID: w.Session, Subagent: w.Subagent, PromptID: w.PromptID, Prompt: w.Prompt, Tool: w.Tool, Call: w.Call, Time: app.ViewTime(w.Start)}
}
