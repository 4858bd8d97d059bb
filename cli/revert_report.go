package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// keptError says that a revert left something that was to go. The answer has been printed.
type keptError struct {
	kept, marked int
	chosen       bool          // by the person, each of them
	failed       *partialError // what could not be restored; nil: nothing
}

func (e *keptError) Error() string {
	var parts []string
	switch {
	case e.chosen && e.kept > 0:
		parts = append(parts, plural(e.kept, "place stays", "places stay")+" as chosen")
	case e.kept > 0:
		parts = append(parts, plural(e.kept, "place stayed as it was", "places stayed as they were"))
	}
	if e.chosen && e.marked > 0 {
		parts = append(parts, plural(e.marked, "place", "places")+" with markers, as chosen")
	} else if e.marked > 0 {
		parts = append(parts, plural(e.marked, "place", "places")+" with both versions between markers, since it was changed again")
	}
	if e.failed != nil {
		parts = append(parts, e.failed.Error())
	}
	return strings.Join(parts, "; ")
}

func (e *keptError) failure() failure {
	f := failure{code: exitPartial, note: e.chosen && e.failed == nil}
	if e.failed != nil {
		f = e.failed.failure()
	}
	f.message = e.Error()
	return f
}

// conflictsError says where others built on what was to go. Nothing was changed.
type conflictsError struct {
	*revert.ConflictError
	lines []string
	keep  string // the command with --conflicts keep
}

func (e *conflictsError) failure() failure {
	n := 0
	for _, k := range e.Reverted.Conflicts {
		if k.Choice == work.RefuseConflicts {
			n++
		}
	}
	return failure{code: exitRefused, message: plural(n, "conflict", "conflicts") + "; nothing was changed", warnings: e.lines,
		hint:      e.keep + " leaves them as they are; --conflicts keep-file leaves the whole file, undo takes back what came since, too, markers writes both versions",
		conflicts: viewConflicts(e.Reverted.Conflicts), document: true}
}

// reportReverted prints what was done; of what told says that the plan has told it already, no more than that. chosen:
// the person was asked what becomes of each conflict.
func (c *call) reportReverted(r *revert.Reverted, flags *revertFlags, told, chosen bool) error {
	c.out.endProgress()
	if c.json {
		if err := c.out.document(viewReverted(r)); err != nil {
			return err
		}
	} else if told {
		c.printDone(r, flags)
	} else {
		c.printReverted(r, flags, false)
	}
	if !c.json {
		c.warnGit(r.Restored, r.DryRun)
	}
	var failed *partialError
	if bad := problem.FailedOf(r.Skip); len(bad) > 0 {
		failed = &partialError{verb: "reverted", paths: bad}
	}
	if len(r.Kept) > 0 {
		e := &keptError{failed: failed, chosen: true}
		for _, k := range r.Kept {
			asked := chosen || flags.conflicts == string(work.KeepBlock) || flags.conflicts == string(work.KeepFile) || k.Marked && flags.conflicts == string(work.MarkConflict)
			e.chosen = e.chosen && asked
			if k.Marked {
				e.marked++
			} else {
				e.kept++
			}
		}
		return e
	}
	if failed != nil {
		return failed
	}
	return nil
}

// printReverted prints a plan, or what was done where no plan was shown. open: nobody said what becomes of the conflicts.
func (c *call) printReverted(r *revert.Reverted, flags *revertFlags, open bool) {
	o := c.out
	verb := "Reverted"
	if r.DryRun {
		verb = "Would revert"
	}
	switch {
	case !changed(r.Restored):
		o.summary("%s", nothingReverted(r, flags.work(c.session)))
	case onlySkipped(r.Restored):
		o.summary("Nothing was reverted.")
	case len(r.Turns) == 0:
		o.summary("%s.", verb)
	default:
		o.summary("%s %s.", verb, turnsText(r.Turns, flags.tool != ""))
	}
	if changed(r.Restored) {
		o.summary("%s", restoredLine(r.Restored))
	}
	c.tellRecovered(r.Restored)
	for _, fact := range c.revertFacts(r, open) {
		o.summary("%s", fact)
	}
	if slices.ContainsFunc(r.Shared, func(s revert.SharedPath) bool { return !s.Goes }) {
		o.hint("--include-shared takes those back, too")
	}
	if r.DryRun || o.verbose {
		most := maxNamed
		if flags.dryRun || o.verbose {
			most = 0
		}
		printRestoredPaths(o, r.Restored, most)
	} else {
		nameSkipped(o, r.Skip)
	}
	c.printBack(r)
}

