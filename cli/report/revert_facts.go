package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// RevertFacts say beside the counts what a revert does to the work of others, a fact a line: for the terminal, and
// for the page. Of a dry run they say what it would do; open: nobody said yet
// what becomes of the conflicts.
func RevertFacts(c *app.Call, r *revert.Reverted, open bool) (facts []string) {
	did := func(did, would string) string { return app.Did(r.DryRun, did, would) }
	fact := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	add := func(named []string) { facts = append(facts, named...) }
	var over []revert.RevertConflict // goes although others built on it
	overIn := map[string]bool{}
	for _, k := range r.Conflicts {
		if k.Choice == work.UndoBlock {
			over, overIn[k.Path] = append(over, k), true
		}
	}
	add(app.FirstNamed(r.Merged, app.MaxNamed, func(m revert.MergedPath) string {
		stays := ", what others wrote there stays"
		if overIn[m.Path] {
			stays = ""
		}
		return fmt.Sprintf("%s %s: %s %s, %d %s%s.", did("Merged", "Would merge"), app.EscapePath(m.Path), app.Plural(m.Removed, "line", "lines"),
			did("removed", "to remove"), m.Restored, did("restored", "to restore"), stays)
	}))
	conflict := func(what string) func(k revert.RevertConflict) string {
		return func(k revert.RevertConflict) string { return what + ": " + conflictText(c, k) }
	}
	add(app.FirstNamed(over, app.MaxNamed, conflict(did("Also discarded", "Would also discard"))))
	for _, to := range slices.Sorted(maps.Keys(r.Moved)) {
		fact("%s: %s to %s, with what others wrote into it.", did("Moved back", "Would move back"), app.EscapePath(to), app.EscapePath(r.Moved[to]))
	}
	add(app.FirstNamed(slices.Sorted(maps.Keys(r.MovedAsIs)), app.MaxNamed, func(to string) string {
		return fmt.Sprintf("%s: %s to %s.", did("Moved back", "Would move back"), app.EscapePath(to), app.EscapePath(r.MovedAsIs[to]))
	}))
	kept := r.Kept
	if open { // where they are in the files as they are now
		add(app.FirstNamed(r.Conflicts, app.MaxNamed, conflict("Conflict")))
		kept = slices.DeleteFunc(slices.Clone(kept), func(k revert.KeptPart) bool {
			return slices.ContainsFunc(r.Conflicts, func(o revert.RevertConflict) bool { return o.Path == k.Path })
		})
	}
	add(app.FirstNamed(kept, app.MaxNamed, func(k revert.KeptPart) string {
		verb := did("Kept", "Would keep")
		if k.Marked {
			verb = did("Marked", "Would mark")
		}
		return fmt.Sprintf("%s %s: %s%s", verb, PlaceText(k.Path, k.From, k.To), k.Reason, byText(c, k.By))
	}))
	add(app.FirstNamed(r.Shell, app.MaxNamed, func(s revert.ShellWork) string {
		ran := "while the agent worked, and it did not say in which call"
		if command := strings.TrimSpace(s.Tool + " " + app.FirstLine(s.Summary)); command != "" {
			ran = "while " + rows.Quoted(app.Escape(command)) + " ran"
		}
		return fmt.Sprintf("%s what changed %s, even if you wrote it: %s", did("Took back", "Would take back"), ran, pathsText(s.Paths))
	}))
	add(app.FirstNamed(r.Near, app.MaxNamed, func(n revert.NearPart) string {
		by := strings.TrimPrefix(cmp.Or(byText(c, n.By), "by others"), ", ")
		return fmt.Sprintf("%s the change next to %s (%s).", did("Kept", "Would keep"), PlaceText(n.Path, n.From, n.To), by)
	}))
	add(app.FirstNamed(r.Shared, app.MaxNamed, func(s revert.SharedPath) string {
		who, verb, why := "others", did("Stays", "Would stay"), "since"
		switch by := strings.TrimPrefix(byText(c, s.Also), ", by "); {
		case by != "" && s.Outside:
			who = by + "; or you"
		case by != "":
			who = by
		case s.Outside:
			who = "you"
		}
		if s.Last {
			return fmt.Sprintf("%s: %s, since you, or something outside this project's sessions, changed it last", verb, app.EscapePath(s.Path))
		}
		if s.Goes {
			verb, why = did("Also reverted", "Would also revert"), "although"
		}
		return fmt.Sprintf("%s: %s, %s it could have been changed by %s", verb, app.EscapePath(s.Path), why, who)
	}))
	if n := len(r.Forgotten); n > 0 {
		fact("%s, since the history of %s was forgotten: %s", did("Stays", "Would stay"), app.Plural(n, "file", "files"), pathsText(r.Forgotten))
	}
	left := slices.DeleteFunc(slices.Clone(r.NotCovered), func(path string) bool { // skipped paths are listed anyway
		return slices.ContainsFunc(r.Skip, func(p problem.Problem) bool { return p.Path == path })
	})
	if n := len(left); n > 0 {
		fact("Not covered: %s that this work wrote: %s", app.Plural(n, "ignored file", "ignored files"), pathsText(left))
	}
	if text := GoneText(r.Restored); text != "" {
		fact("%s", text)
	}
	for _, line := range nestedText(r.Restored) {
		fact("%s", line)
	}
	if len(r.Elsewhere) > 0 {
		fact("%s, since it is outside this project: %s", did("Left alone", "Would be left alone"), pathsText(r.Elsewhere))
	}
	return facts
}
