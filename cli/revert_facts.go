package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// revertFacts say beside the counts what a revert does to the work of others, a fact a line: for the terminal, and
// for the page. Of a dry run they say what it would do; open: nobody said yet
// what becomes of the conflicts.
func (c *call) revertFacts(r *revert.Reverted, open bool) (facts []string) {
	did := func(did, would string) string {
		if r.DryRun {
			return would
		}
		return did
	}
	fact := func(format string, args ...any) { facts = append(facts, fmt.Sprintf(format, args...)) }
	more := func(n int) {
		if n > maxNamed {
			fact("and %d more", n-maxNamed)
		}
	}
	var over []revert.RevertConflict // goes although others built on it
	overIn := map[string]bool{}
	for _, k := range r.Conflicts {
		if k.Choice == work.UndoBlock {
			over, overIn[k.Path] = append(over, k), true
		}
	}
	for _, m := range firstN(r.Merged, maxNamed) {
		stays := ", what others wrote there stays"
		if overIn[m.Path] {
			stays = ""
		}
		fact("%s %s: %s %s, %d %s%s.", did("Merged", "Would merge"), escapePath(m.Path), plural(m.Removed, "line", "lines"), did("removed", "to remove"),
			m.Restored, did("restored", "to restore"), stays)
	}
	more(len(r.Merged))
	for _, k := range firstN(over, maxNamed) {
		fact("%s: %s: %s%s", did("Also discarded", "Would also discard"), placeText(k.Path, k.From, k.To), k.Reason, c.byText(k.By))
	}
	more(len(over))
	for _, to := range slices.Sorted(maps.Keys(r.Moved)) {
		fact("%s: %s to %s, with what others wrote into it.", did("Moved back", "Would move back"), escapePath(to), escapePath(r.Moved[to]))
	}
	asIs := slices.Sorted(maps.Keys(r.MovedAsIs))
	for _, to := range firstN(asIs, maxNamed) {
		fact("%s: %s to %s.", did("Moved back", "Would move back"), escapePath(to), escapePath(r.MovedAsIs[to]))
	}
	more(len(asIs))
	kept := r.Kept
	if open { // where they are in the files as they are now
		for _, k := range firstN(r.Conflicts, maxNamed) {
			fact("Conflict: %s: %s%s", placeText(k.Path, k.From, k.To), k.Reason, c.byText(k.By))
		}
		more(len(r.Conflicts))
		kept = slices.DeleteFunc(slices.Clone(kept), func(k revert.KeptPart) bool {
			return slices.ContainsFunc(r.Conflicts, func(o revert.RevertConflict) bool { return o.Path == k.Path })
		})
	}
	for _, k := range firstN(kept, maxNamed) {
		verb := did("Kept", "Would keep")
		if k.Marked {
			verb = did("Marked", "Would mark")
		}
		fact("%s %s: %s%s", verb, placeText(k.Path, k.From, k.To), k.Reason, c.byText(k.By))
	}
	more(len(kept))
	for _, s := range firstN(r.Shell, maxNamed) {
		ran := "while the agent worked, and it did not say in which call"
		if said := strings.TrimSpace(s.Tool + " " + firstLine(s.Summary)); said != "" {
			ran = "while " + quoted(escape(said)) + " ran"
		}
		fact("%s what changed %s, even if you wrote it: %s", did("Took back", "Would take back"), ran, pathsText(s.Paths))
	}
	more(len(r.Shell))
	for _, n := range firstN(r.Near, maxNamed) {
		fact("%s the change next to %s (%s).", did("Kept", "Would keep"), placeText(n.Path, n.From, n.To), strings.TrimPrefix(cmp.Or(c.byText(n.By), "by others"), ", "))
	}
	more(len(r.Near))
	for _, s := range firstN(r.Shared, maxNamed) {
		who, verb, why := "others", did("Stays", "Would stay"), "since"
		switch by := strings.TrimPrefix(c.byText(s.Also), ", by "); {
		case by != "" && s.Outside:
			who = by + "; or you"
		case by != "":
			who = by
		case s.Outside:
			who = "you"
		}
		if s.Goes {
			verb, why = did("Also reverted", "Would also revert"), "although"
		}
		fact("%s: %s, %s it could have been changed by %s", verb, escapePath(s.Path), why, who)
	}
	more(len(r.Shared))
	if n := len(r.Forgotten); n > 0 {
		fact("%s, since the history of %s was forgotten: %s", did("Stays", "Would stay"), plural(n, "file", "files"), pathsText(r.Forgotten))
	}
	left := slices.DeleteFunc(slices.Clone(r.NotCovered), func(path string) bool { // what is skipped is told of anyway
		return slices.ContainsFunc(r.Skip, func(p problem.Problem) bool { return p.Path == path })
	})
	if n := len(left); n > 0 {
		fact("Not covered: %s that this work wrote: %s", plural(n, "ignored file", "ignored files"), pathsText(left))
	}
	if len(r.Elsewhere) > 0 {
		fact("%s, since it is outside this project: %s", did("Left alone", "Would be left alone"), pathsText(r.Elsewhere))
	}
	return facts
}