// nothingReverted says why a revert of some work, "this turn", finds nothing to change.
func nothingReverted(r *revert.Reverted, work string) string {
	switch {
	case len(r.Kept) > 0:
		return "Nothing to revert but what was changed again since."
	case len(r.Shared) > 0:
		return "Nothing reverted: each change may be somebody else's."
	case len(r.Forgotten) > 0:
		return "Nothing to revert but files whose history was forgotten."
	case r.Wrote == 0 && len(r.NotCovered)+len(r.Elsewhere) == 0:
		return "Nothing to revert: " + work + " changed no file of the project."
	}
	return "Nothing to revert: nothing of it is left where it was written."
}

// onlySkipped reports whether nothing changed of what was to change.
func onlySkipped(r *restore.Restored) bool {
	return len(r.Skip) > 0 && len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode) == 0
}

// printDone is what is left to say after a plan that the person agreed to.
func (c *call) printDone(r *revert.Reverted, flags *revertFlags) {
	if len(r.Turns) == 0 {
		c.out.summary("Reverted.")
	} else {
		c.out.summary("Reverted %s.", turnsText(r.Turns, flags.tool != ""))
	}
	c.out.summary("%s", restoredLine(r.Restored))
	c.tellRecovered(r.Restored)
	nameSkipped(c.out, r.Skip)
	c.printBack(r)
}

// printBack says how a revert is taken back, and what of the work is left.
func (c *call) printBack(r *revert.Reverted) {
	o := c.out
	if !r.DryRun && r.Operation != 0 {
		o.summary("Undo with: %s", o.typed("rewind undo"))
		if r.Back > 0 && len(r.Turns) > 0 {
			o.hint("the conversation still contains it; rewind back %d --session %s takes it back there, too", r.Back, shellQuote(shortSession(r.Turns[0].Session)))
		}
	}
}

// turnsText names the turns that were reverted, or, of one, the call.
func turnsText(turns []work.RevertedTurn, call bool) string {
	var said []string
	for _, t := range turns {
		if t.Prompt != "" {
			said = append(said, quoted(firstLine(t.Prompt)))
		}
	}
	text := plural(len(turns), "turn", "turns")
	if call {
		text = "1 call"
	}
	if who := strings.TrimSpace(turns[0].Agent + " " + shortSession(turns[0].Session)); who != "" {
		text += " of " + escape(who)
	}
	if len(said) > 0 {
		text += ": " + strings.Join(firstN(said, 3), ", ")
		if len(said) > 3 {
			text += fmt.Sprintf(" and %d more", len(said)-3)
		}
	}
	return text
}

// shortSession is as much of a session's id as tells it from others, mostly.
func shortSession(id string) string {
	if len(id) > shortID {
		return id[:shortID]
	}
	return id
}

// placeText names lines of a file.
func placeText(path string, from, to int) string {
	text := escapePath(path)
	switch {
	case from == 0 && to == 0:
	case to < from:
		text += fmt.Sprintf(" before line %d", from)
	case from == to:
		text += fmt.Sprintf(" line %d", from)
	default:
		text += fmt.Sprintf(" lines %d-%d", from, to)
	}
	return text
}

// byText tells who, when and for which prompt, behind what they did.
func (c *call) byText(list []attribution.Work) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, w := range firstN(list, 3) {
		parts = append(parts, c.workText(w))
	}
	if n := len(list) - 3; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return ", by " + strings.Join(parts, "; ")
}

func (c *call) workText(w attribution.Work) string {
	who := escape(strings.TrimSpace(w.Agent + " " + shortSession(w.Session)))
	switch {
	case w.Operation != 0:
		who = "rewind " + escape(w.Tool)
	case who == "":
		who = "you, or something outside this project's sessions"
	case w.Subagent != "":
		who += " (subagent " + escape(shortSession(w.Subagent)) + ")"
	}
	if !w.Start.IsZero() {
		who += ", " + ago(c.out, w.Start)
	}
	if w.Prompt != "" {
		who += ", for " + quoted(firstLine(w.Prompt))
	}
	return who
}

func pathsText(paths []string) string { return somePaths(paths, 3) }

// somePaths names the first of some paths.
func somePaths(paths []string, most int) string {
	var names []string
	for _, p := range firstN(paths, most) {
		names = append(names, escapePath(p))
	}
	text := strings.Join(names, ", ")
	if n := len(paths) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// conflictLines list conflicts, a place a line.
func (c *call) conflictLines(list []revert.RevertConflict) (lines []string) {
	for _, k := range firstN(list, maxNamed) {
		lines = append(lines, placeText(k.Path, k.From, k.To)+": "+k.Reason+c.byText(k.By))
	}
	if n := len(list) - maxNamed; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}
